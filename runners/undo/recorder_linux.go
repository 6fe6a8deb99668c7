package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	// maxCopied bounds a pre-image that is copied, in bytes. The file system clones longer ones, or there are
	// none.
	maxCopied = 64 << 20
	// maxLate bounds pre-images of files that the session made itself, in bytes: undoing the session needs
	// none of these.
	maxLate = 1 << 20
	// maxWhole bounds a file that is read at once, in bytes.
	maxWhole = 1 << 20
	// maxKnown bounds the files that are remembered. Forgotten ones get further pre-images.
	maxKnown = 1 << 18
)

// Recorder notes changes. Its methods are called between Begin and the function that Begin returns, by which
// the order of entries is that of the changes.
type Recorder struct {
	o       RecorderOptions
	dir     int
	objects int
	journal int

	mu    sync.Mutex
	known map[key]mark
	sums  map[string]bool
	used  int64
	lines int64 // bytes of the journal
	gap   bool  // an entry could not be written
	full  bool  // none is written any more
	count int
}

// key names a file of this machine for good: numbers of inodes come again.
type key struct {
	dev, ino uint64
	born     int64
}

// mark is the last decision that changed a file.
type mark struct {
	decision string
	made     bool // by it
	late     bool // made in this session
	mode     bool // only the mode is noted
}

// Open makes a Recorder that writes into a directory.
func Open(o RecorderOptions) (*Recorder, error) {
	r := &Recorder{o: o, known: map[key]mark{}, sums: map[string]bool{}, objects: -1, journal: -1}
	var err error
	const dir = unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC
	if r.dir, err = unix.Open(o.Dir, dir, 0); err == nil {
		r.objects, err = unix.Openat(r.dir, objectsDir, dir, 0)
	}
	if err == nil {
		const flags = unix.O_WRONLY | unix.O_APPEND | unix.O_CREAT | unix.O_NOFOLLOW | unix.O_CLOEXEC
		r.journal, err = unix.Openat(r.dir, journalFile, flags, 0o644)
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("open the store of pre-images: %w", err)
	}
	return r, nil
}

// Close ends a Recorder.
func (r *Recorder) Close() {
	for _, fd := range []int{r.dir, r.objects, r.journal} {
		if fd >= 0 {
			_ = unix.Close(fd)
		}
	}
}

// Watches reports a path whose changes are noted.
func (r *Recorder) Watches(p string) bool {
	return slices.ContainsFunc(r.o.Places, func(dir string) bool { return p != dir && within(p, dir) })
}

// Begin waits for other changes to be over, and returns the function that ends this one.
func (r *Recorder) Begin() (end func()) {
	r.mu.Lock()
	return r.mu.Unlock
}

// look describes the file of a name, or with the name "" an open one.
func look(dir int, name string) (State, key, error) {
	var st unix.Statx_t
	flags := unix.AT_SYMLINK_NOFOLLOW | unix.AT_STATX_DONT_SYNC
	if name == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	for {
		err := unix.Statx(dir, name, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &st)
		if errors.Is(err, unix.EINTR) {
			continue
		}
		if err != nil {
			return State{}, key{}, err
		}
		break
	}
	s := State{
		Mode: uint32(st.Mode) & 0o7777, Inode: st.Ino, Links: st.Nlink,
		Time: st.Mtime.Sec*1e9 + int64(st.Mtime.Nsec),
	}
	if st.Mask&unix.STATX_BTIME != 0 {
		s.Born = st.Btime.Sec*1e9 + int64(st.Btime.Nsec)
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
		s.Kind, s.Size = kindFile, int64(st.Size)
	case unix.S_IFDIR:
		s.Kind, s.Time, s.Links = kindDir, 0, 0
	case unix.S_IFLNK:
		s.Kind, s.Size = kindLink, int64(st.Size)
	default:
		s.Kind, s.Time = kindOther, 0
	}
	return s, key{unix.Mkdev(st.Dev_major, st.Dev_minor), st.Ino, s.Born}, nil
}

// Place is a name in an open directory.
type Place struct {
	Path string // real
	Dir  int
	Name string
}

// Making notes that a name is about to be made. Only Made says that it was; but it is not called if this
// process is killed in between.
func (r *Recorder) Making(decision, p string) {
	var now unix.Timespec
	_ = unix.ClockGettime(unix.CLOCK_REALTIME_COARSE, &now) // as the file system takes the time
	r.note(&Entry{Decision: decision, Op: opIntend, Path: exact(p), State: State{Time: now.Nano()}})
}

