// Package config reads sallyport.yaml: strictly, and all problems at once.
//
// An unknown key, a value of the wrong type, a pattern that RE2 refuses, a missing place: each is
// a Problem with its line, and a configuration with a problem is not used at all. The result of
// this package is ready for use: defaults filled in, paths absolute,
// patterns compiled.
//
// It holds no judgement about commands and loads no policies. It does not know which runners or
// kinds of bundle this build has: package plugins refuses settings that it cannot honour.
package config

import "time"

// Config is the content of sallyport.yaml. The comments of its fields are the reference:
// schema.json and docs/configuration.md are made from them.
type Config struct {
	// Version of this format. Always 1.
	Version int `yaml:"version" jsonschema:"required,enum=1"`
	// Name of the agent: the subject of every decision and record. Letters, digits, ".", "_" and "-", at
	// most 64.
	Agent string `yaml:"agent"`
	// Read-write root and default working directory. Default: the directory in which sallyport is started.
	Workspace Path `yaml:"workspace"`
	// Preset of rule levels.
	Profile string `yaml:"profile" jsonschema:"enum=standard,enum=team,enum=strict,enum=readonly,enum=massgen"`
	// enforce, or monitor: decide and record everything, refuse nothing.
	Mode string `yaml:"mode" jsonschema:"enum=enforce,enum=monitor"`
	// Where commands run: local, docker, docker-sudo, or a name under runners.
	Runner string `yaml:"runner"`
	// How long a command may run when the request does not say.
	Timeout Duration `yaml:"timeout"`
	// Upper bounds that no request can raise.
	Limits Limits `yaml:"limits"`
	// Granted places beside the workspace. The deepest place that holds a path decides.
	Paths []Grant `yaml:"paths"`
	// The operator's own patterns for commands.
	Commands Commands `yaml:"commands"`
	// Level of single rules, by rule id: off, warn, ask or deny. Overrides the profile.
	Rules map[string]string `yaml:"rules" jsonschema:"enum=off,enum=warn,enum=ask,enum=deny"`
	// Findings of one rule that are waived for commands that match a pattern, until a date.
	Exemptions []Exemption `yaml:"exemptions"`
	// Patterns of generated files, which may be deleted unread: matched against a name, or with "/" against
	// a path below its root.
	Generated []string `yaml:"generated"`
	// Labels of files and their copies, for policies: names, and patterns of paths.
	Labels map[string][]string `yaml:"labels"`
	// The operator's own policies: directories, bundles (.tar.gz), and https addresses of bundles.
	Policies []string `yaml:"policies"`
	// Public keys (PEM) for bundles of policies. With any, a bundle must be signed by one of them.
	PolicyKeys []Path `yaml:"policy_keys"`
	// How servers are reached from which policies come. An address under policies that none of these covers
	// is reached by their defaults.
	PolicyServers []PolicyServer `yaml:"policy_servers"`
	// Evaluator of the built-in rules: topdown, OPA's interpreter; wasm, the same rules compiled to
	// WebAssembly; auto: wasm where this machine runs it as native code. Decisions are the same.
	Evaluator string `yaml:"evaluator" jsonschema:"enum=auto,enum=topdown,enum=wasm"`
	// Rules compiled to WebAssembly: .wasm files, and bundles (.tar.gz) made by "opa build -t wasm". A
	// manifest stands beside each.
	Plugins []Path `yaml:"plugins"`
	// Environment of the commands.
	Environment Environment `yaml:"environment"`
	// Programs that commands start.
	Programs Programs `yaml:"programs"`
	// Settings of the runner local.
	Local Local `yaml:"local"`
	// The earlier versions of files that commands change, for sallyport env undo.
	Undo Undo `yaml:"undo"`
	// Settings of the runners docker and docker-sudo.
	Docker Docker `yaml:"docker"`
	// sallyport-supervisor, the program that runs commands in sandboxes and containers. Default: the one
	// beside sallyport, or in PATH.
	Supervisor Path `yaml:"supervisor"`
	// Runners of the operator's own, by name: any command that reaches a supervisor.
	Runners map[string]Remote `yaml:"runners"`
	// Hooks of agents that keep their own tools.
	Hooks Hooks `yaml:"hooks"`
	// Questions of policies to a person.
	Approvals Approvals `yaml:"approvals"`
	// The resident process, which answers hooks and checks of the programs of an installation and runs its
	// commands in kept containers.
	Resident Resident `yaml:"resident"`
	// The audit log.
	Audit Audit `yaml:"audit"`
}

