package changes

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// Watch watches directories. It is safe for concurrent use.
type Watch struct {
	mu     sync.Mutex
	fd     int // of inotify; -1 for none
	wake   [2]int
	done   chan struct{}
	dirs   map[int32]*directory
	limit  int               // directories that may be watched
	names  map[string]Before // touched since the last call of Touched
	lost   bool              // names are missing since the last call
	roots  []string
	astray bool // events were dropped: directories may be watched under old names, or not at all
	blind  bool // some directory is not watched
	moving map[uint32]*directory
	places string // the result of placesOf when the watch began
	tops   int    // roots that are watched
	had    int    // roots that were watched when it began
}

// directory is a watched directory. Its path follows from its parents, so that renaming one above costs
// nothing.
type directory struct {
	name   string // of a root its path
	parent *directory
	inside map[string]*directory
	wd     int32
}

// top is the root around a directory, or the directory around it that was moved away.
func (d *directory) top() *directory {
	for d.parent != nil {
		d = d.parent
	}
	return d
}

func (d *directory) path() string {
	if d.parent == nil {
		return d.name
	}
	return filepath.Join(d.parent.path(), d.name)
}

// interesting are the events of inotify(7) by which names, contents, modes or times change.
// A write through mmap(2) shows at the last close only.
const interesting = unix.IN_CREATE | unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE |
	unix.IN_ONLYDIR | unix.IN_DONT_FOLLOW | unix.IN_EXCL_UNLINK

