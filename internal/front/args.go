package main

import "strings"

// asked is a command line that this program knows.
type asked struct {
	version   bool // else check
	json      bool
	config    string // --config
	text, dir string // -c and --work-dir
	given     bool   // -c
	words     []string
}

// read reads the command lines version and check with their most usual flags, as sallyport-full reads them. ok is
// false for all others, right or wrong.
func read(args []string) (a asked, ok bool) {
	if len(args) > 1 && args[0] == "--config" {
		a.config, args = args[1], args[2:]
	}
	if len(args) == 0 {
		return asked{}, false
	}
	switch args[0] {
	case "version", "--version":
		a.version = true
		return a, len(args) == 1 || a.flags(args[1:], map[string]func(string) bool{"--format": a.format}) && len(a.words) == 0 && args[0] == "version"
	case "check":
		ok := a.flags(args[1:], map[string]func(string) bool{
			"--format": a.format, "-c": a.command, "--command": a.command,
			"--work-dir": func(v string) bool { a.dir = v; return true },
		})
		return a, ok
	}
	return asked{}, false
}

func (a *asked) command(v string) bool { a.text, a.given = v, true; return true }

func (a *asked) format(v string) bool { a.json = v == "json"; return v == "text" || v == "json" }

// flags takes flags with a value each up to the first word. Behind "--" all are words.
func (a *asked) flags(args []string, known map[string]func(string) bool) bool {
	for i := 0; i < len(args); i++ {
		name, value, attached := strings.Cut(args[i], "=")
		switch set := known[name]; {
		case args[i] == "--":
			a.words = args[i+1:]
			return true
		case args[i] == "-" || !strings.HasPrefix(args[i], "-"):
			a.words = args[i:]
			return true
		case set == nil, attached && !strings.HasPrefix(name, "--"):
			return false
		case attached:
			if !set(value) {
				return false
			}
		case i+1 == len(args):
			return false
		default:
			i++
			if !set(args[i]) {
				return false
			}
		}
	}
	return true
}
