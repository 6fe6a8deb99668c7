package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/sallyport-dev/sallyport/internal/await"
)

// exits CODE PROGRAM ARGS… runs a program and demands an exit code; "exec" of testscript knows only
// success and failure. "stdout" and "stderr" match its output as they do after exec.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	err = ts.Exec(args[1], args[2:]...)
	got := 0
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("start %s: %v", args[1], err)
	}
	if got != want {
		ts.Fatalf("exit %d, want %d", got, want)
	}
}

// until PROGRAM ARGS… runs a program until it succeeds.
func until(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: until PROGRAM ARGS…")
	}
	if !await.Holds(func() bool { return ts.Exec(args[0], args[1:]...) == nil }) {
		ts.Fatalf("%s never succeeds", strings.Join(args, " "))
	}
}

// bytes FILE TEXT [TIMES] writes a text with escapes such as \xff, several times over: what an
// archive cannot hold.
func writeBytes(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: bytes FILE TEXT [TIMES]")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(args[1], `"`, `\"`) + `"`)
	ts.Check(err)
	times := 1
	if len(args) == 3 {
		times, err = strconv.Atoi(args[2])
		ts.Check(err)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytes.Repeat([]byte(text), times), 0o644))
}

// events DIRECTORY puts the directory of the project in the place of $PROJECT in the *.json files of a
// directory.
func events(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: events DIRECTORY")
	}
	files, err := filepath.Glob(filepath.Join(args[0], "*.json"))
	ts.Check(err)
	project, err := json.Marshal(ts.MkAbs("."))
	ts.Check(err)
	for _, file := range files {
		text := strings.ReplaceAll(ts.ReadFile(file), "$PROJECT", strings.Trim(string(project), `"`))
		ts.Check(os.WriteFile(file, []byte(text), 0o644))
	}
}
