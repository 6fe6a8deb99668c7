package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine/commands"
)

// Host is the part of the machine and of the process that a configuration depends on.
type Host struct {
	Dir        string // working directory of the process
	Home       string // home directory; "" for none
	Executable string // sallyport's own binary; "" when unknown
	Getenv     func(string) string
	Environ    []string // NAME=value, of which commands get a part; nil for none
	Now        time.Time
}

// ThisHost describes the running process.
func ThisHost() (Host, error) {
	dir, err := os.Getwd()
	if err != nil {
		return Host{}, fmt.Errorf("find working directory: %w: change to a directory that exists", err)
	}
	home, _ := os.UserHomeDir() // none is a fact, not an error: "~" is refused then
	exe, _ := os.Executable()
	return Host{Dir: dir, Home: home, Executable: exe, Getenv: os.Getenv, Environ: os.Environ(),
		Now: time.Now()}, nil
}

// Loaded is a configuration that is ready for use.
type Loaded struct {
	Config        // defaults filled in, every path absolute
	File   string // "" when there is none
	Source string // how File was found: "--config", "$SALLYPORT_CONFIG", "user", "system"; "defaults" for none
	// Ignored are configuration files in the workspace. They are never read: an agent could have written
	// them.
	Ignored []string
	// Notes are for the operator and no problem: an exemption that has expired, a missing place.
	Notes []string

	table    *commands.Table // with the rows of Commands.Table; nil for the built-in one
	host     Host
	unnamed  bool // the file names no workspace
	where    map[string]position
	copies   []string
	files    map[string]string
	compiled string // CompiledDir of the configuration that this one tries out; "" for its own
}

// At makes a problem of a key, with the place where the file has it.
func (l *Loaded) At(key, text string) Problem { return problemAt(l.where, key, text) }

// Refuse makes an error of problems that were found in a loaded configuration; nil for none.
func (l *Loaded) Refuse(problems []Problem) error {
	if len(problems) == 0 {
		return nil
	}
	sortProblems(problems)
	return &Error{File: l.File, Problems: problems}
}

// YAML returns the configuration as a file that says the same, defaults included.
func (l *Loaded) YAML() ([]byte, error) { return yaml.Marshal(l.Config) }

// Generic returns the configuration as maps and lists under the names that a file has.
func (l *Loaded) Generic() (map[string]any, error) {
	text, err := l.YAML()
	if err != nil {
		return nil, err
	}
	var v map[string]any
	return v, yaml.Unmarshal(text, &v)
}

// maxFile bounds a configuration file, in bytes.
const maxFile = 1 << 20

// Load finds, reads and checks the configuration: the file flag when it is not "", then
// $SALLYPORT_CONFIG, then the user's, then the system's. None at all is the defaults. A
// configuration that cannot be used is an *Error.
func Load(flag string, host Host) (*Loaded, error) {
	file, source, err := find(flag, host)
	if err != nil {
		return nil, err
	}
	if file == "" {
		return Parse("", "", "defaults", host)
	}
	text, err := read(file)
	if err != nil {
		return nil, &Error{File: file, Problems: []Problem{{Text: err.Error()}}}
	}
	return Parse(text, file, source, host)
}

// Places lists where Load looks, strongest first, without the flag.
func Places(host Host) []string {
	places := []string{host.Getenv("SALLYPORT_CONFIG")}
	if user := UserFile(host); user != "" {
		places = append(places, user)
	}
	return append(places, systemFile)
}

const systemFile = "/etc/sallyport/config.yaml"

// UserFile is where the user's own configuration lies; "" when there is neither
// $XDG_CONFIG_HOME nor a home directory.
func UserFile(host Host) string {
	return xdg(host, "XDG_CONFIG_HOME", ".config", "config.yaml")
}

func defaultAuditDir(host Host) string {
	return xdg(host, "XDG_STATE_HOME", ".local/state", "audit")
}

// SessionsDir is where sessions are remembered: beside the default place of the audit log. It is ""
// when there is neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) SessionsDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "sessions")
}

// EnvironmentsDir is where the logs of environments are kept, beside the sessions. It is "" when there is
// neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) EnvironmentsDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "environments")
}

// HeldDir is where files are kept that commands left and that policies refused, beside the sessions. It is
// "" if there is neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) HeldDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "held")
}

// UndoDir is where the earlier versions of changed files are kept, beside the sessions. It is "" if there is
// neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) UndoDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "undo")
}

