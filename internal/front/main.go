// Command front is the program sallyport of an installation. It prints versions and decides single commands of a plain
// configuration itself; for all else it becomes sallyport-full, which lies beside it and is the whole program.
//
// OPA, Docker's client and the protocol of agents take ten times as long to start as such a decision. What this program
// prints, sallyport-full prints, too: it is made of the same packages, and hands over wherever it is not sure, before
// it has printed anything.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins/plain"
)

// Exit codes that differ from those of the decisions (show.CheckStatus).
const broken = 1

func main() {
	if status, ok := answer(context.Background(), os.Args[1:], os.Stdout, os.Stderr); ok {
		os.Exit(status)
	}
	err := handOver()
	fmt.Fprintf(os.Stderr, "sallyport: %s\n", show.Printable(err.Error()))
	os.Exit(broken)
}

// whole is the program that this one becomes: it lies in the same directory, whoever calls.
func whole() (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return "", fmt.Errorf("find sallyport-full: %w", err)
	}
	name := filepath.Join(filepath.Dir(self), show.Whole)
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s does not exist, and sallyport alone answers only version and check: install both programs of one release", name)
	}
	return name, nil
}

// environ is the environment of sallyport-full, so that its doctor compares the two programs.
func environ() []string {
	mine := show.FrontVariable + "="
	others := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, mine) })
	return append(others, mine+show.ThisBuild().Build())
}

// answer runs a command line and returns the exit status. ok is false if the command line is not for this program;
// then nothing was printed.
func answer(ctx context.Context, args []string, out, errs io.Writer) (status int, ok bool) {
	a, ok := read(args)
	switch {
	case !ok:
		return 0, false
	case a.version:
		if err := show.ThisBuild().Write(out, a.json); err != nil {
			return broken, true
		}
		return 0, true
	}
	return check(ctx, a, out, errs)
}

// check decides about a command.
func check(ctx context.Context, a asked, out, errs io.Writer) (status int, ok bool) {
	collectLate()
	text, err := show.TextOf(a.text, a.given, a.words, a.dir)
	if err != nil {
		return 0, false
	}
	host, err := config.ThisHost()
	if err != nil {
		return 0, false
	}
	l, err := config.Load(a.config, host)
	if err != nil || len(l.Notes) > 0 {
		return 0, false
	}
	g, err := plain.Assemble(ctx, l, release.Version())
	if err != nil {
		return 0, false
	}
	defer g.Close() //nolint:errcheck // nothing ran and nothing was recorded
	decided, err := g.Check(ctx, engine.Request{Tool: "execute_command", Command: text, WorkDir: a.dir})
	if err != nil || decided.Fault != nil {
		return 0, false
	}
	if a.json {
		err = show.WriteJSON(out, show.CheckedOf(decided))
	} else {
		err = show.WriteDecision(out, decided)
	}
	if err != nil {
		return broken, true
	}
	show.WarnUnconfined(errs, decided, g.Unconfined())
	return show.CheckStatus(decided.Decision.Effect), true
}

// collectLate disables the garbage collector until the heap reaches 128 MiB, as sallyport-full does: a process that
// decides once and ends need not collect. GOGC and GOMEMLIMIT, if set, take precedence.
func collectLate() {
	if os.Getenv("GOGC") == "" && os.Getenv("GOMEMLIMIT") == "" {
		debug.SetGCPercent(-1)
		debug.SetMemoryLimit(128 << 20)
	}
}
