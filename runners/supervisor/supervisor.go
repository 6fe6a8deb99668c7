// Package supervisor starts commands and keeps them: it captures their output within bounds,
// ends them and everything they started, and tells truthfully how they ended.
//
// It is the one place in which a process of a command is started. The local runner uses it
// within sallyport's own process; a program that runs inside a container or on another machine
// can use it in the same way, since a Supervisor needs nothing but the machine it stands on.
//
// It confines nothing: a command sees all files of sallyport's user. It judges nothing
// and does not choose the environment of a command.
//
// # The end of a command's processes
//
// A command runs in a session of its own. When it ends, is killed or exceeds its time, every
// process that descends from it is ended too. On Linux that holds for descendants that changed
// their session, forked twice, ignore signals, are stopped, cleared their environment or closed
// their descriptors (owner_linux.go tells how they are found), and also when sallyport itself is
// killed. It does not hold for processes of another user, which nobody but root can end: they are
// counted as survivors; nor, when sallyport is killed, for a process that has lowered its limit of
// real-time processor time on purpose (ulimit -R), since that was its mark. On other
// systems only the process group is reached. Shortcomings says, at run time, the exceptions.
//
// # Commands of another user
//
// With Options.User a Supervisor that is root, with no more than the rights to change users and to end
// others' processes, runs commands as somebody else. Then none of them can end it or look into it, none
// keeps a capability, and only an elevated one can get any. Its processes are known by a group of their own
// (mark_linux.go). Such a Supervisor must be the only one of its process.
package supervisor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/identity"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Marker is the name of the variable that tells the processes of a command apart.
const Marker = "SALLYPORT_COMMAND"

// DefaultGrace is the time between TERM and KILL of a command that names none.
const DefaultGrace = 400 * time.Millisecond

// Options configure a Supervisor.
type Options struct {
	// Shell runs the texts. Nil looks for bash and then sh on the PATH of each command.
	Shell *Shell
	// User is the user of commands; nil for that of this process. It takes root with the capabilities to set
	// users and groups and to end processes of others, on Linux.
	User *identity.User
	// Rights are the User's on files; nil for those of this process. They stay the caller's.
	Rights *identity.Rights
	// NoSetID keeps commands, but for elevated ones, from making set-user-id and set-group-id files.
	NoSetID bool
	// NoUnixSockets keeps them, but for elevated ones, from sockets of this machine.
	NoUnixSockets bool
	// Expendable lets the kernel, when memory runs out, end processes of commands before us. On Linux.
	Expendable bool
	// After is called when an elevated command has ended, before that is told; its error becomes one of the
	// Exit.
	After func() error

	// Apart is a program (starter.BeParent) that stands between this process and each command, so that a command
	// which kills its parent ends itself, and not this process; "" for none. On Linux, without User;
	// Shortcomings tells where that is not possible.
	Apart string

	// Suspect, when not nil, reports a name at which programs of the user obey a file, and the directory in
	// which they look for it. Such a name is made if engine.Command.MayMake allows it, or if the directory
	// was made since no command ran. On Linux; Shortcomings tells where that is not possible. It does not
	// hold for elevated commands.
	Suspect func(path string) (around string, is bool)

	// Undo, when not nil, says where the files are kept that commands change (package undo). It takes
	// Suspect. Without a place to keep them, Shortcomings tells.
	Undo *undo.RecorderOptions

	// Programs has engine.Command.MayStart asked before programs start, by a program (package starter) that
	// begins each command; the path of that. "" for no questions. On Linux; Shortcomings tells where that is
	// not possible. It does not hold for elevated commands.
	Programs string

	clock clock // nil for that of the machine
}

// Supervisor starts commands. It is safe for concurrent use.
type Supervisor struct {
	opts Options
	host *host
	oom  oomCounter

	mu       sync.Mutex
	closed   bool
	starting sync.WaitGroup // Start calls under way
	begun    int            // their number
	live     map[*Process]struct{}
}

// New prepares the process that it is called in for keeping commands. On Linux the process
// becomes the reaper of its orphaned descendants and stays so after Close.
func New(opts Options) (*Supervisor, error) {
	if opts.clock == nil {
		opts.clock = realClock
	}
	h, err := newHost(opts)
	if err != nil {
		return nil, err
	}
	return &Supervisor{opts: opts, host: h, oom: findOOMCounter(), live: map[*Process]struct{}{}}, nil
}