// UndoSharedDir is the part of UndoDir that containers write.
func (l *Loaded) UndoSharedDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "undo-shared")
}

// HooksDir is where the allowed requests of hooks are kept until their agents tell how they ended, beside the
// sessions. It is "" when there is neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) HooksDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "hooks")
}

// Hosted is the configuration under which requests are judged that an agent runs by its own tools: on this
// machine, not confined, with all variables of sallyport's own environment. places are granted besides.
func (l *Loaded) Hosted(places []Grant) *Loaded {
	h := *l
	h.Runner = "local"
	h.Local.Sandbox, h.Local.Network = "none", "host"
	h.Environment = Environment{Venv: "none", PassAll: true}
	h.Paths = slices.Concat(l.Paths, places)
	return &h
}

// Confined is the configuration under which commands of this machine run in the sandbox or not at all.
func (l *Loaded) Confined() *Loaded {
	c := *l
	c.Local.Sandbox = "bubblewrap"
	return &c
}

// wrappedTime is the time limit of an agent that runs in a sandbox.
const wrappedTime = 30 * 24 * time.Hour

// Wrapped is the configuration under which an agent itself runs: in the sandbox of this machine, with places
// and variables of its own, and with copies of files in its home directory. files are read-only files with
// their content, which it has besides.
func (l *Loaded) Wrapped(places []Grant, copies, variables []string, files map[string]string) *Loaded {
	w := *l.Confined()
	w.Runner = "local"
	w.Environment.Prefix = ""
	w.Environment.Env = slices.Concat(l.Environment.Env, variables)
	w.Limits.MaxTimeout, w.Timeout = Duration(wrappedTime), Duration(wrappedTime)
	w.Paths = slices.Clone(l.Paths)
	for _, g := range places {
		if !slices.ContainsFunc(w.Paths, func(have Grant) bool { return have.Path == g.Path }) {
			w.Paths = append(w.Paths, g)
		}
	}
	w.copies, w.files = copies, files
	return &w
}

// Files are files that the sandbox has besides, with their content.
func (l *Loaded) Files() map[string]string { return l.files }

// Copies are the files of which the sandbox has copies that are thrown away.
func (l *Loaded) Copies() []string { return l.copies }

// ApprovalsDir is where questions wait for sallyport approvals, beside the sessions. It is "" if there is
// neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) ApprovalsDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "approvals")
}

// ResidentDir is where the resident process is reached, beside the sessions. It is "" if there is neither
// $XDG_STATE_HOME nor a home directory.
func (l *Loaded) ResidentDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "resident")
}

// SandboxDir is the cache of facts about sandboxes, beside the sessions. It is "" if there is neither
// $XDG_STATE_HOME nor a home directory.
func (l *Loaded) SandboxDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "sandboxes")
}

// CompiledDir is where the compiled forms of plugins are kept, beside the sessions. It is "" when there
// is neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) CompiledDir() string {
	if l.compiled != "" {
		return l.compiled
	}
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "compiled")
}

// StateDir is where sallyport remembers things between its runs. It is "" when there is neither
// $XDG_STATE_HOME nor a home directory.
func (l *Loaded) StateDir() string { return StateDir(l.host) }

// StateDir is Loaded.StateDir without a configuration.
func StateDir(host Host) string { return xdg(host, "XDG_STATE_HOME", ".local/state", "") }

// Named reports whether the file names the workspace.
func (l *Loaded) Named() bool { return !l.unnamed }

// Home is the home directory of sallyport's user; "" for none.
func (l *Loaded) Home() string { return l.host.Home }

// xdg returns the path of sallyport's name below an XDG base directory
// (https://specifications.freedesktop.org/basedir-spec/: a relative one is to be ignored).
func xdg(host Host, variable, below, name string) string {
	base := host.Getenv(variable)
	if !filepath.IsAbs(base) {
		if host.Home == "" {
			return ""
		}
		base = filepath.Join(host.Home, below)
	}
	return filepath.Join(base, "sallyport", name)
}

func find(flag string, host Host) (file, source string, err error) {
	for _, named := range []struct{ file, source string }{{flag, "--config"},
		{host.Getenv("SALLYPORT_CONFIG"), "$SALLYPORT_CONFIG"}} {
		if named.file != "" {
			file, err = absolute(named.file, host.Dir, host.Home)
			return file, named.source, err
		}
	}
	for _, usual := range []struct{ file, source string }{{UserFile(host), "user"}, {systemFile, "system"}} {
		if usual.file == "" {
			continue
		}
		switch _, err := os.Stat(usual.file); {
		case err == nil:
			return usual.file, usual.source, nil
		case !errors.Is(err, fs.ErrNotExist):
			// A file that is there and cannot be looked at must not fall back to weaker settings.
			return "", "", fmt.Errorf("find configuration: %w: make it readable or remove it", err)
		}
	}
	return "", "defaults", nil
}

