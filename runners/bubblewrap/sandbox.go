//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/overlay"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
	"github.com/sallyport-dev/sallyport/runners/undo"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Supported says whether this build has the sandbox.
const Supported = true

// startTime is how long a sandbox may take until its supervisor answers.
const startTime = 20 * time.Second

// endMargin is the time past its limit within which the end of a command must be told. After it the sandbox
// is ended.
const endMargin = 10 * time.Second

// launch is a sandbox that is being made.
type launch struct {
	o     Options
	files []*os.File // descriptors of bwrap, from 3 on
	args  []string
}

func (l *launch) close() {
	for _, f := range l.files {
		_ = f.Close()
	}
}

// pass gives bwrap a descriptor and returns its number there.
func (l *launch) pass(f *os.File) int {
	l.files = append(l.files, f)
	return 2 + len(l.files)
}

// memory gives bwrap a file in memory.
func (l *launch) memory(data []byte) (int, error) {
	fd, err := unix.MemfdCreate("sallyport", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, fmt.Errorf("make file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "sallyport")
	n := l.pass(f)
	if _, err := f.WriteAt(data, 0); err != nil {
		return 0, fmt.Errorf("make file in memory: %w", err)
	}
	return n, nil
}

// store gives bwrap the directory in which changed files are kept, and returns its path for the supervisor:
// no place of the sandbox, and out of reach of commands.
func (l *launch) store(s *undo.Store) (string, error) {
	if s == nil {
		return "", nil
	}
	dir, err := os.Open(s.Kept())
	if err != nil {
		return "", fmt.Errorf("start sandbox: %w", err)
	}
	return fmt.Sprintf("/proc/self/fd/%d", l.pass(dir)), nil
}

// box is a running bwrap with a supervisor that answers.
type box struct {
	*wire.Environment
	program  *supervisor.Program
	init     int                    // process id, here, of the first process in it
	ended    atomic.Pointer[string] // why we ended it; nil while we did not
	devices  []string               // of the overlays of a trial, "major:minor"
	near     *near
	prefixed func(text string, posix bool) string
}

// end ends everything in the sandbox at once, and keeps the reason for later callers.
func (b *box) end(why string) {
	b.ended.Store(&why)
	_ = unix.Kill(b.init, unix.SIGKILL)
}

// explain adds the fix to the error of a connection that cannot be made or broke.
func (b *box) explain(err error, reached bool) error {
	if why := b.ended.Load(); why != nil {
		return fmt.Errorf("the sandbox was ended: %s: the next request makes a new one", *why)
	}
	if errors.Is(err, wire.ErrSilent) && b.init > 0 {
		_ = unix.Kill(b.init, unix.SIGKILL) // and with it the kernel ends everything in the sandbox
	}
	return explain(b.program.Explain(err), reached)
}

// start runs bwrap with a view and greets the supervisor in it.
func start(ctx context.Context, o Options, v *view, workspace string, store *undo.Store) (*box, error) {
	l := &launch{o: o}
	defer l.close()
	if err := l.arrange(v); err != nil {
		return nil, err
	}
	kept, err := l.store(store)
	if err != nil {
		return nil, err
	}
	// Not a pipe: when nobody reads that any more bwrap ends where it writes to it, and leaves a child that
	// waits for ever.
	status, err := l.memory(nil)
	if err != nil {
		return nil, err
	}
	said := l.files[len(l.files)-1]
	l.args = append(l.args, "--json-status-fd", strconv.Itoa(status))
	argv, err := l.memory([]byte(strings.Join(l.args, "\x00") + "\x00"))
	if err != nil {
		return nil, err
	}
	program := supervisor.ProgramOptions{
		Command: []string{o.Bwrap, "--args", strconv.Itoa(argv), supervisorAt},
		Env:     outer(o.Environ), Bound: true, Ours: true,
	}
	var devices *os.File
	if o.trial != nil {
		if devices, err = l.overlaid(&program); err != nil {
			return nil, err
		}
	}
	program.Files = l.files
	p, err := supervisor.OpenProgramWith(program)
	if err != nil {
		return nil, unavailable("install bubblewrap (Debian, Ubuntu, Fedora: package bubblewrap)", "%w", err)
	}
	b := &box{program: p}
	var reached atomic.Bool
	options := o.wire(workspace)
	options.Watched = v.watched()
	if kept != "" {
		options.Kept, options.KeptMost = kept, store.Most()
		options.Ended = func(id string) { _ = store.Ended(id) } // without it env undo leaves the files
	}
	b.prefixed = options.Prefixed
	options.Explain = func(err error) error { return b.explain(err, reached.Load()) }
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	if b.Environment, err = wire.Connect(ctx, p, options); err != nil {
		return nil, err
	}
	reached.Store(true)
	b.init, err = initOf(said)
	if err == nil && o.trial != nil {
		b.devices, err = overlay.Devices(devices, len(o.trial.Roots()))
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	b.near = nearTo(b.init, workspace) // of that process: it answers in the trial that follows
	return b, nil
}

// wire are the supervisor's options.
func (o Options) wire(workspace string) wire.Options {
	out := wire.Options{
		Settings:  wire.Settings{Workspace: workspace, Venv: o.Venv, Env: o.Environ, Programs: o.Programs},
		EndMargin: endMargin,
	}
	if prefix := strings.TrimSpace(o.Prefix); prefix != "" {
		out.Prefixed = func(text string, posix bool) string { return local.Prefixed(prefix, text, posix) }
	}
	return out
}

// arrange builds the arguments of bwrap.
func (l *launch) arrange(v *view) error {
	l.args = append(l.args,
		"--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session", "--cap-drop",
		"ALL",
		"--as-pid-1", // the kernel withholds KILL and STOP of its descendants from it
		"--hostname", "sandbox", "--clearenv")
	if l.o.Network == "host" {
		l.args = append(l.args, "--share-net")
	}
	for _, kv := range outer(l.o.Environ) {
		name, value, _ := strings.Cut(kv, "=")
		l.args = append(l.args, "--setenv", name, value)
	}
	mounts, err := v.arguments(l.memory)
	if err != nil {
		return err
	}
	l.args = append(l.args, mounts...)
	l.args = append(l.args, "--proc", "/proc", "--dev", "/dev", "--perms", "1777", "--size",
		fmt.Sprint(l.o.Scratch), "--tmpfs", "/dev/shm", "--ro-bind", l.o.Supervisor, supervisorAt)
	for _, p := range []string{"/proc/sys"} { // root without rights still owns them
		if _, err := os.Lstat(p); err == nil {
			l.args = append(l.args, "--ro-bind", p, p)
		}
	}
	for _, p := range ofTheMachine {
		if _, err := os.Lstat(p); err == nil {
			l.args = append(l.args, "--ro-bind", "/dev/null", p) // without devices, it cannot be opened
		}
	}
	l.args = append(l.args, "--remount-ro", "/run", "--remount-ro", "/dev", "--remount-ro", "/")
	rules, err := filter(l.o.UnixSockets)
	if err != nil {
		return err
	}
	fd, err := l.memory(rules)
	if err != nil {
		return err
	}
	l.args = append(l.args, "--seccomp", strconv.Itoa(fd), "--chdir", "/")
	return nil
}

// ofTheMachine are files of /proc that describe the machine and its users, and not the sandbox. Engines of
// containers hide most of them, too.
var ofTheMachine = []string{
	"/proc/cmdline", "/proc/config.gz", "/proc/kcore", "/proc/key-users", "/proc/keys", "/proc/timer_list",
}

// outer are the variables of bwrap and of the supervisor themselves: those that name places. The variables of
// a command travel over the stream, where no process list shows them.
func outer(environ []string) []string {
	var out []string
	for _, kv := range environ {
		switch name, _, _ := strings.Cut(kv, "="); name {
		case "PATH", "HOME", "TMPDIR":
			out = append(out, kv)
		}
	}
	return out
}

// initOf reads the process id of the sandbox's first process from bwrap's output, which is complete before
// that process runs.
func initOf(status *os.File) (int, error) {
	var s struct {
		Child int `json:"child-pid"`
	}
	if err := json.NewDecoder(io.NewSectionReader(status, 0, 1<<16)).Decode(&s); err != nil || s.Child <= 0 {
		return 0, fmt.Errorf("start sandbox: bwrap does not say which process it is: %w", err)
	}
	return s.Child, nil
}

// locate finds bwrap and the supervisor of this sallyport. They are not looked for where commands write,
// though PATH may lead there, as that of a virtual environment in the workspace does: they would be a
// command's.
func (o *Options) locate(roots []facts.Root) error {
	dirs := filepath.SplitList(valueOf(o.Environ, "PATH"))
	if o.Bwrap == "" {
		o.Bwrap = lookUp("bwrap", append([]string{"/usr/bin"}, dirs...), roots)
	}
	if o.Bwrap == "" {
		if at := lookUp("bwrap", append([]string{"/usr/bin"}, dirs...), nil); at != "" {
			return unavailable("grant a smaller place for writing",
				"%s lies where commands may write: it could be theirs", at)
		}
		return unavailable("install it (Debian, Ubuntu, Fedora: package bubblewrap)", "bwrap is not in PATH")
	}
	const name = "sallyport-supervisor"
	var found string
	switch {
	case o.Supervisor != "":
		found = lookUp(filepath.Base(o.Supervisor), []string{filepath.Dir(o.Supervisor)}, nil)
	default:
		// Beside sallyport it is as safe as that.
		if found = lookUp(name, []string{o.Beside}, nil); found == "" {
			found = lookUp(name, dirs, roots)
		}
	}
	if found == "" {
		return unavailable("make build puts it there; or set supervisor in the configuration",
			"%s is not beside sallyport", name)
	}
	o.Supervisor = found
	return nil
}

// lookUp finds a program in one of several directories, outside of the roots that grant writing.
func lookUp(name string, dirs []string, roots []facts.Root) string {
	for _, dir := range dirs {
		if !filepath.IsAbs(dir) {
			continue
		}
		real, err := filepath.EvalSymlinks(filepath.Join(dir, name))
		writable := func(r facts.Root) bool { return r.Write && (within(real, r.Path) || within(dir, r.Path)) }
		if err == nil && unix.Access(real, unix.X_OK) == nil && !slices.ContainsFunc(roots, writable) {
			return real
		}
	}
	return ""
}

func valueOf(env []string, name string) string {
	for _, kv := range env {
		if n, v, ok := strings.Cut(kv, "="); ok && n == name {
			return v
		}
	}
	return ""
}
