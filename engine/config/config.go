// Package config reads sallyport.yaml: strictly, and all problems at once.
//
// A key that is not known, a value of the wrong type, a pattern that RE2 cannot take, a place
// that is not there: each is a Problem with its line, and a configuration with a problem is not
// used at all. What this package returns is ready for use: defaults filled in, paths absolute,
// patterns compiled.
//
// It holds no judgement about commands and loads no policies. It does not know which runners or
// kinds of bundle this build has: package plugins refuses what it cannot honour.
package config

import "time"

// Config is the content of sallyport.yaml. The comments of its fields are the reference:
// schema.json and docs/configuration.md are made from them.
type Config struct {
	// Version of this format. Always 1.
	Version int `yaml:"version" jsonschema:"required,enum=1"`
	// Name of the agent: the subject of every decision and record. Letters, digits, ".", "_" and "-", at most 64.
	Agent string `yaml:"agent"`
	// Read-write root and default working directory. Left out: the directory in which sallyport is started.
	Workspace Path `yaml:"workspace"`
	// Preset of rule levels.
	Profile string `yaml:"profile" jsonschema:"enum=standard,enum=strict,enum=readonly,enum=massgen"`
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
	// Level of single rules, by rule id: off, warn, ask or deny. Stronger than the profile.
	Rules map[string]string `yaml:"rules" jsonschema:"enum=off,enum=warn,enum=ask,enum=deny"`
	// Findings of one rule that are waived for commands that match a pattern, until a date.
	Exemptions []Exemption `yaml:"exemptions"`
	// Patterns of generated files, which may be deleted unread: matched against a name, or with "/" against a path below its root.
	Generated []string `yaml:"generated"`
	// The operator's own policies: directories and bundles (.tar.gz), local or https.
	Policies []string `yaml:"policies"`
	// Public keys (PEM) for bundles of policies. With any, a bundle must be signed by one of them.
	PolicyKeys []Path `yaml:"policy_keys"`
	// Rules compiled to WebAssembly: .wasm files, and bundles (.tar.gz) made by "opa build -t wasm". A manifest stands beside each.
	Plugins []Path `yaml:"plugins"`
	// Environment of the commands.
	Environment Environment `yaml:"environment"`
	// Settings of the runner local.
	Local Local `yaml:"local"`
	// Settings of the runners docker and docker-sudo.
	Docker Docker `yaml:"docker"`
	// Runners of the operator's own, by name: any command that reaches a supervisor.
	Runners map[string]Remote `yaml:"runners"`
	// The audit log.
	Audit Audit `yaml:"audit"`
}

// Limits are upper bounds.
type Limits struct {
	// Longest timeout that a request may ask for.
	MaxTimeout Duration `yaml:"max_timeout"`
	// Time between TERM and KILL when a command is ended.
	Grace Duration `yaml:"grace"`
	// How long a person is waited for when a decision says ask.
	Approval Duration `yaml:"approval"`
	// Output kept per stream, half from its beginning and half from its end.
	Output Size `yaml:"output"`
	// Background jobs that may run at once.
	Background int `yaml:"background"`
	// Lines kept per stream of a background job.
	RingLines int `yaml:"ring_lines"`
}

// Grant is a granted place.
type Grant struct {
	// File or directory. A file grants itself and nothing beside it.
	Path Path `yaml:"path" jsonschema:"required"`
	// read or write. Left out: read.
	Access string `yaml:"access" jsonschema:"enum=read,enum=write"`
	// What the place is to the policies: context (given material) or temporary (scratch). Left out: context.
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
	// No command in the text may match one of these from its start: "git push" also matches "git push-fake", "git push( |$)" does not.
	Deny []Pattern `yaml:"deny"`
}

// Exemption waives the findings of one rule on the commands that match.
type Exemption struct {
	// Rule id, such as git/force_push.
	Rule string `yaml:"rule" jsonschema:"required"`
	// Regular expression (RE2) that the command must match wholly, matched as under commands.
	Match Pattern `yaml:"match" jsonschema:"required"`
	// Why, for those who read the audit log.
	Reason string `yaml:"reason" jsonschema:"required"`
	// Last day (UTC) on which it holds, as 2026-12-31, or an RFC 3339 time.
	Expires Date `yaml:"expires" jsonschema:"required"`
}

// Environment says what commands find in their environment besides the basic variables.
type Environment struct {
	// auto: .venv of the working directory or of the workspace, if there is one; none; or the directory of a virtual environment.
	Venv string `yaml:"venv"`
	// Words put before every command, such as "uv run". They are judged with it. With a prefix no venv is used.
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
	// auto: bubblewrap where this build and machine have it; bubblewrap: nothing else will do; none.
	Sandbox string `yaml:"sandbox" jsonschema:"enum=auto,enum=bubblewrap,enum=none"`
	// host, or none: no network, which needs a sandbox.
	Network string `yaml:"network" jsonschema:"enum=host,enum=none"`
}

