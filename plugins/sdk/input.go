package sdk

import "time"

// Version is the version of the input that these types describe.
const Version = 1

// Input is the subject of a judgement. Its JSON form is described, field by field, by
// policies/schemas/input.json and docs/policy-input.md; every field is always present.
type Input struct {
	Version  int       `json:"version"`
	Request  Request   `json:"request"`
	Subject  Subject   `json:"subject"`
	Runner   Runner    `json:"runner"`
	Shell    Shell     `json:"shell"`
	Commands []Command `json:"commands"`
	Paths    []Path    `json:"paths"`
	Git      Git       `json:"git"`
	Session  Session   `json:"session"`
}

// Request is the request, as far as policies may see it.
type Request struct {
	ID             string    `json:"id"`
	Time           time.Time `json:"time"` // UTC, RFC 3339
	Tool           string    `json:"tool"` // "execute_command", "delete_file", …
	Command        string    `json:"command"`
	WorkDir        string    `json:"work_dir"`         // absolute, symlinks not resolved
	WorkDirState   string    `json:"work_dir_state"`   // "dir", "missing", "not_a_dir", "unreadable"
	WorkDirAllowed bool      `json:"work_dir_allowed"` // its real path lies below a granted root
	TimeoutSeconds float64   `json:"timeout_seconds"`  // as it will be enforced
	Background     bool      `json:"background"`
	Stdin          bool      `json:"stdin"`  // it reads input that nobody has judged
	Parent         string    `json:"parent"` // of the tool program: the decision of its command; "" for others
	Trial          bool      `json:"trial"`  // of the tool changes: those of a trial, which are not made yet
	Env            []string  `json:"env"`    // names of the variables that the child gets
}

// Subject is the origin of a request.
type Subject struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	User    string `json:"user"` // the operating system user that sallyport runs as
	Client  Client `json:"client"`
}

// Client is the program through which the subject asks, as it calls itself.
type Client struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Runner is where the command would run.
type Runner struct {
	Name      string `json:"name"`      // "local", "docker", "docker-sudo", …
	Isolation string `json:"isolation"` // "none", "namespace", "container", "remote"
	Network   string `json:"network"`   // "none", "host", "bridge", …
	Elevated  bool   `json:"elevated"`  // elevated commands stay inside this environment, for this very call
	Programs  string `json:"programs"`  // "judged" at their start, "unseen", or "missing": required and not possible

	Confinement Confinement  `json:"confinement"`
	Place       Surroundings `json:"place"`
}

// Surroundings are the facts of a place that a runner has looked up while it runs, and no words of a
// configuration. Empty texts and zeros are unknown; a limit of 0 can be none at all.
type Surroundings struct {
	Seen    bool   `json:"seen"`    // they were looked up
	Runtime string `json:"runtime"` // class of the container runtime; "" for the default one
	Image   string `json:"image"`   // as it was asked for
	Digest  string `json:"digest"`  // of the image that runs: sha256:…
	Node    string `json:"node"`    // machine
	CPU     int    `json:"cpu"`     // limit, in thousandths of a processor
	Memory  int    `json:"memory"`  // limit, in bytes
	Storage int    `json:"storage"` // limit, in bytes
}

// Confinement has the results of trials that run inside an environment at its start: "holds", "open" if the
// trial succeeded, or "untried".
type Confinement struct {
	Write   string `json:"write"`   // to make a file outside of the granted places
	Read    string `json:"read"`    // to read a hidden file
	Connect string `json:"connect"` // to connect to a port on the loopback of this machine
}

// Shell says how well the text was understood.
type Shell struct {
	Parsed    bool     `json:"parsed"`
	Error     string   `json:"error"`     // a shell.ErrorKind, or ""
	Certainty string   `json:"certainty"` // "exact", "partial", "unknown"
	Budget    string   `json:"budget"`    // the step budget that was spent, or ""
	Legacy    []string `json:"legacy"`    // names of the predecessor's nine patterns that the raw text matches, in its order
}

