//go:build amd64 || arm64

package notify

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// watch waits until a process starts one of the programs that were allowed, and compares it. The process has
// one of a pair of sockets, which the kernel closes at the start, or at the end of the process. (The end of a
// pipe would make the process wait for the comparison: its reader runs on the same processor at once.) The
// other socket takes no data and no descriptors, by which the process could keep its own open. The feed's
// mutex guards its fields.
type watch struct {
	pid     int
	process int           // pidfd
	dir     int           // its directory in /proc, which is that of no later process of its number
	end     int           // the other socket; -1 once the comparison has begun
	before  inode         // the program that the process ran at first
	ended   chan struct{} // closed after the comparison
	done    chan struct{} // closed after it, and the judgement of another program

	allowed []Program
	files   [][]inode
}

// allow adds a program that may be the one that starts. It reports whether the watch can still see that: the
// process may have closed its socket.
func (f *feed) allow(w *watch, p Program, files []inode) bool {
	if w == nil {
		return true
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !w.open() {
		return false
	}
	w.allowed, w.files = append(w.allowed, p), append(w.files, files)
	return true
}

// open reports that the process has its socket. The caller holds the feed's mutex.
func (w *watch) open() bool {
	if w.end < 0 {
		return false
	}
	events, err := look(w.end, 0)
	return err == nil && events == 0
}

// watch returns the watch of the caller's process, and makes one if need be. A process has one at a time:
// starts that fail share it. It waits for the comparison of the program that the process runs.
func (f *feed) watch(c *caller, pid int, handOver func()) *watch {
	if f.s.o.Compared == nil {
		return nil
	}
	for {
		running, err := c.running()
		if w := f.watched(pid); w != nil {
			if err == nil && f.waits(w, running) {
				return w
			}
			f.finish(w) // its socket may have been kept open
			select {
			case <-w.done:
			default:
				handOver()
				<-w.done
			}
			continue
		}
		var w *watch
		if err == nil {
			w, err = f.newWatch(c, pid, running)
		}
		if err != nil {
			f.s.o.Compared(f.owner, Program{PID: pid}, Uncertain)
			return nil
		}
		if w != nil {
			return w
		}
	}
}

func (f *feed) watched(pid int) *watch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.watches[pid]
}

// waits reports that the process of a watch has started nothing yet.
func (f *feed) waits(w *watch, running inode) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return running == w.before && w.open()
}