// Docker are the settings of the runners docker and docker-sudo.
type Docker struct {
	// Image to start. Left out: the runtime image of this release.
	Image string `yaml:"image"`
	// Address of the daemon. Left out: $DOCKER_HOST, or the daemon's default.
	Host string `yaml:"host"`
	// Memory limit, such as 2g. Left out: none.
	Memory Size `yaml:"memory"`
	// Processors, such as 1.5. Left out: no limit.
	CPUs float64 `yaml:"cpus"`
	// Network of the container.
	Network string `yaml:"network" jsonschema:"enum=none,enum=bridge,enum=host"`
	// What of the operator's own identity the container gets.
	Credentials Credentials `yaml:"credentials"`
	// Packages to install when the container starts.
	Packages Packages `yaml:"packages"`
	// More mounts.
	Mounts []Mount `yaml:"mounts"`
}

// Credentials is what a container gets of the operator's identity. Files are mounted read-only.
type Credentials struct {
	// Well-known files of the home directory.
	Mount []string `yaml:"mount" jsonschema:"enum=ssh_keys,enum=git_config,enum=gh_config,enum=npm_config,enum=pypi_config,enum=claude_config,enum=codex_config,enum=gemini_config"`
	// File of NAME=VALUE lines.
	EnvFile Path `yaml:"env_file"`
	// Names to take from env_file. Empty: all of them.
	EnvFileNames []string `yaml:"env_file_names"`
	// Names of variables of sallyport's own environment.
	Env []string `yaml:"env"`
	// All variables of sallyport's own environment, secrets included.
	PassAll bool `yaml:"pass_all"`
}

// Packages are installed when a container starts. Versions may be given as the tool takes them.
type Packages struct {
	// Debian packages; needs docker-sudo.
	System []string `yaml:"system"`
	// Python packages.
	Python []string `yaml:"python"`
	// npm packages.
	NPM []string `yaml:"npm"`
}

// Mount is one more mount of a container.
type Mount struct {
	// File or directory of this machine.
	Source Path `yaml:"source" jsonschema:"required"`
	// Absolute path in the container. Left out: the same as source.
	Target string `yaml:"target"`
	// read or write. Left out: read.
	Access string `yaml:"access" jsonschema:"enum=read,enum=write"`
}

// Remote is a runner of the operator's own.
type Remote struct {
	// Command line that connects its input and output to sallyport-supervisor. Its first word is a name, looked for beside sallyport and then in PATH, or an absolute path.
	Command []string `yaml:"command" jsonschema:"required"`
	// Workspace there, an absolute path. Left out: the same path as here.
	Workspace string `yaml:"workspace"`
	// What confines commands there. Policies are told, nothing else follows from it. Left out: remote.
	Isolation string `yaml:"isolation" jsonschema:"enum=remote,enum=container,enum=namespace,enum=none"`
	// Network that commands have there. Policies are told, nothing else follows from it. Left out: unknown.
	Network string `yaml:"network" jsonschema:"enum=unknown,enum=none,enum=bridge,enum=host"`
}

// Audit are the settings of the audit log.
type Audit struct {
	// Directory of the log. Left out: $XDG_STATE_HOME/sallyport/audit.
	Dir Path `yaml:"dir"`
	// Regular expressions (RE2) whose matches are redacted, besides the built-in ones.
	Redact []Pattern `yaml:"redact"`
	// Signed checkpoints.
	Checkpoint Checkpoint `yaml:"checkpoint"`
}

// Checkpoint says when the log's size and root hash are signed, and where they go.
type Checkpoint struct {
	// Time between checkpoints of a log that is written to.
	Every Duration `yaml:"every"`
	// Where checkpoints are published besides the log: files or https addresses.
	Publish []string `yaml:"publish"`
}

// Defaults returns what holds where the file is silent. host gives the places.
func Defaults(host Host) Config {
	return Config{
		Version:   1,
		Agent:     "agent",
		Workspace: Path(host.Dir),
		Profile:   "standard",
		Mode:      "enforce",
		Runner:    "local",
		Timeout:   Duration(60 * time.Second),
		Limits: Limits{
			MaxTimeout: Duration(time.Hour),
			Grace:      Duration(400 * time.Millisecond),
			Approval:   Duration(2 * time.Minute),
			Output:     1 << 20,
			Background: 10,
			RingLines:  10000,
		},
		Generated: []string{
			"__pycache__", "*.pyc", "*.pyo", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".coverage", "*.egg-info",
			".tox", ".nox", "node_modules", ".next", ".nuxt", "dist", "build", "target", ".DS_Store", "Thumbs.db",
			"*.log", "*.swp", "*.swo", "*~",
		},
		Environment: Environment{Venv: "auto"},
		Local:       Local{Sandbox: "auto", Network: "host"},
		Docker:      Docker{Network: "none"},
		Audit:       Audit{Dir: Path(defaultAuditDir(host)), Checkpoint: Checkpoint{Every: Duration(10 * time.Second)}},
	}
}

// Defaults of list entries, which Defaults cannot hold.
const (
	defaultAccess = "read"
	defaultZone   = "context"
)
