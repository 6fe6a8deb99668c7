package supervisor

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/notify"
	"github.com/sallyport-dev/sallyport/runners/starter"
)

const (
	// handoverTime bounds the wait for the program that begins a command, on a busy machine.
	handoverTime = time.Minute
	// maxWay bounds the processes that are named between a program and its command, and maxStep the bytes of
	// the words of each. Words are whole: a part of a secret is not known for one.
	maxWay, maxStep = 8, 600
)

// lackPrograms is the shortcoming where programs are not seen.
const lackPrograms = "the programs that a command starts are not judged (%s)"

// trial is the decision id of the start that is tried out.
const trial = "trial"

// programs are the starts of a command.
type programs struct {
	may func(engine.Program) engine.Verdict // nil: nobody is asked
	env []string                            // of the command

	uncompared atomic.Int64

	once sync.Once
	base map[string]string
}

// changes returns the differences between the variables of a program and those of the command.
func (s *programs) changes(env []string) (set, lost []string) {
	s.once.Do(func() {
		s.base = make(map[string]string, len(s.env))
		for _, kv := range s.env {
			name, value, _ := strings.Cut(kv, "=")
			s.base[name] = value
		}
	})
	have := make(map[string]bool, len(env))
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		had, known := s.base[name]
		if !known || had != value || have[name] {
			set = append(set, kv)
		}
		have[name] = true
	}
	for _, kv := range s.env {
		if name, _, _ := strings.Cut(kv, "="); !have[name] {
			lost = append(lost, name)
		}
	}
	return set, lost
}

// mayStart asks about a program of a command.
func (h *host) mayStart(decision string, p notify.Program, waits func()) bool {
	if decision == trial {
		h.tried.Store(true)
		return true
	}
	r := h.rootOf(decision)
	if r == nil || r.programs.may == nil {
		return r != nil
	}
	e := engine.Program{
		Path: p.Path, File: p.File, Dir: p.Dir, Argv: p.Argv, By: p.By, Begun: p.Begun, ELF: p.ELF,
		Waits: waits,
	}
	e.Set, e.Lost = r.programs.changes(p.Env)
	e.Way = func() []string { return h.wayTo(p.PID, r) }
	return r.programs.may(e).May
}

// compared counts the programs that could not be compared after their start.
func (h *host) compared(decision string, _ notify.Program, c notify.Comparison) {
	if r := h.rootOf(decision); r != nil && c == notify.Uncertain {
		r.programs.uncompared.Add(1)
	}
}

// rootOf returns the shell of a decision; nil if there is none, or if several have that decision.
func (h *host) rootOf(decision string) (of *root) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.roots {
		switch {
		case r.id != decision:
		case of != nil:
			return nil
		default:
			of = r
		}
	}
	return of
}

// wayTo lists the words of the processes from a command's shell down to the one that executes a program,
// without the shell, which may have become another program. One that has its parent's words has executed
// nothing since its fork.
func (h *host) wayTo(pid int, r *root) (way []string) {
	h.rights.Do(func() {
		for len(way) < maxWay && pid > 1 && pid != h.self {
			way = append(way, step(commandLine(pid)))
			if pid == r.pid {
				break
			}
			p, err := readProc(pid)
			if err != nil {
				break
			}
			pid = p.ppid
		}
	})
	slices.Reverse(way)
	way = slices.Compact(way)
	if len(way) > 0 && way[0] == step([]byte(strings.Join(r.first.Argv, "\x00"))) {
		way = way[1:]
	}
	return way
}

// commandLine reads the first words of a process, so many that a step has no room for others.
func commandLine(pid int) []byte {
	fd, err := unix.Open("/proc/"+strconv.Itoa(pid)+"/cmdline", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = unix.Close(fd) }() // it was only read
	line := make([]byte, 4*maxStep)
	n, _ := unix.Read(fd, line)
	return line[:max(n, 0)]
}

// step shows the words of a process, as they stand in /proc.
func step(line []byte) string {
	words := strings.Split(strings.TrimRight(string(line), "\x00"), "\x00")
	left := maxStep
	for i, w := range words {
		if left -= len(w); left < 0 {
			words = append(words[:i:i], "…")
			break
		}
	}
	return strings.Join(words, " ")
}

// seen makes the shell of a command one that the starter becomes. done frees the handover.
func (h *host) seen(r *root, l *launch) (over *starter.Handover, done func(), err error) {
	if over, err = starter.NewHandover(); err != nil {
		return nil, nil, fmt.Errorf("start command: %w", err)
	}
	r.first = notify.Program{Path: l.shell.Path, Argv: l.argv}
	l.argv = starter.Words(h.starter, starter.Options{Record: h.recorder != nil}, l.shell.Path, l.argv)
	l.shell.Path, l.begun = h.starter, true
	return over, over.Close, nil
}

// handOver takes the listener of the program that begins a command, and lets it become the command.
func (h *host) handOver(over *starter.Handover, r *root) error {
	listener, err := over.Listener(handoverTime)
	if err == nil {
		err = h.names.Serve(listener, r.id, r.first)
	}
	if err == nil {
		err = over.Begin()
	}
	if err != nil {
		return fmt.Errorf("see the programs of a command: %w", err)
	}
	return nil
}

func (h *host) seesPrograms() bool { return h.starter != "" }

// prepareStarter looks whether programs can be seen, by a start that is.
func (h *host) prepareStarter(o Options) {
	h.starter = o.Programs
	if err := h.tryStarter(o); err != nil {
		h.starter = ""
		h.lack = append(h.lack, fmt.Sprintf(lackPrograms, err))
	}
}

// tryStarter starts a shell with a program that it becomes.
func (h *host) tryStarter(o Options) error {
	shell := o.Shell
	if shell == nil {
		found, err := FindShell(os.Getenv("PATH"))
		if err != nil {
			return err
		}
		shell = &found
	}
	r := &root{host: h, id: trial}
	l := launch{shell: *shell, argv: []string{"sh", "-c", `exec "` + shell.Path + `" -c ": > /dev/null"`}}
	over, done, err := h.seen(r, &l)
	if err != nil {
		return err
	}
	defer done()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { _ = null.Close() }()
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer func() { _ = read.Close() }()
	attr := &syscall.ProcAttr{
		Dir: "/", Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL},
		Files: []uintptr{null.Fd(), null.Fd(), write.Fd(), over.Descriptor().Fd()},
	}
	if o.User != nil {
		attr.Sys.Credential = credential(*o.User, 0)
		groups := &attr.Sys.Credential.Groups
		*groups = (*groups)[:len(*groups)-1] // without the mark of a command
	}
	pid, err := syscall.ForkExec(l.shell.Path, l.argv, attr)
	_ = write.Close()
	if err != nil {
		return fmt.Errorf("start %s: %w", l.shell.Path, err)
	}
	failed := h.handOver(over, r)
	done()
	said := make([]byte, 1000)
	n, _ := read.Read(said)
	var ws unix.WaitStatus
	for waiting := true; waiting; {
		_, err = unix.Wait4(pid, &ws, 0, nil)
		waiting = errors.Is(err, unix.EINTR)
	}
	switch {
	case failed != nil:
		return errors.Join(failed, errors.New(strings.TrimSpace(string(said[:n]))))
	case ws != 0 || !h.tried.Load():
		return fmt.Errorf("a trial failed: %s", strings.TrimSpace(string(said[:n])))
	}
	return nil
}
