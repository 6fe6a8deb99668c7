// Command sallyport-supervisor runs commands for a sallyport elsewhere, which holds the other end of
// its standard input and output. It judges nothing: the gate there has judged and recorded each
// command. It runs commands as its own user, or, if it is root and its settings say so, as another.
//
// With --init it is the first process of a container and does nothing but clean up.
//
// It is one static file without configuration. When its input ends, it ends everything that it started.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"os/user"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/release"
	"github.com/sallyport-dev/sallyport/runners/canary"
	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/overlay"
	"github.com/sallyport-dev/sallyport/runners/slack"
	"github.com/sallyport-dev/sallyport/runners/starter"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
	"github.com/sallyport-dev/sallyport/runners/undo"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

const usage = `Usage: sallyport-supervisor [--init|--install PATH|--version]

Runs commands for a sallyport at the other end of its standard input and output:

  runners:
    build-box: {command: [ssh, build-box, sallyport-supervisor]}

  --init          be the first process of a container: do nothing, and end what has lost its supervisor
  --install PATH  copy this program to PATH, as an init container does
  --version       say which release this is
`

func run(args []string, in io.ReadCloser, out io.WriteCloser, errs io.Writer) int {
	switch {
	case slices.Equal(args, []string{"--version"}):
		fmt.Fprintf(out, "sallyport-supervisor %s, protocol %d, %s/%s\n", release.Version(), wire.Version,
			runtime.GOOS, runtime.GOARCH)
		return 0
	case slices.Equal(args, []string{"--help"}) || slices.Equal(args, []string{"-h"}):
		fmt.Fprint(out, usage)
		return 0
	case slices.Equal(args, []string{"--init"}):
		return initial(errs)
	case len(args) == 2 && args[0] == "--install":
		if err := install(args[1]); err != nil {
			fmt.Fprintf(errs, "sallyport-supervisor: %v\n", err)
			return 1
		}
		return 0
	case len(args) > 0 && args[0] == starter.Flag: // begin a command and see its programs
		fmt.Fprintf(errs, "sallyport-supervisor: %v\n", starter.Main(args[1:]))
		return 126
	case slices.Equal(args, []string{starter.ParentFlag}): // stand between a supervisor and its commands
		_ = starter.BeParent() // an error means that the supervisor is gone
		return 0
	case len(args) == 2 && args[0] == "--canary": // the trial of a sandbox before its use
		if err := canary.Main(args[1], out); err != nil {
			fmt.Fprintf(errs, "sallyport-supervisor: %v\n", err)
			return 1
		}
		return 0
	case len(args) == 2 && args[0] == "--overlay": // mount the view of a trial and become its sandbox
		fmt.Fprintf(errs, "sallyport-supervisor: %v\n", overlay.Main(args[1]))
		return 1
	case len(args) > 0:
		fmt.Fprintf(errs, "sallyport-supervisor: unknown argument %q\n%s", args[0], usage)
		return 2
	}
	slack.Rerun()
	harden()
	// Asked to stop, it first ends the processes that it started. A reader that is gone shows in the stream.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	signal.Notify(
		make(chan os.Signal, 1), syscall.SIGPIPE) // not to die of it; commands would inherit an ignored signal
	if err := wire.Serve(ctx, &pipes{in, out}, open); err != nil {
		fmt.Fprintf(errs, "sallyport-supervisor: %v\n", err)
		return 1
	}
	return 0
}

// initial is the first process of a container. Asked to stop, it ends at once, and the container with it.
func initial(errs io.Writer) int {
	harden()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if err := supervisor.BeInit(ctx); err != nil {
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

// open makes the environment of this machine. Sallyport's settings come on top of its own.
func open(s wire.Settings) (engine.Environment, wire.Place, error) {
	who := surroundings(s)
	o := local.Options{
		Venv: s.Venv, Host: slices.Concat(os.Environ(), who, s.Env),
		NoSetID: s.NoSetID, NoUnixSockets: s.NoUnixSockets, Roots: s.Roots, Reown: s.Reown, Expendable: true,
		Watched: s.Watched,
	}
	if s.Programs {
		o.Programs = "/proc/self/exe"
	}
	if s.Kept != "" {
		o.Undo = &undo.RecorderOptions{Dir: s.Kept, Most: s.KeptMost}
	}
	if s.User != nil {
		o.User = &identity.User{UID: s.User.UID, GID: s.User.GID, Groups: s.User.Groups}
	}
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
	p := place(r, env)
	for _, kv := range who {
		if home, ok := strings.CutPrefix(kv, "HOME="); ok {
			p.Home = home
		}
	}
	return env, p, nil
}

// surroundings are the variables that name the user of a command, if it is not ours.
func surroundings(s wire.Settings) []string {
	if s.User == nil && s.Home == "" {
		return nil
	}
	home := s.Home
	if s.User == nil {
		return []string{"HOME=" + home}
	}
	name := strconv.Itoa(s.User.UID) // as programs show a user without a name
	if u, err := user.LookupId(name); err == nil {
		name = u.Username
		home = cmp.Or(home, u.HomeDir)
	}
	return []string{"HOME=" + cmp.Or(home, "/"), "USER=" + name, "LOGNAME=" + name}
}

// place tells where this is.
func place(r *local.Runner, env engine.Environment) wire.Place {
	p := wire.Place{Release: release.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, POSIX: r.Shell().POSIX}
	p.Home, _ = os.UserHomeDir()      // none is a fact, not an error
	p.Executable, _ = os.Executable() // likewise
	p.Temporary = []string{"/tmp", "/var/tmp"}
	if t := os.Getenv("TMPDIR"); strings.HasPrefix(t, "/") {
		p.Temporary = append(p.Temporary, t)
	}
	if e, ok := env.(*local.Environment); ok {
		p.Shortcomings, p.Programs = e.Shortcomings(), e.SeesPrograms()
	}
	return p
}
