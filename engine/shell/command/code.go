package command

import (
	"path"
	"strings"
)

// IsTerminal reports the name of a terminal.
func IsTerminal(name string) bool {
	return name == "/dev/tty" || name == "/dev/console" || name == "$(tty)" || strings.HasPrefix(name, "/dev/pts/")
}

// IsShell reports a language of shells.
func IsShell(lang string) bool {
	switch lang {
	case "sh", "bash", "zsh", "ksh", "fish", "csh":
		return true
	default:
		return false
	}
}

// SystemProgram reports the places where programs are, and not scripts of a project: they
// are known by name.
func SystemProgram(abs string) bool {
	switch path.Dir(abs) {
	case "/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin", "/usr/local/sbin", "/opt/homebrew/bin":
		return true
	default:
		return false
	}
}

// Shebang returns the language that a file's first line names: sh when it has none and
// looks like text, "" when it is no script.
func Shebang(content string) string {
	if !strings.HasPrefix(content, "#!") {
		if len(content) == 0 || strings.IndexByte(content, 0) >= 0 || strings.HasPrefix(content, "\x7fELF") {
			return ""
		}
		return "sh"
	}
	line, _, _ := strings.Cut(content[2:], "\n")
	fields := strings.Fields(line)
	for len(fields) > 0 {
		name := path.Base(fields[0])
		if name != "env" && !strings.HasPrefix(fields[0], "-") && !strings.Contains(fields[0], "=") {
			if p, ok := InterpreterOf(nil, name); ok {
				return p.Language
			}
			return ""
		}
		fields = fields[1:]
	}
	return ""
}