// Shortcomings lists, for people, promises that this machine cannot keep. It is empty if every process of a
// command is ended even when sallyport itself is killed. Some show only after a first command has started.
func (s *Supervisor) Shortcomings() []string { return s.host.shortcomings() }

// SeesPrograms reports whether engine.Command.MayStart is asked.
func (s *Supervisor) SeesPrograms() bool { return s.host.seesPrograms() }

// Start begins c and returns at once. When ctx ends, the command is killed: a command that is
// to outlive a request needs a context that does too.
//
// A text that cannot be started at all (no shell, no such directory, no time limit) is an error.
func (s *Supervisor) Start(ctx context.Context, c engine.Command) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	l, err := prepare(c, s.opts)
	if err != nil {
		return nil, err
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.leave()
	p, err := s.launch(c, l)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.live[p] = struct{}{}
	s.mu.Unlock()
	go func() {
		p.supervise(ctx)
		s.mu.Lock()
		delete(s.live, p)
		s.mu.Unlock()
		close(p.done)
	}()
	return p, nil
}

// enter registers a start, so that Close cannot overlook the process that comes of it. It forgets the
// directories that commands made if none runs, or may run before its start is over.
func (s *Supervisor) enter() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return errors.New("start command: environment is closed")
	}
	if len(s.live)+s.begun == 0 {
		s.host.forgetMade()
	}
	s.begun++
	s.starting.Add(1)
	return nil
}

// leave ends a start.
func (s *Supervisor) leave() {
	s.mu.Lock()
	s.begun--
	s.mu.Unlock()
	s.starting.Done()
}

// standard opens the standard streams of a command.
func standard(c engine.Command) (stdin *input, stdout, stderr *stream, err error) {
	if c.Terminal != nil {
		return atTerminal(c)
	}
	if stdin, err = newInput(c.Stdin); err != nil {
		return nil, nil, nil, err
	}
	if stdout, err = newStream(c.Output, c.Stdout); err != nil {
		stdin.abandon()
		return nil, nil, nil, err
	}
	if stderr, err = newStream(c.Output, c.Stderr); err != nil {
		stdin.abandon()
		stdout.abandon()
		return nil, nil, nil, err
	}
	return stdin, stdout, stderr, nil
}

func (s *Supervisor) launch(c engine.Command, l launch) (*Process, error) {
	var stdin *input
	var stdout, stderr *stream
	var err error
	// The pipes belong to the user: a command that writes to /dev/stderr by name opens a new one.
	s.opts.Rights.Do(func() { stdin, stdout, stderr, err = standard(c) })
	if err != nil {
		return nil, fmt.Errorf("start command: %w", err)
	}
	started := time.Now()
	before, counted := s.oom.read()
	files := []*os.File{stdin.r, stdout.w, stderr.w}
	if c.Joined {
		files[2] = stdout.w
	}
	if l.terminal {
		files[0], files[2] = stdout.w, stdout.w
	}
	root, err := s.host.start(l, files)
	if err != nil {
		stdin.abandon()
		stdout.abandon()
		stderr.abandon()
		return nil, fmt.Errorf("start command: run %s in %s: %w", l.shell.Path, l.dir, err)
	}
	stdin.begin()
	stdout.begin()
	stderr.begin()
	p := &Process{
		command: c, shell: l.shell, root: root, started: started, clock: s.opts.clock,
		stdin: stdin, stdout: stdout, stderr: stderr,
		kill: make(chan string, 1), done: make(chan struct{}),
	}
	if counted {
		p.oomKills = func() int {
			after, _ := s.oom.read()
			return max(0, after-before)
		}
	}
	if c.Elevated {
		p.after = s.opts.After
	}
	return p, nil
}

// Close ends every command and waits until all are gone. Start refuses afterwards.
func (s *Supervisor) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	s.mu.Unlock()
	s.starting.Wait()

	s.mu.Lock()
	live := make([]*Process, 0, len(s.live))
	for p := range s.live {
		live = append(live, p)
	}
	s.mu.Unlock()
	for _, p := range live {
		p.Kill("environment closed")
	}
	left := 0
	for _, p := range live {
		left += p.Wait().Survivors
	}
	left += s.host.close()
	if left > 0 {
		return fmt.Errorf("close environment: %d processes could not be ended", left)
	}
	return nil
}
