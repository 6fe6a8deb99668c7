package facts

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/sallyport-dev/sallyport/engine/commands"
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
	Labels     []PathLabel      // the operator's names for files
	POSIX      bool             // the environment has no bash
	Table      *commands.Table  // what commands do; nil for the table that comes with the program

	// YAML decodes YAML, for kubeconfig files; nil where none can be read. The supervisor holds no library
	// for it.
	YAML func(content []byte, into any) error `json:"-"` // a Layout is part of the keys of caches
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

// Place is a labelled path of sallyport's own: "self_binary", "self_config", "self_policy", "self_audit",
// "self_key".
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
	// Labels returns the operator's labels that copies gave to a file or a directory around it, and with below
	// to anything below it, too.
	Labels(path string, below bool) []string
}

// Touch is one path that a file tool would touch.
type Touch struct {
	Path      string // absolute or relative to the workspace
	Access    string // "read", "write", "delete", "execute"
	Recursive bool
	Size      int64 // bytes of a file that a trial made or changed
}

// OSFS looks at the files of this machine. Paths are slash-separated, also on Windows.
type OSFS struct{}

var _ FS = OSFS{}

// errNotRegular is for what could block or has no end: fifos, devices, directories.
var errNotRegular = errors.New("not a regular file")

// Lstat describes a file; a symbolic link is not followed.
func (OSFS) Lstat(path string) (fs.FileInfo, error) { return os.Lstat(filepath.FromSlash(path)) }

// ReadLink returns the target of a symbolic link, with slashes.
func (OSFS) ReadLink(path string) (string, error) {
	target, err := os.Readlink(filepath.FromSlash(path))
	return filepath.ToSlash(target), err
}

// ReadDir returns the entries of a directory, sorted by name.
func (OSFS) ReadDir(path string) ([]fs.DirEntry, error) { return os.ReadDir(filepath.FromSlash(path)) }

// ReadFile returns at most limit bytes of a regular file and whether that is all of it. The file
// type is checked before it is opened, so that a fifo or device does not hold it up, and once more
// on the open file, because another may have taken its place.
func (OSFS) ReadFile(path string, limit int) (content []byte, whole bool, err error) {
	name := filepath.FromSlash(path)
	info, err := os.Stat(name)
	if err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	if info, err = f.Stat(); err != nil {
		return nil, false, err
	}
	if !info.Mode().IsRegular() {
		return nil, false, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	content, err = io.ReadAll(io.LimitReader(f, int64(limit)+1))
	if len(content) > limit {
		return content[:limit], false, err
	}
	return content, err == nil, err
}
