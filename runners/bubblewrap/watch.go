//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"fmt"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// watch ends the sandbox when something that is to lie on top of a writable place is there no more. That
// takes no attack: a program outside that puts a new file in the place of a protected one, as git does with
// its configuration, takes the mount on the old one away from every view. The kernel tells of it at once.
func (e *Environment) watch(v *view) error {
	table, err := os.Open(fmt.Sprintf("/proc/%d/mountinfo", e.init))
	if err != nil {
		return fmt.Errorf("start sandbox: watch its mounts: %w", err)
	}
	go func() {
		defer table.Close()
		for {
			select {
			case <-e.program.Done():
				return
			default:
			}
			if gone := e.gone(v); gone != "" {
				e.lose(gone)
				return
			}
			// A change of the mounts is exceptional data (proc_pid_mounts(5)).
			events := []unix.PollFd{{Fd: int32(table.Fd()), Events: unix.POLLPRI}}
			_, _ = unix.Poll(events, int(watchEvery/time.Millisecond))
		}
	}()
	return nil
}

// watchEvery is how often it is looked whether the sandbox has ended.
const watchEvery = time.Second

// gone returns a place that lay on top of a granted one and does not any more; "" for none.
func (e *Environment) gone(v *view) string {
	inside, err := mountsOf(fmt.Sprint(e.init))
	if err != nil || len(inside) == 0 {
		return "" // it has ended, and with it all mounts
	}
	at := map[string]bool{}
	for _, m := range inside {
		// Where the source was taken away, the mount may be left, on nothing.
		at[m.at] = !strings.HasSuffix(m.root, "//deleted")
	}
	for _, m := range v.sorted() {
		if (m.kind == readOnly || m.kind == writable) && !at[m.at] && m.at != trialAt {
			return m.at
		}
	}
	return ""
}

// lose ends a sandbox with a hole in its protection, and notifies the operator.
func (e *Environment) lose(place string) {
	why := place + " was exchanged outside, so that nothing lay on it any more"
	e.end(why)
	e.notice(
		fmt.Sprintf(
			"the sandbox was ended, with everything in it: %s: look whether a command has changed it meanwhile", why))
	e.spec.Tell("unprotected", map[string]any{"path": place})
}
