package supervisor

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// watcher is a small shell process that outlives sallyport for a moment. The kernel kills the shells of
// commands when sallyport dies, but not their children. The watcher reads from a pipe whose other end only
// sallyport holds: when that end closes, sallyport was killed, and the watcher kills all processes that bear
// one of its marks. It costs commands nothing, since it needs no notice of them.
type watcher struct {
	pid  int
	pipe *os.File
}

// watchScript gets the file below /proc/PID that shows a mark as $1 and the pattern of one as $2. Processes
// are stopped before they are killed and looked for again, since they may start others meanwhile.
const watchScript = `trap '' HUP INT TERM
read -r _
cd /proc || exit
round=0
while [ $round -lt 50 ]; do
	found=$(grep -ls "$2" [0-9]*/"$1")
	[ -z "$found" ] && exit
	for sig in STOP KILL; do
		for file in $found; do kill -$sig "${file%/*}" 2>/dev/null; done
	done
	round=$((round + 1))
done`

// startWatcher starts the watcher if there is none. One that cannot start is said in the shortcomings;
// commands run all the same.
func (h *host) startWatcher(shell string) {
	h.mu.Lock()
	missing := h.watch == nil && h.marks != nil
	h.mu.Unlock()
	if !missing {
		return
	}
	_ = h.plain.run(func() error { // like processes that may gain rights, which it has to end
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.watch != nil {
			return nil
		}
		w, err := newWatcher(shell, h.marks)
		if err != nil {
			h.lack = append(
				h.lack, fmt.Sprintf("no watcher: %v: processes of a command may outlive sallyport if that is killed",
					err))
			w = &watcher{}
		}
		h.watch = w
		return nil
	})
}

func newWatcher(shell string, m marks) (*watcher, error) {
	file, pattern := m.shown()
	if _, err := exec.LookPath("grep"); err != nil {
		return nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		w.Close()
		return nil, err
	}
	defer null.Close()
	pid, err := syscall.ForkExec(shell, []string{"sallyport-watcher", "-c", watchScript, "sallyport-watcher",
		file, pattern}, &syscall.ProcAttr{
		Dir: "/", Env: []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C"},
		Files: []uintptr{r.Fd(), null.Fd(), null.Fd()},
		Sys:   &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		w.Close()
		return nil, err
	}
	return &watcher{pid: pid, pipe: w}, nil
}

// close ends the watcher, even a stopped one, and waits for it.
func (w *watcher) close() {
	if w.pipe == nil {
		return
	}
	_ = unix.Kill(w.pid, unix.SIGKILL) // before its input ends
	w.pipe.Close()
	for {
		if _, err := unix.Wait4(w.pid, nil, 0, nil); err != unix.EINTR {
			return
		}
	}
}

// gone reports whether the watcher has ended before its time, and if so reaps it.
func (w *watcher) gone() bool {
	if w.pipe == nil {
		return false
	}
	pid, err := unix.Wait4(w.pid, nil, unix.WNOHANG, nil)
	if err != nil || pid != w.pid {
		return false
	}
	w.pipe.Close()
	return true
}
