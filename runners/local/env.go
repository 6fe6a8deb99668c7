package local

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/joho/godotenv"

	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// baseEnv builds the environment that all commands have in common: the allow-listed variables of
// the host, over them the environment file, over all the shell.
func baseEnv(opts Options, shell supervisor.Shell) ([]string, error) {
	env := []string{"PATH=" + defaultPath}
	for _, kv := range opts.Host {
		if name, value, ok := strings.Cut(kv, "="); ok && opts.inherits(name) {
			env = set(env, name, value)
		}
	}
	env, err := withFile(env, opts)
	if err != nil {
		return nil, err
	}
	env = set(env, "SHELL", shell.Path)
	slices.Sort(env)
	return env, nil
}

// withFile adds the environment file.
func withFile(env []string, opts Options) ([]string, error) {
	if opts.EnvFile == "" {
		return env, nil
	}
	values, err := readEnvFile(opts.EnvFile)
	if err != nil {
		return nil, err
	}
	for name, value := range values {
		if len(opts.EnvFileNames) == 0 || slices.Contains(opts.EnvFileNames, name) {
			env = set(env, name, value)
		}
	}
	return env, nil
}

// Given returns the variables that the operator gives to commands by name or in a file, for an
// environment that is not of this machine and has the usual ones itself.
func Given(opts Options) ([]string, error) {
	var env []string
	for _, kv := range opts.Host {
		if name, value, ok := strings.Cut(kv, "="); ok && slices.Contains(opts.Env, name) {
			env = set(env, name, value)
		}
	}
	env, err := withFile(env, opts)
	slices.Sort(env)
	return env, err
}

// inherits reports whether commands get a variable of the host.
func (o Options) inherits(name string) bool {
	same := func(s string) bool { return sameName(s, name) }
	return name != "" && (o.PassAll || strings.HasPrefix(name, "LC_") ||
		slices.ContainsFunc(inherited(), same) || slices.ContainsFunc(o.Env, same))
}

// readEnvFile reads a file in the form that dotenv tools share. The parser's own errors quote the
// file, and with it secrets; so only the line is told.
func readEnvFile(path string) (map[string]string, error) {
	b, err := readSmall(path)
	if err != nil {
		return nil, fmt.Errorf("read environment file: %w", err)
	}
	b = bytes.TrimPrefix(b, []byte("\xef\xbb\xbf"))
	values, err := godotenv.UnmarshalBytes(b)
	if err != nil {
		return nil, fmt.Errorf("read environment file %s: line %d: not NAME=value", path, badLine(b))
	}
	for name, value := range values {
		if !validName(name) || strings.Contains(value, "\x00") {
			return nil, fmt.Errorf("read environment file %s: %q: not a variable that a process can have", path, name)
		}
		if hijacks(name) {
			return nil, fmt.Errorf("read environment file %s: %s would make commands run what was not judged: remove it", path, name)
		}
	}
	return values, nil
}

// maxEnvFile bounds an environment file, in bytes.
const maxEnvFile = 1 << 20

// readSmall reads a regular file: a pipe or a device that an agent put there would never end.
func readSmall(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxEnvFile {
		return nil, fmt.Errorf("%s: not a regular file of at most %d bytes", path, maxEnvFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxEnvFile))
}

// badLine returns the number of the line behind the longest readable beginning of the file.
func badLine(b []byte) int {
	lines := bytes.SplitAfter(b, []byte("\n"))
	for n := len(lines) - 1; n > 0; n-- {
		if _, err := godotenv.UnmarshalBytes(bytes.Join(lines[:n], nil)); err == nil {
			return n + 1
		}
	}
	return 1
}

func validName(name string) bool {
	for i, c := range []byte(name) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != ""
}

// hijacks tells the variables by which a shell or the loader runs something before or in place of
// the text. An environment file often lies in the workspace, where an agent can write it; the
// operator can still pass these on by name.
func hijacks(name string) bool {
	switch name {
	case "BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4", "IFS", "LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH":
		return true
	}
	return strings.HasPrefix(name, "DYLD_") || strings.HasPrefix(name, "BASH_FUNC_")
}

// set gives a variable a value, in place of the one it had.
func set(env []string, name, value string) []string {
	return append(unset(env, name), name+"="+value)
}

func unset(env []string, name string) []string {
	return slices.DeleteFunc(env, func(kv string) bool {
		n, _, _ := strings.Cut(kv, "=")
		return sameName(n, name)
	})
}

func valueOf(env []string, name string) string {
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && sameName(n, name) {
			return v
		}
	}
	return ""
}