// Made notes a name that was just made. further says that its file had another name before.
func (r *Recorder) Made(decision, p string, dir int, name string, further bool) {
	s, k, err := look(dir, name)
	if err != nil {
		r.gap = true
		return
	}
	if !further {
		r.remember(k, mark{decision: decision, made: true, late: true})
	}
	r.note(&Entry{Decision: decision, Op: opMake, Path: exact(p), State: s})
}

// Writing notes that the content of an open file may change; the descriptor may be one of O_PATH.
func (r *Recorder) Writing(decision, p string, fd int) {
	s, k, err := look(fd, "")
	if err != nil || s.Kind != kindFile || s.Links == 0 {
		return
	}
	m, known := r.known[k]
	if known && m.decision == decision && !m.mode {
		return
	}
	e := &Entry{Decision: decision, Op: opWrite, Path: exact(p), State: s, Late: m.late}
	r.image(e, s, func() (int, error) { return reopen(fd) })
	r.remember(k, mark{decision: decision, late: m.late})
	r.note(e)
}

// Mode notes that the mode of an open file may change; the descriptor may be one of O_PATH.
func (r *Recorder) Mode(decision, p string, fd int) {
	s, k, err := look(fd, "")
	if err != nil || s.Kind != kindDir && s.Links == 0 {
		return
	}
	m, known := r.known[k]
	if known && m.decision == decision {
		return
	}
	r.remember(k, mark{decision: decision, late: m.late, mode: true})
	r.note(&Entry{Decision: decision, Op: opMode, Path: exact(p), State: s, Late: m.late})
}

// Removing notes that a name may go.
func (r *Recorder) Removing(decision, p string, dir int, name string) {
	s, k, err := look(dir, name)
	if err != nil {
		return // and there is nothing to remove
	}
	m := r.known[k]
	if m.decision == decision && m.made && s.Links <= 1 {
		delete(r.known, k)
		return
	}
	e := &Entry{Decision: decision, Op: opRemove, Path: exact(p), State: s, Late: m.late}
	r.lose(e, s, m.decision == decision && m.made, dir, name)
	r.note(e)
}

// Moving notes that a file may get another name, or that two are exchanged.
func (r *Recorder) Moving(decision string, from, to Place, swap bool) {
	s, k, err := look(from.Dir, from.Name)
	if err != nil {
		return
	}
	m := r.known[k]
	e := &Entry{
		Decision: decision, Op: opMove, Path: exact(to.Path), From: exact(from.Path), State: s, Late: m.late,
	}
	e.Made = m.decision == decision && m.made && s.Links <= 1 && s.Kind != kindDir
	over, ok, err := look(to.Dir, to.Name)
	switch {
	case err != nil:
	case swap:
		e.Op, e.Over = opSwap, over
	case over.is(s):
		return // two names of one file: the call does nothing
	default:
		e.Over = over
		m := r.known[ok]
		e.Late = m.late
		r.lose(e, over, m.decision == decision && m.made && over.Links <= 1, to.Dir, to.Name)
	}
	r.note(e)
}

// lose keeps the file of a name that goes.
func (r *Recorder) lose(e *Entry, s State, own bool, dir int, name string) {
	switch s.Kind {
	case kindLink:
		var buf [4096]byte
		n, err := unix.Readlinkat(dir, name, buf[:])
		if err != nil {
			n, e.Lack = 0, err.Error()
		}
		e.Link = exact(buf[:n])
	case kindFile:
		if own {
			e.Lack, e.Made = lackOwn, e.Made || e.Op == opRemove
			return
		}
		r.image(e, s, func() (int, error) {
			return unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		})
	}
}

// Reasons for which there is no pre-image.
const (
	lackOwn  = "the same command made the file"
	lackLong = "the file is too long to copy"
	lackRoom = "the store is full"
)

func reopen(fd int) (int, error) {
	const flags = unix.O_RDONLY | unix.O_NONBLOCK | unix.O_CLOEXEC
	return unix.Open("/proc/self/fd/"+strconv.Itoa(fd), flags, 0)
}