// Command is one simple command anywhere in the text.
type Command struct {
	Name       string   `json:"name"`       // base name after unquoting and resolving; "" when unresolved
	Program    string   `json:"program"`    // the command word as written: "/usr/bin/rm", "./x.sh"
	Subcommand string   `json:"subcommand"` // "push" of git push, "rm" of docker volume rm: words joined by a space ("volume rm")
	Known      bool     `json:"known"`      // the command table has an entry for it
	Argv       []string `json:"argv"`
	Options    []Option `json:"options"` // those that were given a value; at most 64
	// Operands are the other words, without the subcommand; at most 64.
	Operands   []Operand `json:"operands"`
	Packages   []Package `json:"packages"`  // the packages that it installs, or fetches to run them; at most 64
	Targets    []Target  `json:"targets"`   // the places to which it connects, as far as they are known; at most 64
	Kube       []Kube    `json:"kube"`      // choices of a Kubernetes cluster that may be in force
	Variables  []Option  `json:"variables"` // those of Env with their values, in order
	Env        []string  `json:"env"`       // names of the variables assigned for it or by it
	Certainty  string    `json:"certainty"` // "exact", "partial": some argument is dynamic, "unknown": the command word is
	Via        []string  `json:"via"`       // wrappers and carriers, outermost first
	Script     string    `json:"script"`    // the script file it stands in; "" for the text itself
	Elevated   bool      `json:"elevated"`
	Background bool      `json:"background"`
	Pipeline   Pipeline  `json:"pipeline"`
	Inputs     []int     `json:"inputs"`  // commands whose output reaches it, directly or through others
	Effects    []string  `json:"effects"` // subset of read, write, delete, execute, network, privilege, process, system
	Flags      []string  `json:"flags"`   // the meaning of its options and structure; docs/policy-input.md lists them
	Code       Code      `json:"code"`
	Hosts      []string  `json:"hosts"` // network hosts named in its arguments, lower case, without port
	Matches    Matches   `json:"matches"`
	Dir        string    `json:"dir"`   // working directory in which it runs; "" when unknown
	Paths      []int     `json:"paths"` // indexes of its paths
	Span       Span      `json:"span"`
}

// Option is an option with its value, however the two were written: "--registry URL", "--registry=URL",
// "-rURL".
type Option struct {
	Name      string `json:"name"`      // with dashes; an abbreviation that fits one option alone is written out
	Value     string `json:"value"`     // at most 1024 bytes
	Certainty string `json:"certainty"` // of the value: "exact", "partial", "unknown"
}

// Operand is a word of a command that is no option, no value of one and no subcommand.
type Operand struct {
	Value     string `json:"value"`     // at most 1024 bytes
	Kind      string `json:"kind"`      // by the command table: "read", "host", "package", …
	Certainty string `json:"certainty"` // "exact", "partial", "unknown"
}

// Package is a package that a command installs, or fetches to run it.
type Package struct {
	Manager   string `json:"manager"`   // type of a package URL: "npm", "pypi", "golang", "deb", …
	Name      string `json:"name"`      // "" where it is not known
	Version   string `json:"version"`   // as it was written; "" for none
	Source    string `json:"source"`    // URL, repository, path, registry or file of requirements that the command names; "" for none
	Pinned    bool   `json:"pinned"`    // the version is one version or a commit, not a range
	Certainty string `json:"certainty"` // "exact", "partial", "unknown"
}

// Target is a place to which a command connects.
type Target struct {
	Kind      string `json:"kind"`      // "host", "proxy", "address", "remote", "registry", "cluster"
	Host      string `json:"host"`      // lower case, without port; "" where it is not known
	Certainty string `json:"certainty"` // "exact", "partial", "unknown"
}

