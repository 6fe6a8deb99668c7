package facts

import (
	"io/fs"
	"regexp"
	"time"
)

// Layout is the operator's configuration as far as facts need it: places, patterns and limits,
// all resolved and compiled once. The zero value grants nothing.
type Layout struct {
	Workspace  string           // absolute; the default working directory
	Home       string           // home directory of the child process; "" for none
	Roots      []Root           // granted places, the workspace among them
	Temporary  []string         // places that count as temporary: /tmp, /var/tmp, $TMPDIR
	Self       []Place          // sallyport's own binary, config, policies and audit log
	Allow      []*regexp.Regexp // wholly anchored by the loader
	Deny       []*regexp.Regexp // anchored at the start by the loader
	Exemptions []Exemption      // in the operator's order: policies know them by index
	Generated  []string         // patterns of generated files, matched below a root: "__pycache__", "*.log", …
	POSIX      bool             // the environment has no bash
}

// Exemption waives a rule for the commands that match, until it expires. The zero value waives nothing.
type Exemption struct {
	Rule    string         // the rule that is waived
	Reason  string         // why, for the audit log
	Text    string         // the pattern as the operator wrote it
	Match   *regexp.Regexp // wholly anchored by the loader
	Expires time.Time      // it holds for requests before
}

// Root is a granted place. Deeper roots win over those around them.
type Root struct {
	Path      string
	Write     bool
	Zone      string   // "workspace", "context" or "temporary"
	Protected []string // absolute places below Path that stay read-only
	File      bool     // Path is a single file: nothing beside it is granted
}

// Place is a labelled path of sallyport's own: "self_binary", "self_config", "self_policy", "self_audit", "self_key".
type Place struct {
	Path  string
	Label string
}

// FS is how facts look at files. Paths are absolute and clean. A remote environment answers for itself.
type FS interface {
	Lstat(path string) (fs.FileInfo, error)
	ReadLink(path string) (string, error)
	ReadDir(path string) ([]fs.DirEntry, error)
	// ReadFile returns at most limit bytes of a regular file and whether that is all of it.
	ReadFile(path string, limit int) (content []byte, whole bool, err error)
}

// History is what a session has done so far, keyed by real paths.
type History interface {
	// Seen returns "read", "created" or "none".
	Seen(path string) string
	// Downloaded reports whether the file came from the network in this session.
	Downloaded(path string) bool
}

// Touch is one path that a file tool would touch.
type Touch struct {
	Path      string // absolute or relative to the workspace
	Access    string // "read", "write", "delete", "execute"
	Recursive bool
}