// Resident are the settings of sallyport serve.
type Resident struct {
	// auto: the first hook, or check, starts it; never. Decisions are the same without it, and slower.
	Start string `yaml:"start" jsonschema:"enum=auto,enum=never"`
	// It ends after that long without a call.
	Idle Duration `yaml:"idle"`
}

// Hooks are the settings of sallyport hook.
type Hooks struct {
	// judge: only decide; the agent's own tools run what is allowed, as you. run: the agent's shell runs
	// allowed commands by sallyport exec, where runner says, if the agent lets a hook change a call.
	Mode string `yaml:"mode" jsonschema:"enum=judge,enum=run"`
	// How long one hook may take. After it the call is refused. At most 20s: agents let calls run whose hooks
	// are late.
	Timeout Duration `yaml:"timeout"`
	// An allowed call runs without a question of the agent's own.
	Approve bool `yaml:"approve"`
}

// Programs says how the programs are judged that a command starts.
type Programs struct {
	// unseen: policies judge the text of a command only; judged: each program that it starts, too, where this
	// machine can (docs/programs.md); require: nothing runs where it cannot.
	Mode string `yaml:"mode" jsonschema:"enum=unseen,enum=judged,enum=require"`
	// wait: a program that policies ask about waits for a person's answer; refuse: it is refused.
	Ask string `yaml:"ask" jsonschema:"enum=wait,enum=refuse"`
	// refuse: the start of a refused program fails, and the command goes on; end: the command ends.
	OnRefusal string `yaml:"on_refusal" jsonschema:"enum=refuse,enum=end"`
}

// Undo is the record of changes.
type Undo struct {
	// Keep the earlier version of each file that a command changes, where the runner can
	// (docs/environments.md).
	Enabled bool `yaml:"enabled"`
	// Space for the earlier versions of all sessions together. The oldest sessions go first.
	Size Size `yaml:"size"`
	// How long the earlier versions of a session are kept after its last change.
	Keep Duration `yaml:"keep"`
}

// Limits are upper bounds.
type Limits struct {
	// Longest timeout that a request may ask for.
	MaxTimeout Duration `yaml:"max_timeout"`
	// Time between TERM and KILL when a command is ended.
	Grace Duration `yaml:"grace"`
	// How long to wait for approval when a decision says ask.
	Approval Duration `yaml:"approval"`
	// Output kept per stream, half from its beginning and half from its end.
	Output Size `yaml:"output"`
	// Output of a command that an MCP result carries, over both streams. read_file pages through the rest.
	Result Size `yaml:"result"`
	// Background jobs that may run at once.
	Background int `yaml:"background"`
	// Lines kept per stream of a background job.
	RingLines int `yaml:"ring_lines"`
}

// Approvals are questions of policies to a person.
type Approvals struct {
	// Where nobody can be asked, wait for an answer by sallyport approvals, at most limits.approval.
	Wait bool `yaml:"wait"`
	// Before a person is asked about a command whose effects are not known, run it in a trial
	// (docs/trials.md). Its changes of files are applied if the policies allow them. Files of secrets are
	// hidden from it.
	Trial bool `yaml:"trial"`
}

// Grant is a granted place.
type Grant struct {
	// File or directory. A file grants itself and nothing beside it.
	Path Path `yaml:"path" jsonschema:"required"`
	// read or write. Default: read.
	Access string `yaml:"access" jsonschema:"enum=read,enum=write"`
	// Zone of the place for policies: context (given material) or temporary (scratch). Default: context.
	Zone string `yaml:"zone" jsonschema:"enum=context,enum=temporary"`
	// Places below path that stay read-only: absolute, or relative to path. They need not exist.
	Protected []string `yaml:"protected"`
	// The place may be missing; then it is not granted. Otherwise a missing place is an error.
	Optional bool `yaml:"optional"`
}

// Commands are regular expressions (RE2) over commands. Matched are the unquoted words joined
// by single spaces, with the program as written and with its base name. "." matches line breaks.
type Commands struct {
	// Every command in the text must match one of these, wholly. Empty: no such limit.
	Allow []Pattern `yaml:"allow"`
	// No command in the text may match one of these from its start: "git push" also matches "git push-fake",
	// "git push( |$)" does not.
	Deny []Pattern `yaml:"deny"`
	// Files with rows of your own for the command table, in the format of docs/command-table.md. Commands of
	// the built-in table can only be restricted.
	Table []Path `yaml:"table"`
}

