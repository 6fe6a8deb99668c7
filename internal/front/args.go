package main

import "slices"

// asked is the part of a command line that this program understands.
type asked struct {
	version  bool // print it
	json     bool // as JSON
	hook     bool
	resident bool // the resident process may answer
	exec     bool // it may run the command
}

// read reads a command line as far as it tells who answers. sallyport-full reads all others, and those that
// are wrong.
func read(args []string) asked {
	if slices.Equal(args, []string{"--version"}) {
		return asked{version: true}
	}
	if len(args) > 1 && args[0] == "--config" {
		args = args[2:]
	}
	if len(args) == 0 {
		return asked{}
	}
	switch rest := args[1:]; args[0] {
	case "version":
		json := slices.Equal(rest, []string{"--format=json"}) ||
			slices.Equal(rest, []string{"--format", "json"})
		return asked{version: json || len(rest) == 0, json: json}
	case "exec":
		return asked{exec: true}
	case "hook":
		return asked{hook: true, resident: true}
	case "check":
		// A batch is a stream, and an answer comes whole.
		streams := slices.Contains(rest, "--batch") || slices.Contains(rest, "--batch=true")
		return asked{resident: !streams}
	}
	return asked{hook: slices.Contains(args, "hook")}
}
