package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/resident"
	"github.com/sallyport-dev/sallyport/plugins"
)

// The command lines by which this program speaks to the process that serves.
var (
	askState = []string{"serve", "--status"}
	askStop  = []string{"serve", "--stop"}
	askYield = []string{"serve", "--yield"} // close the containers without a command
)

func (a *app) serveCommand() *cobra.Command {
	var state, stop bool
	var idle time.Duration
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer the hooks and checks of this user's other processes",
		Long: `Answer the hooks and checks of other sallyport processes of this user, with the policies
loaded and the log open, and run their commands in kept containers (docker.keep), until none has come for a
while. The first of them starts this process by itself (resident.start: auto), and does without it until it is
there. Decisions are the same with and without.

The process is private to the user, and to one build of sallyport. Where it cannot be reached, the others do
without it.`,
		Example: `  sallyport serve --status
  sallyport serve --stop`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case state && stop:
				return usageError{errors.New("want either --status or --stop, not both")}
			case state:
				return a.askResident(askState)
			case stop:
				return a.askResident(askStop)
			}
			return a.serve(cmd.Context(), idle)
		},
	}
	cmd.Flags().BoolVar(&state, "status", false, "tell whether the process runs")
	cmd.Flags().BoolVar(&stop, "stop", false, "end the process, after the calls that it answers")
	cmd.Flags().DurationVar(&idle, "idle", 0, "end after that long without a call (default: resident.idle)")
	return cmd
}

// residence is the directory and the view of the resident process, and the program that it runs.
func residence(state string) (dir, view, program string, err error) {
	if dir = resident.Dir(state); dir == "" {
		err = errors.New("there is no state directory: set HOME or XDG_STATE_HOME")
		return "", "", "", fmt.Errorf("find the resident process: %w", err)
	}
	if program, err = os.Executable(); err == nil {
		view, err = resident.View(version().Build())
	}
	if err != nil {
		return "", "", "", fmt.Errorf("find the resident process: %w", err)
	}
	return dir, view, program, nil
}

func (a *app) askResident(words []string) error {
	l, err := a.load()
	if err != nil {
		return err
	}
	said, err := tell(l, words)
	if err != nil {
		a.say("no resident process of this build answers: %s", printable(err.Error()))
		return exitStatus(exitBroken)
	}
	_, err = fmt.Fprintln(a.out, said)
	return err
}

// tell asks the process that serves, and returns its line.
func tell(l *config.Loaded, words []string) (string, error) {
	dir, view, program, err := residence(l.StateDir())
	if err != nil {
		return "", err
	}
	p, err := resident.Find(dir, view, program, resident.Patience)
	if err != nil {
		return "", err
	}
	answer, err := p.Ask(resident.Call{Args: words}, nil, hooks.Longest)
	if err == nil && answer.Status != 0 {
		err = errors.New(strings.TrimSpace(string(answer.Err)))
	}
	return string(answer.Out), err
}

// startResident starts the resident process if this one has stood in for it: it was started by the front,
// which had found none.
func (a *app) startResident(l *config.Loaded) {
	if a.front == "" || a.gates != nil || l == nil || l.Resident.Start != "auto" {
		return
	}
	dir, view, program, err := residence(l.StateDir())
	if err != nil || resident.Served(dir, view) {
		return
	}
	needed := []string{"HOME", "PATH", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "SYSTEMROOT"}
	environ := slices.DeleteFunc(slices.Clone(l.Environ()), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return !slices.Contains(needed, name)
	})
	argv := []string{program, "serve", "--idle", time.Duration(l.Resident.Idle).String()}
	if err := resident.Start(argv, environ); err != nil && a.verbose > 0 {
		a.warn(err) // the next call is answered without it, too
	}
}

// serve answers calls until the process has been idle, or is ended.
func (a *app) serve(ctx context.Context, idle time.Duration) (err error) {
	collectAsUsual()
	l, err := a.load()
	if err != nil && idle == 0 {
		return err
	}
	var state string
	if l != nil {
		state = l.StateDir()
		if idle == 0 {
			idle = time.Duration(l.Resident.Idle)
		}
	} else if host, failed := a.host(); failed == nil { // each call has a configuration of its own
		state = config.StateDir(host)
	}
	dir, view, program, err := residence(state)
	if err != nil {
		return err
	}
	ctx, cancel := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer cancel()
	gates, warm := plugins.NewKeeper(), &plugins.Warm{}
	defer func() { err = errors.Join(err, gates.Close(), warm.Yield()) }()
	began := time.Now()
	return resident.Serve(ctx, resident.Options{
		Dir: dir, View: view, Program: program, Idle: idle, Otherwise: unanswered,
		Answer: func(ctx context.Context, c resident.Call) resident.Answer {
			switch {
			case slices.Equal(c.Args, askStop), slices.Equal(c.Args, askYield):
				said := ""
				if slices.Equal(c.Args, askStop) {
					cancel()
					said = "stopped"
				}
				if err := warm.Yield(); err != nil { // the caller finds the containers closed
					return resident.Answer{Status: exitBroken, Err: []byte(err.Error())}
				}
				return resident.Answer{Out: []byte(said)}
			case slices.Equal(c.Args, askState):
				return resident.Answer{Out: fmt.Appendf(nil, "process %d, since %s, gates: %d", os.Getpid(),
					began.UTC().Format(time.RFC3339), gates.Len())}
			}
			return answer(ctx, gates, warm, c)
		},
	})
}

