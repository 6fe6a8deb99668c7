package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// launch is a command made ready to start.
type launch struct {
	id    string
	shell Shell
	argv  []string
	dir   string
	env   []string

	elevated bool // it may gain rights
	terminal bool // its descriptors are a terminal, which is to be its own
	mayMake  func(path string) bool
	mayStart func(engine.Program) engine.Verdict
	begun    bool // the program at the shell's path becomes the shell
}

// prepare makes the checks that need no process.
func prepare(c engine.Command, o Options) (launch, error) {
	switch {
	case c.ID == "" || strings.ContainsAny(c.ID, "\x00="):
		return launch{}, fmt.Errorf("start command: bad id %q", c.ID)
	case c.Text == "":
		return launch{}, errors.New("start command: text is empty")
	case strings.Contains(c.Text, "\x00"):
		return launch{}, errors.New("start command: text holds a NUL byte")
	case c.Timeout <= 0:
		return launch{}, errors.New("start command: no time limit is given")
	case c.Output < 0:
		return launch{}, fmt.Errorf("start command: output limit %d is negative", c.Output)
	}
	if c.Terminal != nil {
		if c.Stdin == nil {
			return launch{}, errors.New("start command: a terminal without input")
		}
		if err := c.Terminal.Check(); err != nil {
			return launch{}, fmt.Errorf("start command: %w", err)
		}
	}
	env, err := environ(c)
	if err != nil {
		return launch{}, err
	}
	o.Rights.Do(func() { err = checkDir(c.WorkDir) })
	if err != nil {
		return launch{}, fmt.Errorf("start command: working directory %s: %w", c.WorkDir, err)
	}
	shell := o.Shell
	if shell == nil {
		found, err := FindShell(lookup(env, "PATH"))
		if err != nil {
			return launch{}, fmt.Errorf("start command: %w", err)
		}
		shell = &found
	}
	return launch{
		id: c.ID, shell: *shell, dir: c.WorkDir, env: env,
		argv: []string{filepath.Base(shell.Path), "-c", c.Text}, elevated: c.Elevated, terminal: c.Terminal != nil,
		mayMake: c.MayMake, mayStart: c.MayStart,
	}, nil
}

// environ returns the environment of the command's shell: the given variables, and the marker.
func environ(c engine.Command) ([]string, error) {
	env := make([]string, 0, len(c.Env)+1)
	for _, kv := range c.Env {
		name, _, ok := strings.Cut(kv, "=")
		// Windows keeps the current directory of each drive in variables with names that begin with "=".
		if !ok || name == "" || strings.Contains(kv, "\x00") {
			return nil, fmt.Errorf("start command: environment entry %q is not NAME=value", name)
		}
		if name != Marker {
			env = append(env, kv)
		}
	}
	return append(env, Marker+"="+c.ID), nil
}

// lookup returns the value of name. Of several the last counts, as it does for shells.
func lookup(env []string, name string) string {
	for i := len(env) - 1; i >= 0; i-- {
		if k, v, _ := strings.Cut(env[i], "="); k == name {
			return v
		}
	}
	return ""
}

// checkDir says why dir cannot be a working directory. The error of the start itself would not name the
// missing file.
func checkDir(dir string) error {
	if !filepath.IsAbs(dir) {
		return errors.New("not an absolute path")
	}
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return errors.New("does not exist")
	case err != nil:
		var pe *fs.PathError
		if errors.As(err, &pe) {
			err = pe.Err // the path is named already
		}
		return err
	case !info.IsDir():
		return errors.New("not a directory")
	}
	return enterable(dir)
}

// Shell is the program that runs texts.
type Shell struct {
	Path  string
	POSIX bool // not bash: texts must be judged with the POSIX grammar
}

// FindShell searches for bash in the directories of path, then at /bin/bash, then for sh in the same way.
// Relative directories are skipped: with them, write access to the working directory would choose the shell.
func FindShell(path string) (Shell, error) {
	dirs := filepath.SplitList(path)
	if runtime.GOOS != "windows" {
		dirs = append(dirs, "/bin", "/usr/bin")
	}
	for _, name := range []string{"bash", "sh"} {
		for _, dir := range dirs {
			file := filepath.Join(dir, name+executableSuffix)
			if filepath.IsAbs(dir) && !elsewhere(dir) && executable(file) {
				return Shell{Path: file, POSIX: name != "bash"}, nil
			}
		}
	}
	if runtime.GOOS == "windows" {
		return Shell{}, errors.New("find shell: neither bash nor sh is on PATH: install Git for Windows " +
			"or use another runner")
	}
	return Shell{}, errors.New("find shell: neither bash nor sh is on PATH or in /bin: install bash")
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// elsewhere reports whether the shells of a directory do not run on this system: Windows keeps the launchers
// of its Linux subsystem there, which has other files.
func elsewhere(dir string) bool {
	name := filepath.Base(dir)
	return runtime.GOOS == "windows" && (strings.EqualFold(name, "System32") ||
		strings.EqualFold(name, "WindowsApps"))
}