// newWatch makes a watch, unless another thread of the process has got one meanwhile.
func (f *feed) newWatch(c *caller, pid int, before inode) (*watch, error) {
	if c.process < 0 { // an earlier watch of this call has it
		var err error
		if c.process, err = unix.PidfdOpen(c.pid, 0); err != nil {
			c.process = -1
			return nil, err
		}
	}
	f.s.performing <- struct{}{}
	defer func() { <-f.s.performing }()
	dir, err := unix.Open(procDir(pid), pathOnly|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	kept := false
	defer func() {
		if !kept {
			_ = unix.Close(dir)
		}
	}()
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	if err = unix.Shutdown(pair[0], unix.SHUT_RD); err == nil {
		_, err = f.give(c.id, pair[1], false) // it lives: the directory is its own
	}
	_ = unix.Close(pair[1])
	f.mu.Lock()
	defer f.mu.Unlock()
	if err == nil && f.watches[pid] == nil {
		event := unix.EpollEvent{Fd: int32(pid)} // its end shows in any case (EPOLLHUP)
		err = unix.EpollCtl(f.starts, unix.EPOLL_CTL_ADD, pair[0], &event)
	}
	if err != nil || f.watches[pid] != nil {
		_ = unix.Close(pair[0])
		return nil, err
	}
	w := &watch{pid: pid, process: c.process, dir: dir, end: pair[0], before: before,
		ended: make(chan struct{}), done: make(chan struct{})}
	c.process, kept = -1, true
	f.watches[pid] = w
	return w, nil
}

// running returns the file of the program that the caller's process runs.
func (c *caller) running() (inode, error) {
	var st unix.Stat_t
	var err error
	c.s.o.Rights.Do(func() { err = unix.Fstatat(c.dir, "exe", &st, 0) })
	return inode{st.Dev, st.Ino}, err
}

// started compares the programs that have started.
func (f *feed) started() {
	var events [16]unix.EpollEvent
	n, _ := unix.EpollWait(f.starts, events[:], 0)
	for _, e := range events[:max(n, 0)] {
		if w := f.watched(int(e.Fd)); w != nil && !f.waits(w, w.before) {
			f.finish(w)
		}
	}
}

// finish ends a watch: it compares the program when the socket is closed by its start, by the end of the
// process, or because the process did not let the kernel close it. Another program than the allowed ones is
// judged, which others do not wait for.
func (f *feed) finish(w *watch) {
	f.mu.Lock()
	end, allowed, files := w.end, w.allowed, w.files
	w.end = -1
	f.mu.Unlock()
	if end < 0 {
		return
	}
	_ = unix.Close(end)
	over := func() {
		f.mu.Lock()
		delete(f.watches, w.pid)
		f.mu.Unlock()
		_, _ = unix.Close(w.process), unix.Close(w.dir)
		close(w.done)
	}
	select {
	case <-f.s.closing:
		close(w.ended)
		over()
		return
	default:
	}
	now, differs := f.compare(w, allowed, files)
	close(w.ended)
	if !differs {
		over()
		return
	}
	f.receivers.Go(func() {
		defer over()
		may := false // also where the judgement breaks
		defer func() {
			_ = recover()
			if !may {
				_ = unix.PidfdSendSignal(w.process, unix.SIGKILL, nil, 0)
			}
		}()
		may = f.s.o.Starts(f.owner, now, func() {})
	})
}

// endWatches ends all watches.
func (f *feed) endWatches() {
	for {
		f.mu.Lock()
		var left []*watch
		for _, w := range f.watches {
			if w.end >= 0 {
				left = append(left, w)
			}
		}
		f.mu.Unlock()
		if len(left) == 0 {
			return
		}
		for _, w := range left {
			f.finish(w)
		}
	}
}

// Settle ends the watches of processes of a decision that have ended: when it returns, Options.Compared was
// called for the programs that they started. It waits for no judgement.
func (s *Service) Settle(decision string) {
	s.mu.Lock()
	var of []*feed
	for f := range s.feeds {
		if f.owner == decision {
			of = append(of, f)
		}
	}
	s.mu.Unlock()
	for _, f := range of {
		f.mu.Lock()
		left := slices.Collect(maps.Values(f.watches))
		left = slices.DeleteFunc(left, func(w *watch) bool { return !readable(w.process) })
		f.mu.Unlock()
		for _, w := range left {
			f.finish(w)
			<-w.ended
		}
	}
}

// readable looks at a descriptor without a wait. That of a process is readable when the process has ended.
func readable(fd int) bool {
	events, err := look(fd, unix.POLLIN)
	return err == nil && events != 0
}

// look returns the events of a descriptor without a wait. It looks again after a signal, which interrupts
// such a poll too: the runtime of Go sends SIGURG to its threads.
func look(fd int, events int16) (int16, error) {
	fds := []unix.PollFd{{Fd: int32(fd), Events: events}}
	err := untilDone(func() error { _, err := unix.Poll(fds, 0); return err })
	return fds[0].Revents, err
}

// compare compares the program that the process of a watch runs with those that were allowed. now is another
// one.
func (f *feed) compare(w *watch, allowed []Program, files [][]inode) (now Program, differs bool) {
	if len(allowed) == 0 {
		return now, false
	}
	s, last := f.s, allowed[len(allowed)-1]
	file, words, err := s.runs(w.dir)
	if err != nil {
		s.o.Compared(f.owner, last, Uncertain)
		return now, false
	}
	for i, p := range allowed {
		if slices.Contains(files[i], file) && sameWords(words, p.Argv, len(files[i]) > 1) {
			s.o.Compared(f.owner, p, Same)
			return now, false
		}
	}
	now = last
	s.o.Rights.Do(func() { now.File, err = linkIn(w.dir, "exe") })
	if err != nil {
		s.o.Compared(f.owner, last, Uncertain)
		return now, false
	}
	if file == w.before { // it may have closed the socket itself, and start the allowed program after this
		s.o.Compared(f.owner, last, Uncertain)
	}
	s.o.Compared(f.owner, last, Differs)
	now.Path, now.Argv, now.By, now.ELF, now.Begun = now.File, words, nil, false, true
	return now, true
}

func procDir(pid int) string { return "/proc/" + strconv.Itoa(pid) + "/" }

// runs reads the file and the words of the program that a process runs.
func (s *Service) runs(dir int) (file inode, words []string, err error) {
	s.performing <- struct{}{}
	defer func() { <-s.performing }()
	var st unix.Stat_t
	var line []byte
	s.o.Rights.Do(func() {
		if err = unix.Fstatat(dir, "exe", &st, 0); err == nil {
			line, err = readAll(dir, "cmdline")
		}
	})
	if err == nil && len(line) == 0 {
		err = unix.ESRCH // a zombie
	}
	return inode{st.Dev, st.Ino}, strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00"), err
}

// readAll reads a file of a directory in /proc.
func readAll(dir int, name string) ([]byte, error) {
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	all := make([]byte, 0, page)
	for {
		all = slices.Grow(all, page)
		n, err := unix.Read(fd, all[len(all):cap(all)])
		switch {
		case err == unix.EINTR:
		case err != nil || n == 0:
			return all, err
		default:
			all = all[:len(all)+n]
		}
	}
}

// sameWords compares the words of a running program with the judged ones. The kernel puts an interpreter, its
// option and the path of a script before the words of the script.
func sameWords(words, judged []string, script bool) bool {
	if !script {
		return slices.Equal(words, judged)
	}
	rest := judged[1:]
	return len(words) > len(rest) && slices.Equal(words[len(words)-len(rest):], rest)
}