// Open watches everything below roots, which are absolute real paths. Where the kernel refuses a watch, the
// lists of Touched are not whole.
//
// If each is not nil, Open calls it as Walk does, after the directory is watched.
func Open(roots []string, each func(dir string, entries []fs.DirEntry)) *Watch {
	w := &Watch{
		fd: -1, dirs: map[int32]*directory{}, names: map[string]Before{}, limit: watchLimit(),
		moving: map[uint32]*directory{}, done: make(chan struct{}),
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err == nil {
		err = unix.Pipe2(w.wake[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
	}
	if err != nil {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
		w.blind = true
		close(w.done)
		if each != nil {
			Walk(roots, each)
		}
		return w
	}
	w.fd = fd
	w.roots = Outermost(roots)
	w.places = placesOf(w.roots)
	for _, r := range w.roots {
		w.add(nil, r, false, each)
	}
	w.had = w.tops
	go w.follow()
	return w
}

// begin watches all directories anew.
func (w *Watch) begin() {
	old := w.dirs
	w.dirs, w.moving, w.tops = map[int32]*directory{}, map[uint32]*directory{}, 0
	for wd := range old {
		_, _ = unix.InotifyRmWatch(w.fd, uint32(wd))
		if wd%1024 == 0 {
			w.drain() // each removal is an event
		}
	}
	w.drain()
	w.astray = false
	for _, r := range w.roots {
		w.add(nil, r, false, nil)
	}
}

// watchLimit is half of the watches that the kernel grants a user: editors need some too.
func watchLimit() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	n, bad := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || bad != nil {
		return 4096
	}
	return n / 2
}

// add watches a directory and all below it. With touched, everything in them counts as touched. each, if it
// is not nil, is called for each directory, watched or not.
func (w *Watch) add(parent *directory, name string, touched bool, each func(string, []fs.DirEntry)) {
	type place struct {
		parent *directory
		name   string
	}
	queue := []place{{parent, name}}
	for len(queue) > 0 {
		p := queue[0]
		queue = queue[1:]
		d := &directory{name: p.name, parent: p.parent, inside: map[string]*directory{}}
		at := d.path()
		if !w.watch(d, at) && each == nil {
			continue
		}
		entries := List(at)
		if each != nil {
			each(at, entries)
		}
		for _, e := range entries {
			if touched {
				w.touch(filepath.Join(at, e.Name()), Absent)
			}
			if e.IsDir() {
				queue = append(queue, place{d, e.Name()})
			}
		}
	}
}

// watch begins to watch a directory, if the kernel grants it.
func (w *Watch) watch(d *directory, at string) bool {
	if len(w.dirs) >= w.limit {
		w.blind = true
		return false
	}
	wd := 0
	err := listable(at, func() (err error) {
		wd, err = unix.InotifyAddWatch(w.fd, at, interesting)
		return err
	})
	if err != nil {
		// Gone again, or not ours to enter: then nobody of our rights can change it either.
		w.blind = w.blind || errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.ENOMEM)
		return false
	}
	if old := w.dirs[int32(wd)]; old != nil { // moved here, and the event of that is still to come
		w.forget(old, false)
	}
	d.wd = int32(wd)
	w.dirs[d.wd] = d
	if d.parent == nil {
		w.tops++
	} else {
		d.parent.inside[d.name] = d
	}
	return true
}

// forget drops a directory and all below it; with end the kernel stops watching them.
func (w *Watch) forget(d *directory, end bool) {
	if d.parent != nil && d.parent.inside[d.name] == d {
		delete(d.parent.inside, d.name)
	}
	if w.dirs[d.wd] == d {
		if delete(w.dirs, d.wd); d.parent == nil && d.name != "" {
			w.tops-- // the next directory may get its number (st_ino): that does not tell
		}
		if end {
			_, _ = unix.InotifyRmWatch(w.fd, uint32(d.wd))
		}
	}
	for _, inner := range d.inside {
		w.forget(inner, end)
	}
}

// touch notes a name. The first event of it tells whether the file was there.
func (w *Watch) touch(name string, b Before) {
	if len(w.names) >= maxNames {
		w.names, w.lost = map[string]Before{}, true
	}
	if _, known := w.names[name]; !known {
		w.names[name] = b
	}
}

// beforeOf tells from the first event of a name whether its file was there.
func beforeOf(mask uint32) Before {
	switch {
	case mask&unix.IN_CREATE != 0:
		return Absent
	case mask&unix.IN_MOVED_TO != 0:
		return Unknown
	}
	return Present
}

// follow takes events off the kernel's queue, which holds a bounded number, as they come.
func (w *Watch) follow() {
	defer close(w.done)
	for {
		fds := []unix.PollFd{
			{Fd: int32(w.fd), Events: unix.POLLIN}, {Fd: int32(w.wake[0]), Events: unix.POLLIN},
		}
		_, err := unix.Poll(fds, -1)
		if err != nil && !errors.Is(err, unix.EINTR) || fds[1].Revents != 0 {
			return
		}
		w.mu.Lock()
		w.drain()
		w.mu.Unlock()
	}
}

// drain takes all events off the queue. The kernel puts an event there before the system call that caused it
// returns.
func (w *Watch) drain() {
	var buffer [64 << 10]byte
	for w.fd >= 0 {
		n, err := unix.Read(w.fd, buffer[:])
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil || n <= 0 {
			break
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofInotifyEvent; {
			order := binary.NativeEndian
			wd, mask := int32(order.Uint32(rest)), order.Uint32(rest[4:])
			cookie, size := order.Uint32(rest[8:]), order.Uint32(rest[12:])
			end := unix.SizeofInotifyEvent + int(size)
			name := string(bytes.TrimRight(rest[unix.SizeofInotifyEvent:end], "\x00"))
			rest = rest[end:]
			w.event(wd, mask, cookie, name)
		}
	}
	for cookie, d := range w.moving { // moved out of what is watched
		w.forget(d, true)
		delete(w.moving, cookie)
	}
}

func (w *Watch) event(wd int32, mask, cookie uint32, name string) {
	if mask&unix.IN_Q_OVERFLOW != 0 {
		w.lost, w.astray = true, true
		return
	}
	d := w.dirs[wd]
	if d == nil || d.top().name == "" {
		return // it lies elsewhere now; where it arrives, all in it counts as touched
	}
	if mask&unix.IN_UNMOUNT != 0 {
		w.lost, w.astray = true, true // another may be mounted there by now, which looks the same
	}
	if mask&unix.IN_IGNORED != 0 {
		w.forget(d, false)
		return
	}
	if name == "" {
		return // of the directory itself: its parent has an event too
	}
	at := filepath.Join(d.path(), name)
	w.touch(at, beforeOf(mask))
	if mask&unix.IN_ISDIR == 0 {
		return
	}
	switch {
	case mask&unix.IN_MOVED_FROM != 0:
		if moved := d.inside[name]; moved != nil {
			delete(d.inside, name)
			moved.name, moved.parent = "", nil
			w.moving[cookie] = moved
		}
	case mask&unix.IN_MOVED_TO != 0:
		if d.inside[name] != nil { // two were exchanged (renameat2(2)), or an empty one was replaced
			w.lost, w.astray = true, true
		}
		if moved := w.moving[cookie]; moved != nil {
			w.forget(moved, false) // the same watches are taken again under their new names
			delete(w.moving, cookie)
		}
		w.add(d, name, true, nil)
	case mask&unix.IN_CREATE != 0, mask&unix.IN_ATTRIB != 0 && d.inside[name] == nil: // it can be read by now
		w.add(d, name, true, nil)
	}
}

// Touched returns the names that were made, changed, renamed or removed since the last call, sorted. whole is
// false if others may have been.
func (w *Watch) Touched() (names []Touch, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drain()
	if w.tops < w.had {
		w.lost, w.astray = true, true // a root was removed, and perhaps made again
	}
	if w.astray {
		w.begin()
	}
	for name, before := range w.names {
		names = append(names, Touch{name, before})
	}
	slices.SortFunc(names, func(a, b Touch) int { return strings.Compare(a.Path, b.Path) })
	whole = !w.lost && !w.blind
	w.names, w.lost = map[string]Before{}, false
	return names, whole
}

// Sees reports whether the watch sees the changes below its roots: all directories are watched, and no root
// was replaced and nothing was mounted below one since it began.
func (w *Watch) Sees() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drain()
	return w.fd >= 0 && !w.blind && !w.astray && w.tops == len(w.roots) && w.places != "" &&
		w.places == placesOf(w.roots)
}

// Size returns the number of watched directories, and its limit.
func (w *Watch) Size() (directories, limit int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.dirs), w.limit
}

// placesOf returns the identities of the roots and the mounts below them (proc_pid_mountinfo(5)); "" if it
// cannot find out.
func placesOf(roots []string) string {
	var all strings.Builder
	for _, r := range roots {
		var s unix.Stat_t
		if unix.Lstat(r, &s) != nil {
			return ""
		}
		fmt.Fprintln(&all, s.Dev, s.Ino)
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(table)) {
		at := strings.Fields(line)
		if len(at) > 4 && slices.ContainsFunc(roots, func(r string) bool { return Within(unescape(at[4]), r) }) {
			all.WriteString(line)
		}
	}
	return all.String()
}

// unescape replaces the octal escapes of a path in mountinfo.
func unescape(p string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(p)
}

// Close ends the watch.
func (w *Watch) Close() error {
	w.mu.Lock()
	if w.fd < 0 {
		w.mu.Unlock()
		return nil
	}
	_, err := unix.Write(w.wake[1], []byte{0})
	w.mu.Unlock()
	<-w.done
	w.mu.Lock()
	defer w.mu.Unlock()
	err = errors.Join(err, unix.Close(w.fd), unix.Close(w.wake[0]), unix.Close(w.wake[1]))
	w.fd = -1
	return err
}