// Exemption waives the findings of one rule on the commands that match.
type Exemption struct {
	// Rule id, such as git/force_push.
	Rule string `yaml:"rule" jsonschema:"required"`
	// Regular expression (RE2) that the command must match wholly, matched as under commands.
	Match Pattern `yaml:"match" jsonschema:"required"`
	// Reason, for readers of the audit log.
	Reason string `yaml:"reason" jsonschema:"required"`
	// Last day (UTC) on which it holds, as 2026-12-31, or an RFC 3339 time. Sallyport warns two weeks ahead.
	// A running server drops it when it expires.
	Expires Date `yaml:"expires" jsonschema:"required"`
}

// PolicyServer says how a server of policies is reached. It is asked again and again; the last bundle that
// was accepted judges until there is a later one.
type PolicyServer struct {
	// Beginning of its addresses, such as https://policies.example.com/fleet: https, or http on this machine.
	URL string `yaml:"url" jsonschema:"required"`
	// Accept http from other machines, too. Without policy_keys, anyone on the way could then change the
	// policies.
	InsecureHTTP bool `yaml:"insecure_http"`
	// File with a token that is sent as "Authorization: Bearer". It is read anew for every request.
	TokenFile Path `yaml:"token_file"`
	// Certificates (PEM) of authorities that vouch for the server. Default: those of the system.
	CAFile Path `yaml:"ca_file"`
	// Certificate (PEM) by which the server knows this machine.
	CertFile Path `yaml:"cert_file"`
	// Private key (PEM) of cert_file.
	KeyFile Path `yaml:"key_file"`
	// How often the server is asked.
	Polling Polling `yaml:"polling"`
	// How long one answer may take. Default: 30s.
	Timeout Duration `yaml:"timeout"`
	// Largest bundle. Default: 16MiB.
	MaxSize Size `yaml:"max_size"`
	// Path below url of a discovery bundle that names the bundles of this machine, in place of addresses
	// under policies.
	Discovery string `yaml:"discovery"`
	// Report the bundles in use and their errors to the server: POST to /status below url.
	Status bool `yaml:"status"`
	// Send a copy of each decision record, redacted as in the audit log: POST to /logs below url. The audit
	// log remains the record.
	DecisionLogs bool `yaml:"decision_logs"`
	// Labels of this machine in status and decision logs.
	Labels map[string]string `yaml:"labels"`
}

// Polling is how often a server is asked: after a random time between both.
type Polling struct {
	// Default: 60s.
	Min Duration `yaml:"min"`
	// How long a bundle counts as fresh at a start, without asking. Default: 120s.
	Max Duration `yaml:"max"`
}

// Environment configures the environment of commands, besides the basic variables.
type Environment struct {
	// auto: .venv of the working directory or of the workspace, if there is one; none; or the directory of a
	// virtual environment.
	Venv string `yaml:"venv"`
	// Words put before every command, such as "uv run". They are judged with it. With a prefix no venv is
	// used.
	Prefix string `yaml:"prefix"`
	// File of NAME=VALUE lines that commands get.
	EnvFile Path `yaml:"env_file"`
	// Names to take from env_file. Empty: all of them.
	EnvFileNames []string `yaml:"env_file_names"`
	// Names of variables of sallyport's own environment that commands get.
	Env []string `yaml:"env"`
	// Commands get all variables of sallyport's own environment, secrets included.
	PassAll bool `yaml:"pass_all"`
}

// Local are the settings of the runner local.
type Local struct {
	// auto: a sandbox of bubblewrap, and nothing runs where this machine cannot make one; bubblewrap: the
	// same, and an error on systems other than Linux; none: commands run as you, not confined.
	Sandbox string `yaml:"sandbox" jsonschema:"enum=auto,enum=bubblewrap,enum=none"`
	// host, or none: no network, which needs a sandbox.
	Network string `yaml:"network" jsonschema:"enum=host,enum=none"`
	// Commands in a sandbox may make sockets of the family AF_UNIX, for programs that do not work without,
	// such as browsers and gpg.
	UnixSockets bool `yaml:"unix_sockets"`
	// Size of /tmp, /var/tmp, /dev/shm and the home of a sandbox, each, in memory: at most local.memory / 8.
	Scratch Size `yaml:"scratch"`
	// Processes and threads that may exist in a sandbox at once.
	PIDs int `yaml:"pids"`
	// Memory of a sandbox, such as 4g. Default: three quarters of the machine's. It needs a control group
	// that sallyport may make.
	Memory Size `yaml:"memory"`
}

