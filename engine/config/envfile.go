package config

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// maxEnvFile bounds a file of variables, in bytes.
const maxEnvFile = 256 << 10

// EnvFile reads a file of NAME=VALUE lines. Empty lines and lines that begin with "#" are left
// out; a leading "export" and one pair of quotes around a value are taken off; nothing is
// expanded. With names, only those are returned, and one that is not there is an error.
// Errors name lines, never their content: it may be a secret.
func EnvFile(file string, names []string) ([]string, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("read env_file: %w", err)
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxEnvFile+1))
	if err != nil {
		return nil, fmt.Errorf("read env_file: %w", err)
	}
	if len(content) > maxEnvFile {
		return nil, fmt.Errorf("read env_file %s: it is larger than %d bytes", file, maxEnvFile)
	}
	var variables []string
	found := map[string]bool{}
	for i, line := range strings.Split(string(content), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, err := variable(line)
		if err != nil {
			return nil, fmt.Errorf("read env_file %s: line %d: %w", file, i+1, err)
		}
		found[name] = true
		if len(names) == 0 || slices.Contains(names, name) {
			variables = append(variables, name+"="+value)
		}
	}
	for _, name := range names {
		if !found[name] {
			return nil, fmt.Errorf("read env_file %s: there is no variable %s in it", file, name)
		}
	}
	return variables, nil
}

func variable(line string) (name, value string, err error) {
	line = strings.TrimSpace(strings.TrimPrefix(line, "export "))
	name, value, ok := strings.Cut(line, "=")
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	switch {
	case !ok:
		return "", "", errors.New("want NAME=VALUE")
	case !envName.MatchString(name):
		return "", "", errors.New("what stands before \"=\" is not the name of a variable")
	case strings.ContainsRune(value, 0):
		return "", "", errors.New("the value holds a NUL byte")
	}
	if quoted(value) {
		return name, value[1 : len(value)-1], nil
	}
	if strings.HasPrefix(value, `"`) || strings.HasPrefix(value, "'") {
		return "", "", errors.New("the quote does not end on this line")
	}
	return name, value, nil
}

func quoted(value string) bool {
	return len(value) >= 2 && (value[0] == '"' || value[0] == '\'') && value[len(value)-1] == value[0]
}
