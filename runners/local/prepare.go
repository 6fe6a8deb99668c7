package local

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/identity"
)

// Prepare turns a requested text into the command for workDir: the text to judge and to run,
// and its whole environment. Policies must see the resulting text.
//
// A prefix stands before a plain command as it is: "uv run" makes "pytest -q" into
// "uv run pytest -q". Everything else (several commands, redirections, quotes, expansions,
// builtins of the shell) is handed to a shell of its own, for a prefix would reach only the
// first of several commands: "uv run bash -c 'cd src && pytest'".
//
// With a prefix, no virtual environment is put on PATH: the prefix sets it up.
func (e *Environment) Prepare(text, workDir string) (engine.Command, error) {
	if !filepath.IsAbs(workDir) {
		return engine.Command{}, fmt.Errorf("prepare command: working directory %q: not an absolute path", workDir)
	}
	r := e.runner
	c := engine.Command{Text: text, WorkDir: workDir}
	// Shells take the path that they are told, if it is the right one; else symlinks are resolved.
	env := set(slices.Clone(r.base), "PWD", workDir)
	if prefix := strings.TrimSpace(r.opts.Prefix); prefix != "" {
		c.Text = Prefixed(prefix, text, r.shell.POSIX)
	} else {
		var dir string
		e.rights.Do(func() { dir = r.venv(workDir, e.workspace) })
		if dir != "" {
			env = activate(env, dir)
		}
	}
	slices.Sort(env)
	c.Env = env
	return c, nil
}

// activate does the work of a virtual environment's own script, but for the prompt.
func activate(env []string, dir string) []string {
	path := filepath.Join(dir, venvBin) + string(os.PathListSeparator) + valueOf(env, "PATH")
	env = set(env, "PATH", path)
	env = set(env, "VIRTUAL_ENV", dir)
	return unset(env, "PYTHONHOME") // it would win over the virtual environment
}

// Prefixed puts a prefix before a text; see Prepare. posix says that the shell is not bash.
func Prefixed(prefix, text string, posix bool) string {
	if strings.TrimSpace(text) == "" {
		return text // nothing to run must stay nothing to run
	}
	if plain(text) {
		return prefix + " " + strings.TrimSpace(text)
	}
	shell := "bash"
	if posix {
		shell = "sh"
	}
	return prefix + " " + shell + " -c " + quote(text)
}

// quote makes one word of a text, in single quotes.
func quote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// plain reports whether a text is one program with arguments in characters without meaning to a shell. It is
// strict: other texts work too, with one more shell.
func plain(text string) bool {
	text = strings.Trim(text, " ")
	for _, c := range []byte(text) {
		if !strings.ContainsRune(plainBytes, rune(c)) {
			return false
		}
	}
	first, _, _ := strings.Cut(text, " ")
	// A first word that looks like an option would be taken by the prefix.
	return first != "" && first[0] != '-' && !strings.Contains(first, "=") &&
		!slices.Contains(shellWords(), first)
}

const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 ./_-+,:=@%"

// shellWords are the words that bash reads as its own at the start of a command (bash(1), "RESERVED
// WORDS" and "SHELL BUILTIN COMMANDS").
func shellWords() []string {
	return strings.Fields(`case coproc do done elif else esac fi for function if in select then time until while
		. : alias bg bind break builtin caller cd command compgen complete compopt continue declare dirs disown
		echo enable eval exec exit export false fc fg getopts hash help history jobs kill let local logout
		mapfile popd printf pushd pwd read readarray readonly return set shift shopt source suspend test times
		trap true type typeset ulimit umask unalias unset wait`)
}

// namesVenv reports whether one virtual environment is named for all commands.
func (o Options) namesVenv() bool {
	return strings.TrimSpace(o.Prefix) == "" && o.Venv != "" && o.Venv != "auto" && o.Venv != "none"
}

// venv returns the virtual environment for commands in workDir, or "".
func (r *Runner) venv(workDir, workspace string) string {
	if r.opts.Venv == "none" {
		return ""
	}
	if r.opts.namesVenv() {
		return r.opts.Venv
	}
	for _, dir := range slices.Compact([]string{workDir, workspace}) {
		if venv := filepath.Join(dir, ".venv"); dir != "" && isVenv(venv) {
			return venv
		}
	}
	return ""
}

func isVenv(dir string) bool {
	info, err := os.Stat(filepath.Join(dir, venvBin))
	return err == nil && info.IsDir()
}

// isVenv looks with the rights of the user that commands run as.
func (o Options) isVenv(dir string) (found bool) {
	if o.User == nil {
		return isVenv(dir)
	}
	rights, err := identity.NewRights(*o.User)
	if err != nil {
		return true // Open reports the problem with the user
	}
	defer rights.Close()
	rights.Do(func() { found = isVenv(dir) })
	return found
}