// Remote is a runner of the operator's own.
type Remote struct {
	// Command line that connects its input and output to sallyport-supervisor. Its first word is a name,
	// looked for beside sallyport and then in PATH, or an absolute path.
	Command []string `yaml:"command"`
	// Manifest of an installed runner (docs/runners.md), in place of a command line of your own.
	Plugin Path `yaml:"plugin"`
	// Further words of an installed runner's command line.
	Args []string `yaml:"args"`
	// Workspace there, an absolute path. Default: the same path as here.
	Workspace string `yaml:"workspace"`
	// Confinement of commands there, for policies. It has no other effect. Default: remote.
	Isolation string `yaml:"isolation" jsonschema:"enum=remote,enum=container,enum=namespace,enum=none"`
	// Network that commands have there. Policies are told, nothing else follows from it. Default: unknown.
	Network string `yaml:"network" jsonschema:"enum=unknown,enum=none,enum=bridge,enum=host"`
}

// Audit are the settings of the audit log.
type Audit struct {
	// Directory of the log. Default: $XDG_STATE_HOME/sallyport/audit.
	Dir Path `yaml:"dir"`
	// Regular expressions (RE2) to redact, besides the built-in ones.
	Redact []Pattern `yaml:"redact"`
	// How long records are kept: sallyport audit prune removes files that are older. 2160h are 90 days.
	// Default: for ever.
	Retention Duration `yaml:"retention"`
	// Signed checkpoints.
	Checkpoint Checkpoint `yaml:"checkpoint"`
}

// Checkpoint says when the log's size and root hash are signed, and where they go.
type Checkpoint struct {
	// Time between checkpoints of a log that is written to.
	Every Duration `yaml:"every"`
	// Places outside the log that get each checkpoint: a file, syslog:, journald:, command:PATH or
	// https://WITNESS#KEY.
	Publish []string `yaml:"publish"`
}

// Defaults returns the default configuration. host gives the places.
func Defaults(host Host) Config {
	return Config{
		Version:   1,
		Agent:     "agent",
		Workspace: Path(host.Dir),
		Profile:   "standard",
		Mode:      "enforce",
		Runner:    "local",
		Evaluator: "auto",
		Timeout:   Duration(60 * time.Second),
		Limits: Limits{
			MaxTimeout: Duration(time.Hour),
			Grace:      Duration(400 * time.Millisecond),
			Approval:   Duration(2 * time.Minute),
			Output:     1 << 20,
			Result:     24 << 10,
			Background: 10,
			RingLines:  10000,
		},
		Generated: []string{
			"__pycache__", "*.pyc", "*.pyo", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage", "*.egg-info",
			".tox", ".nox", "node_modules", ".next", ".nuxt", "dist", "build", "target", ".DS_Store", "Thumbs.db",
			"*.log", "*.swp", "*.swo", "*~",
		},
		Environment: Environment{Venv: "auto"},
		Programs:    Programs{Mode: "unseen", Ask: "wait", OnRefusal: "refuse"},
		Local:       Local{Sandbox: "auto", Network: "host", Scratch: 1 << 30, PIDs: 2048},
		Undo:        Undo{Enabled: true, Size: 1 << 30, Keep: Duration(7 * 24 * time.Hour)},
		Docker: Docker{Network: "none", Pull: "never", PIDs: 512, OpenFiles: 4096, Tmp: 1 << 30,
			Packages: Packages{Network: "same", OnFailure: "stop"}},
		Resident: Resident{Start: "auto", Idle: Duration(10 * time.Minute)},
		Hooks:    Hooks{Mode: "judge", Timeout: Duration(10 * time.Second)},
		Audit: Audit{Dir: Path(defaultAuditDir(host)),
			Checkpoint: Checkpoint{Every: Duration(10 * time.Second)}},
	}
}

// Defaults of list entries, which Defaults cannot hold.
const (
	defaultAccess = "read"
	defaultZone   = "context"

	defaultPollMin      = Duration(60 * time.Second)
	defaultPollMax      = Duration(120 * time.Second)
	defaultFetchTimeout = Duration(30 * time.Second)
	defaultBundleSize   = Size(16 << 20)
)