// Kube is a choice of a Kubernetes cluster, by words and variables and by kubeconfig files.
type Kube struct {
	Context   KubeValue `json:"context"`
	Cluster   KubeValue `json:"cluster"`   // the name of the cluster in the kubeconfig
	Server    KubeValue `json:"server"`    // the host of the cluster's server, lower case, without port
	Namespace KubeValue `json:"namespace"` // "*" for all
	User      KubeValue `json:"user"`      // the name of the user in the kubeconfig
}

// KubeValue is a name that is in force.
type KubeValue struct {
	Value     string `json:"value"`     // "" where it is not known; at most 1024 bytes
	Certainty string `json:"certainty"` // "exact", "partial", "unknown"
}

// Git is the repository of the working directory, as git-config(1) describes its settings.
type Git struct {
	Top      string   `json:"top"`      // of the working tree; "" where there is none, and in texts without git
	Branch   string   `json:"branch"`   // checked out; "" for none
	Upstream string   `json:"upstream"` // the branch that it follows: "origin/main"; "" for none
	Remotes  []Remote `json:"remotes"`  // by name; at most 64
}

// Remote is a remote of a git repository.
type Remote struct {
	Name string   `json:"name"`
	URLs []string `json:"urls"` // for fetch, as insteadOf rewrites them
	Push []string `json:"push"` // for push
}

// Session is the history of the session before this request, requests in flight included.
type Session struct {
	Counts  Counts   `json:"counts"`
	First   string   `json:"first"`   // time of its first request, RFC 3339; "" for none
	Last    string   `json:"last"`    // time of its newest request; likewise
	Labels  []string `json:"labels"`  // of the paths that its requests read, and "downloaded"
	Dropped Dropped  `json:"dropped"` // its requests that Recent leaves out
	Recent  []Event  `json:"recent"`  // its newest requests, at most 16, the newest last
	// OperatorLabels are those of the files that its requests read; sorted.
	OperatorLabels []string `json:"operator_labels"`
	// Approved are the unknown programs, and those with unread code, of requests that a person approved; at
	// most 64, sorted.
	Approved []Approved `json:"approved"`
}

// Approved is a program that was not known, or ran code that could not be looked through, in a request of
// the session that a person approved.
type Approved struct {
	Program string `json:"program"` // as written
	Dir     string `json:"dir"`     // of "./x" and the like: the directory in which it ran; else ""
	Unread  bool   `json:"unread"`  // it ran code that could not be looked through
}

// Counts counts the requests of a session by the effect of their decisions.
type Counts struct {
	Allow   int `json:"allow"`
	Deny    int `json:"deny"`
	Ask     int `json:"ask"`     // with any answer
	Pending int `json:"pending"` // without a decision yet
	Running int `json:"running"` // of all these, the ones that run now
}

// Dropped counts requests that are left out.
type Dropped struct {
	Count      int     `json:"count"`
	AgeSeconds float64 `json:"age_seconds"` // of the newest of them; 0 for none
}

// Event is an earlier request of the session, or one in flight.
type Event struct {
	ID         string    `json:"id"` // of its decision
	Time       time.Time `json:"time"`
	AgeSeconds float64   `json:"age_seconds"` // at the time of this request; never negative
	Tool       string    `json:"tool"`
	Effect     string    `json:"effect"`    // "allow", "deny", "ask"; "pending" until there is a decision
	State      string    `json:"state"`     // "deciding", "running", "ended", "refused"
	Approval   string    `json:"approval"`  // "", "granted", "refused"
	Exit       int       `json:"exit"`      // -1 where it has not ended or did not start
	Certainty  string    `json:"certainty"` // the lowest of its text and its paths
	Effects    []string  `json:"effects"`
	Hosts      []string  `json:"hosts"`    // and those of targets; at most 16; "" for one that is not known
	Labels     []string  `json:"labels"`   // of the paths that it reads, and "downloaded"
	Commands   []string  `json:"commands"` // "git push": names with their subcommands; at most 16
	Cut        bool      `json:"cut"`      // hosts or commands are left out
	// OperatorLabels are those of the files that it reads; sorted.
	OperatorLabels []string `json:"operator_labels"`
}