func read(file string) (string, error) {
	f, err := os.Open(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", errors.New("no such configuration file: check the path")
	case err != nil:
		return "", fmt.Errorf("read configuration: %w: check the path", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return "", errors.New("read configuration: it is a directory: name the file in it")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read configuration: %w", err)
	case len(text) > maxFile:
		return "", fmt.Errorf("read configuration: it is larger than %d bytes", maxFile)
	case !utf8.Valid(text):
		return "", errors.New("read configuration: it is not valid UTF-8: save it as UTF-8")
	}
	return string(text), nil
}

// Parse reads the text of a configuration. file is its path; "" means that there is none, and then text must
// be empty: the defaults are checked alone.
func Parse(text, file, source string, host Host) (*Loaded, error) {
	l := &Loaded{Config: Defaults(host), File: file, Source: source, host: host}
	d := &decoder{base: host.Dir, home: host.Home, where: map[string]position{}}
	whole := true
	if file != "" {
		d.base = filepath.Dir(file)
		l.Workspace = unset
		whole = d.document(text, &l.Config)
	}
	if l.unnamed = file == "" || l.Workspace == unset; l.unnamed {
		l.Workspace = Path(host.Dir)
	}
	if whole {
		check(l, d)
	}
	if err := l.Refuse(d.problems); err != nil {
		return nil, err
	}
	l.where = d.where
	l.Ignored = inWorkspace(string(l.Workspace), file)
	return l, nil
}

// unset is a value that no file can give a path.
const unset = Path("\x00")

// inWorkspace lists the files in the workspace that look like a configuration and are not the
// one that is used.
func inWorkspace(workspace, used string) []string {
	var found []string
	for _, name := range []string{"sallyport.yaml", "sallyport.yml", ".sallyport.yaml", ".sallyport.yml"} {
		p := filepath.Join(workspace, name)
		if _, err := os.Lstat(p); err == nil && p != used {
			found = append(found, p)
		}
	}
	return found
}

// Environ is the environment of which commands get a part, NAME=value.
func (l *Loaded) Environ() []string { return l.host.Environ }

// Trial returns the configuration for trying rules out away from real files: with another home and
// workspace, under the given profile, with nothing relaxed and without plugins. Temporary places on the PATH
// of this process are left out: rules about them would find them in every example that adds to PATH. more is
// text as in sallyport.yaml that holds on top; "" for none.
func (l *Loaded) Trial(home, workspace, profile, more string) (*Loaded, error) {
	t := *l
	t.compiled = l.CompiledDir() // compiled modules are the same there, and take time to make
	t.host.Home, t.Workspace, t.Profile, t.unnamed = home, Path(workspace), profile, false
	t.Runner = "local" // rules are tried out here, wherever commands run
	t.host.Environ = []string{"HOME=" + home}
	for _, v := range l.host.Environ {
		name, value, _ := strings.Cut(v, "=")
		switch name {
		case "HOME":
		case "PATH":
			t.host.Environ = append(t.host.Environ, "PATH="+l.lasting(value))
		default:
			t.host.Environ = append(t.host.Environ, v)
		}
	}
	t.host.Getenv = func(name string) string {
		if name == "XDG_CONFIG_HOME" || name == "XDG_STATE_HOME" { // they lie in the home that is left
			return ""
		}
		return l.host.Getenv(name)
	}
	t.Paths, t.Rules, t.Exemptions, t.Commands, t.Plugins = nil, nil, nil, Commands{}, nil
	t.table = nil
	if more == "" {
		return &t, nil
	}
	d := &decoder{base: workspace, home: home, where: map[string]position{}}
	if d.document(more, &t.Config) {
		check(&t, d)
	}
	return &t, t.Refuse(d.problems)
}

// lasting leaves the temporary places out of a PATH.
func (l *Loaded) lasting(list string) string {
	dirs := slices.DeleteFunc(filepath.SplitList(list), func(dir string) bool {
		return slices.ContainsFunc(l.temporary(), func(t string) bool { return holds(t, dir) })
	})
	return strings.Join(dirs, string(os.PathListSeparator))
}