// answer runs the command line of another process as that process would.
func answer(ctx context.Context, gates *plugins.Keeper, warm *plugins.Warm, c resident.Call) resident.Answer {
	var out, errs bytes.Buffer
	a := &app{
		in: bytes.NewReader(c.Input), out: &out, err: &errs, leave: leaveTime, gates: gates,
		asker: c.Process,
		host:  func() (config.Host, error) { return hostOf(c), nil },
	}
	root := a.bareRoot()
	if c.Live != nil {
		a.live = &running{Live: c.Live, ctx: ctx, warm: warm}
		root.AddCommand(a.execCommand())
		return resident.Answer{Status: a.execute(ctx, root, c.Args)}
	}
	root.AddCommand(a.checkCommand(), a.hookCommand())
	code := a.execute(ctx, root, c.Args)
	return resident.Answer{Status: code, Out: out.Bytes(), Err: errs.Bytes()}
}

// running is a command of another process that runs in this one.
type running struct {
	*resident.Live
	ctx  context.Context // ends with the other process
	warm *plugins.Warm
}

// errAlone is why the other process must run its command itself.
var errAlone = errors.New("nothing of this command is kept here")

// assembler returns the function that makes the gate of a command. In the resident process it is one for
// commands that gain by it, once the other process waits for the answer.
func (a *app) assembler(l *config.Loaded, f execFlags) (
	func(context.Context, *config.Loaded, plugins.Options) (*plugins.Sallyport, error), error,
) {
	helps := (&plugins.Warm{}).Helps(l)
	if a.live == nil {
		yieldContainers(l)
		return plugins.Assemble, nil
	}
	if !helps || f.stdin || f.tty || f.trial() != "" {
		return nil, errAlone
	}
	if err := a.live.Accept(); err != nil {
		return nil, err
	}
	said := a.err.(*bytes.Buffer)
	a.out, a.err = &output{a.live, a.live.Out}, &output{a.live, a.live.Err}
	_, err := said.WriteTo(a.err)
	return a.live.warm.Assemble, err
}

// yieldContainers has the resident process close the containers that no command uses. One of them may have to
// be made anew.
func yieldContainers(l *config.Loaded) {
	if (&plugins.Warm{}).Helps(l) {
		_, _ = tell(l, askYield) // without such a process there is none
	}
}

// output is an output of the other process. A reader of it that has gone away is the signal that it would be
// there. Nothing waits for a reader once the other process has gone.
type output struct {
	live *running
	file *os.File
}

func (o *output) Write(p []byte) (int, error) {
	type written struct {
		n   int
		err error
	}
	done := make(chan written, 1)
	text := bytes.Clone(p)
	go func() {
		n, err := o.file.Write(text)
		done <- written{n, err}
	}()
	select {
	case w := <-done:
		if errors.Is(w.err, syscall.EPIPE) {
			select {
			case o.live.Signals <- syscall.SIGPIPE:
			default:
			}
		}
		return w.n, w.err
	case <-o.live.ctx.Done():
		return 0, o.live.ctx.Err()
	}
}

// hostOf is config.ThisHost of the process that has sent a call.
func hostOf(c resident.Call) config.Host {
	getenv := func(name string) string {
		for _, v := range slices.Backward(c.Environ) {
			if value, ok := strings.CutPrefix(v, name+"="); ok {
				return value
			}
		}
		return ""
	}
	program, _ := os.Executable() // "" where it is unknown
	return config.Host{
		Dir: c.Dir, Home: getenv("HOME"), Executable: program, Getenv: getenv, Environ: c.Environ,
		Now: time.Now(),
	}
}

// unanswered is the answer of a call whose exchange breaks off.
func unanswered(c resident.Call) resident.Answer {
	err := errors.New("the resident process ended before it answered")
	args := c.Args
	if len(args) > 1 && args[0] == "--config" {
		args = args[2:]
	}
	if c.Live != nil {
		err = errors.New("the resident process ended before it told the end of the command")
		return resident.Answer{Status: execBroken, Err: []byte("sallyport: " + err.Error() + "\n")}
	}
	if len(args) > 1 && args[0] == "hook" {
		if h, known := hooks.Named(args[1]); known == nil {
			var out, errs bytes.Buffer
			code := h.Break(&out, &errs, err)
			return resident.Answer{Status: code, Out: out.Bytes(), Err: errs.Bytes()}
		}
		return resident.Answer{Status: hooks.Refused, Err: []byte("sallyport: " + err.Error() + "\n")}
	}
	return resident.Answer{Status: exitBroken, Err: []byte("sallyport: " + err.Error() + "\n")}
}