// Pipeline places a command in a pipeline.
type Pipeline struct {
	ID     int `json:"id"`
	Index  int `json:"index"`
	Length int `json:"length"`
}

// Code is the program that a command hands to an interpreter.
type Code struct {
	Language string `json:"language"` // "" when it interprets nothing
	From     string `json:"from"`     // "", "argument", "stdin", "heredoc", "file", "session"
	// Origin is "", "text": stands in the request; "file": a file that was there before; "decoded"; "network";
	// "downloaded": printed from a file that came from the network; "generated": written by this very text;
	// "dynamic": not known.
	Origin   string `json:"origin"`
	Resolved bool   `json:"resolved"` // its text was known and looked through
}

// Matches holds the operator's patterns that match a command.
type Matches struct {
	Allow  bool  `json:"allow"`  // some allow pattern matches it wholly
	Deny   []int `json:"deny"`   // indexes of the deny patterns that match it from its start
	Exempt []int `json:"exempt"` // indexes of the exemptions in force that match it
}

// Span is a range of bytes in the text: [Start, End).
type Span struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// Path is one path that a command, a redirect or a file tool touches.
type Path struct {
	Raw        string   `json:"raw"`
	Path       string   `json:"path"`      // lexical: absolute and clean; the known prefix when partial; "" when unknown
	Real       string   `json:"real"`      // with symlinks resolved as far as the path exists
	Access     string   `json:"access"`    // "read", "write", "delete", "execute"
	Source     string   `json:"source"`    // "argument", "redirect", "script", "code", "tool"
	Recursive  bool     `json:"recursive"` // the access reaches everything below
	Glob       bool     `json:"glob"`
	Certainty  string   `json:"certainty"`
	Exists     bool     `json:"exists"`
	Type       string   `json:"type"`       // "", "file", "dir", "symlink", "block_device", "char_device", "socket", "fifo"; devices by their well-known names even where absent
	Zone       string   `json:"zone"`       // "workspace", "context", "temporary", "protected", "outside", "system", "home", "credential", "self"
	Permission string   `json:"permission"` // of the configured roots: "read", "write", "none"
	Labels     []string `json:"labels"`     // the kind of the place and of its contents; docs/policy-input.md lists them
	ObeyedBy   []Obeyed `json:"obeyed_by"`  // programs of the user that take commands or instructions from it
	Seen       string   `json:"seen"`       // "read", "created", "none"
	Unread     Unread   `json:"unread"`     // with delete: the files that the session has not read there
	Git        Versions `json:"git"`        // with delete: whether git holds the files there
	Generated  bool     `json:"generated"`  // matches the operator's patterns of generated files, below its root
	Size       int      `json:"size"`       // bytes of a file that a trial made or changed; 0 for others
	Command    int      `json:"command"`    // index into commands; -1 for a file tool
	// OperatorLabels are those of the files that it reaches, by their place or as copies; sorted.
	OperatorLabels []string `json:"operator_labels"`
}

// Obeyed is a program that obeys a file.
type Obeyed struct {
	Program  string `json:"program"`
	Starts   string `json:"starts"`   // completes "PROGRAM starts …"; "" if it starts nothing by the file
	Severity string `json:"severity"` // "high", "medium", "low": how little the user has to do for it
}

// Versions tells whether git holds the contents of the files that a delete would remove. Files that the
// session created and generated files do not count.
type Versions struct {
	State    string   `json:"state"`    // "none", "clean", "untracked", "changed", "unknown": of the worst
	Count    int      `json:"count"`    // of the files that are not clean
	Examples []string `json:"examples"` // at most three of these, relative to the path
}

// Unread counts the files that a delete would remove, that the session has neither read nor created, and
// without their content in git.
type Unread struct {
	Count    int      `json:"count"`
	Examples []string `json:"examples"` // at most three, relative to the path
}