// image keeps the content of a file.
func (r *Recorder) image(e *Entry, s State, open func() (int, error)) {
	if s.Size == 0 {
		e.Sum = emptySum
		return
	}
	if e.Late && s.Size > maxLate {
		e.Lack = lackLong
		return
	}
	if r.used+s.Size > r.o.Most {
		e.Lack = lackRoom
		return
	}
	fd, err := open()
	if err != nil {
		e.Lack = "the file cannot be read: " + err.Error()
		return
	}
	f := os.NewFile(uintptr(fd), "file")
	defer f.Close()
	if now, _, err := look(fd, ""); err != nil || !now.is(s) {
		e.Lack = "the file was exchanged meanwhile"
		return
	}
	if s.Size <= maxWhole {
		e.Sum, err = r.whole(f, s.Size)
	} else {
		e.Sum, err = r.copied(f, s.Size)
	}
	if err != nil {
		e.Sum, e.Lack = "", err.Error()
	}
}

// emptySum is the SHA-256 of nothing, whose object need not exist.
const emptySum = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

// whole keeps a short file.
func (r *Recorder) whole(f io.Reader, size int64) (string, error) {
	content := make([]byte, size+1)
	n, err := io.ReadFull(f, content)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", err
	}
	digest := sha256.Sum256(content[:n])
	sum := hex.EncodeToString(digest[:])
	if r.sums[sum] || sum == emptySum {
		return sum, nil
	}
	out, err := r.create(sum)
	if errors.Is(err, os.ErrExist) {
		return sum, nil
	}
	if err != nil {
		return "", err
	}
	_, err = out.Write(content[:n])
	if err = errors.Join(err, out.Close()); err != nil {
		_ = unix.Unlinkat(r.objects, sum, 0)
		return "", err
	}
	r.holds(sum, int64(n))
	return sum, nil
}

func (r *Recorder) create(name string) (*os.File, error) {
	const flags = unix.O_RDWR | unix.O_CREAT | unix.O_EXCL | unix.O_CLOEXEC
	fd, err := unix.Openat(r.objects, name, flags, 0o644)
	if err != nil {
		return nil, err
	}
	return os.NewFile(uintptr(fd), name), nil
}

func (r *Recorder) holds(sum string, size int64) {
	r.used += size
	if len(r.sums) < maxKnown {
		r.sums[sum] = true
	}
}

// copied keeps a file that is cloned, or copied piece by piece.
func (r *Recorder) copied(f *os.File, size int64) (string, error) {
	r.count++
	name := fmt.Sprintf("part-%d-%d", os.Getpid(), r.count)
	out, err := r.create(name)
	if err != nil {
		return "", err
	}
	defer out.Close()
	hash := sha256.New()
	var n int64
	if unix.IoctlFileClone(int(out.Fd()), int(f.Fd())) == nil {
		n, err = io.Copy(hash, out)
	} else if size > maxCopied {
		err = errors.New(lackLong)
	} else {
		n, err = io.Copy(io.MultiWriter(out, hash), io.LimitReader(f, maxCopied))
	}
	sum := hex.EncodeToString(hash.Sum(nil))
	if err == nil {
		err = unix.Renameat(r.objects, name, r.objects, sum)
	}
	if err != nil {
		_ = unix.Unlinkat(r.objects, name, 0)
		return "", err
	}
	r.holds(sum, n)
	return sum, nil
}

func (r *Recorder) remember(k key, m mark) {
	if len(r.known) >= maxKnown {
		clear(r.known)
	}
	r.known[k] = m
}

// note appends an entry to the journal.
func (r *Recorder) note(e *Entry) {
	if r.full {
		return
	}
	if r.lines > r.o.Most/4 { // by a command that changes files without end
		r.full = true
		_ = r.append(&Entry{Op: opGap}) // without it the files are missing in the record all the same
		return
	}
	if r.gap {
		r.gap = r.append(&Entry{Op: opGap}) != nil
	}
	if r.append(e) != nil {
		r.gap = true
	}
}

func (r *Recorder) append(e *Entry) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if line = append(line, '\n'); len(line) > maxLine {
		return errors.New("the paths are too long")
	}
	// One call: an interrupted one leaves an incomplete last line.
	n, err := unix.Write(r.journal, line)
	r.used += int64(max(n, 0))
	r.lines += int64(max(n, 0))
	if err == nil && n < len(line) {
		_, err = unix.Write(r.journal, []byte("\n"))
		return errors.Join(io.ErrShortWrite, err)
	}
	return err
}
