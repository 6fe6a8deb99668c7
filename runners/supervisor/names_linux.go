package supervisor

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/notify"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

const (
	// maxAsked bounds the names that one command is asked about.
	maxAsked = 500
	// maxMoved bounds the files of a directory that are looked at when it gets a name.
	maxMoved = 2000
)

// lackNames is the shortcoming where names are not asked about.
const lackNames = "files that programs of yours would obey are looked for at the end of a command only (%s)"

// lackUndo is the shortcoming where changes are not recorded.
const lackUndo = "changes of files cannot be taken back by sallyport env undo (%s)"

// prepareNames makes the service that performs the calls of commands that make names.
func (h *host) prepareNames(o Options) {
	options := notify.Options{Rights: o.Rights, Decision: h.decisionOf, Starts: h.mayStart,
		Compared: h.compared}
	if o.Suspect != nil {
		options.Judge = h.mayMake
	}
	var err error
	if o.Undo != nil {
		if h.recorder, err = undo.Open(*o.Undo); err != nil {
			h.lack = append(h.lack, fmt.Sprintf(lackUndo, err))
		}
		options.Recorder = h.recorder
	}
	if h.names, err = notify.New(options); err != nil {
		h.withoutNames(err)
	}
}

// decisionOf names the command that a thread belongs to; "" if none can be told.
func (h *host) decisionOf(pid int) string {
	if r := h.commandOf(pid); r != nil {
		return r.id
	}
	return ""
}

// withoutNames goes on without the service.
func (h *host) withoutNames(why error) {
	h.lack = append(h.lack, fmt.Sprintf(lackNames, why))
	if h.names != nil {
		h.names.Close()
		h.names = nil
	}
	if h.recorder != nil {
		h.lack = append(h.lack, fmt.Sprintf(lackUndo, "no calls are handed over"))
		h.recorder.Close()
		h.recorder = nil
	}
}

// forgetMade forgets the directories that commands made: none runs.
func (h *host) forgetMade() {
	if h.names != nil {
		h.names.Forget()
	}
}

// tryNames lets a child of this thread make a name, which takes a kernel that lets us read it.
func tryNames(o Options) error {
	shell := o.Shell
	if shell == nil {
		found, err := FindShell(os.Getenv("PATH"))
		if err != nil {
			return err
		}
		shell = &found
	}
	attr := &syscall.ProcAttr{Dir: "/", Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}}
	if o.User != nil {
		attr.Sys.Credential = credential(*o.User, 0)
		groups := &attr.Sys.Credential.Groups
		*groups = (*groups)[:len(*groups)-1] // without the mark of a command
	}
	pid, err := syscall.ForkExec(shell.Path, []string{"sh", "-c", ": > /dev/null"}, attr)
	if err != nil {
		return fmt.Errorf("try to make a name: %w", err)
	}
	var ws unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return fmt.Errorf("try to make a name: %w", err)
		case ws != 0:
			return errors.New("a trial failed: the kernel does not let the supervisor read the memory of " +
				"commands (kernel.yama.ptrace_scope must be 0 or 1)")
		}
		return nil
	}
}

// askedNames are the answers about the names of a command.
type askedNames struct {
	may func(path string) bool // nil allows all

	mu    sync.Mutex
	known map[string]bool
}

// ask returns the answer about a name, the same for each time.
func (a *askedNames) ask(name string) bool {
	if a.may == nil {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	may, known := a.known[name]
	if !known && len(a.known) < maxAsked {
		if a.known == nil {
			a.known = map[string]bool{}
		}
		may = a.may(name)
		a.known[name] = may
	}
	return may
}

// mayMake decides about a name before it is made.
func (h *host) mayMake(n notify.Name) bool {
	if n.Kind == notify.Dir || n.Kind == notify.Other {
		return true
	}
	if !n.Tree {
		return h.mayMakeFile(n, n.Path)
	}
	if around, _ := h.obeyed(path.Join(n.Path, "x")); around == "" || around == n.Path {
		return true // its files did not change
	}
	may, count := true, 0
	_ = filepath.WalkDir(n.From, func(p string, d fs.DirEntry, err error) error {
		if count++; count > maxMoved {
			may = false
		}
		if may && err == nil && !d.IsDir() {
			may = h.mayMakeFile(n, n.Path+strings.TrimPrefix(p, n.From))
		}
		if !may {
			return fs.SkipAll
		}
		return nil
	})
	return may
}

func (h *host) mayMakeFile(n notify.Name, name string) bool {
	around, is := h.obeyed(name)
	if !is && n.Kind == notify.Link {
		// A link in the place of a directory in which files are looked for.
		above, _ := h.obeyed(path.Join(name, "x"))
		is = above != "" && above != name
	}
	if !is {
		folded := fold(name)
		if around, is = h.obeyed(folded); is && (folded == name || !n.Folds()) {
			return true
		}
		name = folded
	}
	if !is || h.names.Made(around) {
		return true
	}
	r := h.commandOf(n.PID)
	return r != nil && r.names.ask(name)
}

// fold returns the name that a file system which ignores case takes for the same (fs/unicode of the kernel):
// letters are small, and characters that are not shown are left out.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case 'ſ':
			return 's'
		case 'K': // the sign for kelvin
			return 'k'
		}
		if r >= 0x80 {
			return -1
		}
		return r
	}, strings.ToLower(name))
}

// commandOf returns the command that a thread belongs to; nil if none can be told. The shell of a command
// that is starting below a stand-in may run before its number is known here: commandOf waits for that.
func (h *host) commandOf(pid int) *root {
	h.mu.Lock()
	defer h.mu.Unlock()
	last := h.begins
	for {
		r, starting := h.ownerOf(pid), false
		for number := range h.beginning {
			starting = starting || number <= last
		}
		if r != nil || !starting {
			return r
		}
		h.begun.Wait()
	}
}

// ownerOf looks for the command of a thread among its ancestors. The caller holds h.mu.
func (h *host) ownerOf(pid int) *root {
	for range 1000 {
		p, err := readProc(pid)
		if err != nil || pid <= 1 {
			return nil
		}
		if r := h.roots[p.sid]; r != nil {
			return r
		}
		if p.ppid == h.self {
			r, _ := h.orphan(p)
			return r
		}
		pid = p.ppid
	}
	return nil
}
