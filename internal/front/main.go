// Command front is the program sallyport of an installation. It prints versions, and brings hooks, checks and
// commands in kept containers to the resident process of the user, if there is one. For all else it becomes
// sallyport-full, which lies
// beside it and is the whole program.
//
// It judges nothing and reads no configuration. The resident process is sallyport-full too, so that the
// answers are the same (package resident).
package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/internal/resident"
	"github.com/sallyport-dev/sallyport/internal/wrapped"
)

const (
	broken  = 1
	refused = 2 // by which the hosts of hooks refuse a call; any other status lets it run
)

// limit is the time within which the resident process answers: it ends hooks after 20 s by itself.
const limit = 22 * time.Second

func main() {
	a := read(os.Args[1:])
	if a.version {
		if err := release.ThisBuild().Write(os.Stdout, a.json); err != nil {
			fail(err, broken)
		}
		return
	}
	full, err := whole()
	if a.hook { // a write that nobody reads is an error then, which refuses
		signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
		if wrapped.Closed(os.Stdout) {
			fail(errors.New("refused: stdout is closed"), refused)
		}
	}
	if code, mine := wrapped.Do(os.Args[1:], os.Stdin, os.Stdout, os.Stderr); !mine {
		os.Exit(code)
	}
	if err == nil && a.resident {
		if answer, ok := ask(full, a); ok {
			os.Exit(write(answer, a))
		}
	}
	if err == nil && a.exec {
		if answer, ok := run(full); ok {
			os.Exit(write(answer, a))
		}
	}
	if err == nil {
		err = handOver(full)
	}
	status := broken
	if a.hook {
		status = refused
	}
	fail(err, status)
}

func fail(err error, status int) {
	fmt.Fprintf(os.Stderr, "sallyport: %s\n", strings.Trim(strconv.QuoteToGraphic(err.Error()), `"`))
	os.Exit(status)
}

// whole is the program that this one becomes: it lies in the same directory, whoever calls.
func whole() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("find %s: %w", release.Whole, err)
	}
	name := filepath.Join(filepath.Dir(self), release.Whole)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist, and sallyport alone answers only version: "+
			"install both programs of one release", name)
	}
	return name, nil
}

// environ is the environment of sallyport-full, so that its doctor compares the two programs, and so that it
// starts the resident process.
func environ() []string {
	mine := release.FrontVariable + "="
	others := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, mine) })
	return append(others, mine+release.ThisBuild().Build())
}

// ask has the resident process answer. ok is false if sallyport-full must; then nothing was read.
func ask(full string, a asked) (_ resident.Answer, ok bool) {
	if !a.hook && (isTerminal(os.Stdout) || isTerminal(os.Stderr)) { // its output has colors there
		return resident.Answer{}, false
	}
	p, call, err := find(full)
	if err != nil {
		return resident.Answer{}, false
	}
	var in io.Reader
	if a.hook {
		in = os.Stdin
	}
	answer, err := p.Ask(call, in, limit)
	return answer, err == nil
}

// find connects to the resident process, and describes this one to it.
func find(full string) (*resident.Process, resident.Call, error) {
	call := resident.Call{Args: os.Args[1:], Environ: environ()}
	view, err := resident.View(release.ThisBuild().Build())
	if err != nil {
		return nil, call, err
	}
	if call.Dir, err = os.Getwd(); err != nil {
		return nil, call, err
	}
	p, err := resident.Find(resident.Dir(stateDir()), view, full, resident.Patience)
	return p, call, err
}

// run has the resident process run a command. ok is false if sallyport-full must; then nothing has run. At a
// terminal it must: a person may be asked there.
func run(full string) (_ resident.Answer, ok bool) {
	if isTerminal(os.Stdout) || isTerminal(os.Stderr) || attended() {
		return resident.Answer{}, false
	}
	p, call, err := find(full)
	if err != nil {
		return resident.Answer{}, false
	}
	answer, err := p.Run(call, os.Stdout, os.Stderr, func() <-chan os.Signal {
		came := make(chan os.Signal, 8)
		for _, s := range passed() {
			if !signal.Ignored(s) {
				signal.Notify(came, s)
			}
		}
		return came
	})
	return answer, err == nil
}

func isTerminal(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) //nolint:gosec // a descriptor is small
}

// stateDir is the user's state directory, as package config finds it.
func stateDir() string {
	base := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(base) {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		base = filepath.Join(home, ".local/state")
	}
	return filepath.Join(base, "sallyport")
}

// write prints an answer and returns its status.
func write(answer resident.Answer, a asked) int {
	_, failed := os.Stdout.Write(answer.Out)
	_, _ = os.Stderr.Write(answer.Err) // there is no other place for the error
	switch {
	case failed == nil:
		return answer.Status
	case a.hook:
		fmt.Fprintf(os.Stderr, "sallyport refused this call, because its answer was not written: %s\n",
			failed)
		return refused
	}
	return broken
}
