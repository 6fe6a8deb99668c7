// Command sallyport-supervisor runs commands for a sallyport elsewhere, which holds the other end of
// its standard input and output. It judges nothing: what reaches it was decided upon and recorded
// there. It is started by whoever has the right to run commands here, and runs them as that user.
//
// It is one static file without configuration. When its input ends, it ends everything that it started.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

const usage = `Usage: sallyport-supervisor [--version]

Runs commands for a sallyport at the other end of its standard input and output:

  runners:
    build-box: {command: [ssh, build-box, sallyport-supervisor]}
`

func run(args []string, in io.ReadCloser, out io.WriteCloser, errs io.Writer) int {
	switch {
	case slices.Equal(args, []string{"--version"}):
		fmt.Fprintf(out, "sallyport-supervisor %s, protocol %d, %s/%s\n", release(), wire.Version, runtime.GOOS, runtime.GOARCH)
		return 0
	case slices.Equal(args, []string{"--help"}) || slices.Equal(args, []string{"-h"}):
		fmt.Fprint(out, usage)
		return 0
	case len(args) > 0:
		fmt.Fprintf(errs, "sallyport-supervisor: unknown argument %q\n%s", args[0], usage)
		return 2
	}
	// Asked to stop, it ends what it started first. A reader that is gone shows in the stream.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	signal.Ignore(syscall.SIGPIPE)
	if err := wire.Serve(ctx, &pipes{in, out}, open); err != nil {
		fmt.Fprintf(errs, "sallyport-supervisor: %v\n", err)
		return 1
	}
	return 0
}

// pipes is standard input and output as one stream.
type pipes struct {
	io.ReadCloser
	out io.WriteCloser
}

func (p *pipes) Write(b []byte) (int, error) { return p.out.Write(b) }

func (p *pipes) Close() error { return errors.Join(p.ReadCloser.Close(), p.out.Close()) }

// open makes the environment of this machine. What sallyport asks for comes on top of what it has.
func open(s wire.Settings) (engine.Environment, wire.Place, error) {
	o := local.Options{Venv: s.Venv, Host: slices.Concat(os.Environ(), s.Env)}
	for _, kv := range s.Env {
		name, _, _ := strings.Cut(kv, "=")
		o.Env = append(o.Env, name)
	}
	r, err := local.New(o)
	if err != nil {
		return nil, wire.Place{}, err
	}
	var spec engine.EnvironmentSpec
	spec.Layout = facts.Layout{Workspace: s.Workspace}
	env, err := r.Open(context.Background(), spec)
	if err != nil {
		return nil, wire.Place{}, err
	}
	return env, place(r, env), nil
}

// place tells where this is.
func place(r *local.Runner, env engine.Environment) wire.Place {
	p := wire.Place{Release: release(), OS: runtime.GOOS, Arch: runtime.GOARCH, POSIX: r.Shell().POSIX}
	p.Home, _ = os.UserHomeDir()      // none is a fact, not an error
	p.Executable, _ = os.Executable() // likewise
	p.Temporary = []string{"/tmp", "/var/tmp"}
	if t := os.Getenv("TMPDIR"); strings.HasPrefix(t, "/") {
		p.Temporary = append(p.Temporary, t)
	}
	if e, ok := env.(interface{ Shortcomings() []string }); ok {
		p.Shortcomings = e.Shortcomings()
	}
	return p
}

// release is the version that was built, as sallyport itself has it.
func release() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "unknown"
}
