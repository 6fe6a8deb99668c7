//go:build amd64 || arm64

package notify

import (
	"bytes"
	"encoding/binary"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

const (
	// maxWords bounds the bytes of the words of a program and of its variables, each. A start with more is
	// refused.
	maxWords = 512 << 10
	// maxList bounds the number of words, and of variables.
	maxList = 32 << 10
)

// executes reports a call that executes a program.
func executes(n *notification) bool {
	return uintptr(n.call) == unix.SYS_EXECVE || uintptr(n.call) == unix.SYS_EXECVEAT
}

// execute decides about the start of a program. Where no program would start, it answers with the reason, and
// nobody is asked.
func (f *feed) execute(c *caller, n *notification) answer {
	s := f.s
	var p Program
	var image *image
	var err error
	s.performing <- struct{}{}
	s.o.Rights.Do(func() { p, image, err = c.program(n) })
	<-s.performing
	defer func() {
		image.close()
		s.o.Rights.Do(c.close)
	}()
	if err != nil {
		return failed(err)
	}
	s.settle(p.PID)
	if !f.isFirst(p) && !s.o.Starts(f.owner, p) {
		return failed(unix.EACCES)
	}
	if c.valid() != nil {
		return failed(unix.EACCES) // the caller is gone
	}
	f.compareLater(c, p, image)
	image = nil
	return answer{fd: -1, goOn: true}
}

// isFirst reports the start of the command itself, which was judged with its text.
func (f *feed) isFirst(p Program) bool {
	return p.Path == f.first.Path && slices.Equal(p.Argv, f.first.Argv) && !f.begun.Swap(true)
}

// program reads the program of a call out of the caller's memory and finds its file.
func (c *caller) program(n *notification) (p Program, im *image, err error) {
	if err := c.begin(); err != nil {
		return p, nil, err
	}
	at, address, words, variables, flags := int32(unix.AT_FDCWD), n.args[0], n.args[1], n.args[2], 0
	if uintptr(n.call) == unix.SYS_EXECVEAT {
		at, address, words, variables, flags = int32(n.args[0]), n.args[1], n.args[2], n.args[3], int(n.args[4])
	}
	if flags&^(unix.AT_EMPTY_PATH|unix.AT_SYMLINK_NOFOLLOW) != 0 {
		return p, nil, unix.EINVAL
	}
	group, err := c.field("Tgid")
	if err != nil {
		return p, nil, err
	}
	if p.PID, err = strconv.Atoi(group); err != nil {
		return p, nil, unix.EIO
	}
	text, err := c.text(address)
	if err != nil {
		return p, nil, err
	}
	if im, err = c.image(at, address, text, flags); err != nil {
		return p, nil, err
	}
	defer func() {
		if err != nil {
			im.close()
			im = nil
		}
	}()
	if p.File, err = realName(im.file); err != nil {
		return p, im, unix.EACCES
	}
	if p.Dir, err = c.linked("cwd"); err != nil {
		return p, im, unix.EACCES
	}
	if p.Path, err = c.named(at, text, p); err != nil {
		return p, im, err
	}
	if len(p.Path) >= maxPath || p.File[0] != '/' || p.Dir[0] != '/' {
		return p, im, unix.EACCES // out of sight from here
	}
	if p.Argv, err = c.list(words); err != nil {
		return p, im, err
	}
	if len(p.Argv) == 0 {
		p.Argv = []string{""} // as the kernel does (execve(2))
	}
	p.Env, err = c.list(variables)
	return p, im, err
}

// named is the absolute path by which the caller names the program.
func (c *caller) named(at int32, text string, p Program) (string, error) {
	switch {
	case text == "" || strings.HasPrefix(path.Clean(text), "/proc/"):
		return p.File, nil // an open file
	case text[0] == '/':
		return path.Clean(text), nil
	case at == unix.AT_FDCWD:
		return path.Join(p.Dir, text), nil
	}
	dir, err := c.linked("fd/" + strconv.Itoa(int(at)))
	return path.Join(dir, text), err
}

// linked reads a link of the caller's directory in /proc.
func (c *caller) linked(name string) (string, error) {
	var buf [maxPath]byte
	n, err := unix.Readlinkat(c.dir, name, buf[:])
	if err != nil || n == len(buf) {
		return "", unix.EACCES
	}
	return string(buf[:n]), nil
}

// image is the file of a program, and of the interpreters that its first line leads to.
type image struct {
	file  int     // O_PATH
	files []inode // all by which the kernel may run it; the first is the file itself
}

func (im *image) close() {
	if im != nil && im.file >= 0 {
		_ = unix.Close(im.file)
		im.file = -1
	}
}

// image finds the file of a program. The errors are those of the kernel for what is no program.
func (c *caller) image(at int32, address uint64, text string, flags int) (im *image, err error) {
	im = &image{file: -1}
	defer func() {
		if err != nil {
			im.close()
			im = nil
		}
	}()
	switch {
	case text != "" && flags&unix.AT_SYMLINK_NOFOLLOW != 0:
		p, err := c.find(at, address)
		if err != nil {
			return im, err
		}
		defer p.close()
		if p.dir < 0 {
			return im, unix.ELOOP
		}
		if im.file, err = unix.Openat(p.dir, p.full(), pathOnly|unix.O_NOFOLLOW, 0); err != nil {
			return im, err
		}
	case text != "":
		if im.file, err = c.file(at, address); err != nil {
			return im, err
		}
	case flags&unix.AT_EMPTY_PATH == 0:
		return im, unix.ENOENT
	default:
		if im.file, err = c.start(at, "."); err != nil {
			return im, err
		}
	}
	var st unix.Stat_t
	if err := unix.Fstat(im.file, &st); err != nil {
		return im, err
	}
	switch st.Mode & unix.S_IFMT {
	case unix.S_IFREG:
	case unix.S_IFLNK:
		return im, unix.ELOOP
	default:
		return im, unix.EACCES
	}
	// AT_EACCESS looks at the user of file accesses, which is the caller's.
	if unix.Faccessat(im.file, "", unix.X_OK, unix.AT_EMPTY_PATH|unix.AT_EACCESS) != nil {
		return im, unix.EACCES
	}
	im.files = []inode{{st.Dev, st.Ino}}
	im.interpreters(ownFile(im.file))
	return im, nil
}

// interpreters adds the files that the first lines of scripts lead to, as deep as the kernel follows them
// (BINPRM_BUF_SIZE, and five scripts: fs/binfmt_script.c, fs/exec.c).
func (im *image) interpreters(file string) {
	for range 5 {
		head, err := readAt(unix.AT_FDCWD, file, 256)
		if err != nil || !bytes.HasPrefix(head, []byte("#!")) {
			return
		}
		line, _, _ := bytes.Cut(head[2:], []byte("\n"))
		fields := bytes.Fields(line)
		if len(fields) == 0 || fields[0][0] != '/' {
			return // an interpreter by a relative path: the comparison finds another file, and asks
		}
		file = string(fields[0])
		var st unix.Stat_t
		if unix.Stat(file, &st) != nil {
			return
		}
		im.files = append(im.files, inode{st.Dev, st.Ino})
	}
}

// list reads a list of texts (argv, envp). No list is an empty one.
func (c *caller) list(at uint64) ([]string, error) {
	if at == 0 {
		return nil, nil
	}
	var out []string
	left := maxWords
	for i := uint64(0); ; i++ {
		if i >= maxList {
			return nil, unix.E2BIG
		}
		var pointer [8]byte
		if err := c.read(at+8*i, pointer[:]); err != nil {
			return nil, err
		}
		address := binary.NativeEndian.Uint64(pointer[:])
		if address == 0 {
			return out, nil
		}
		word, err := c.word(address, left)
		if err != nil {
			return nil, err
		}
		left -= len(word) + 1
		out = append(out, word)
	}
}

// read reads bytes of the caller's memory.
func (c *caller) read(at uint64, b []byte) error {
	at = untagged(at)
	if at > 1<<63-1-uint64(len(b)) {
		return unix.EFAULT
	}
	for n := 0; n < len(b); {
		got, err := unix.Pread(c.mem, b[n:], int64(at)+int64(n))
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			return unix.EFAULT
		}
		n += got
	}
	return nil
}

// word reads a text of at most some bytes.
func (c *caller) word(at uint64, most int) (string, error) {
	at = untagged(at)
	var out []byte
	var buf [page]byte
	for len(out) < most {
		if at+uint64(len(out)) > 1<<63-1-page {
			return "", unix.EFAULT
		}
		piece := page - int((at+uint64(len(out)))%page)
		got, err := unix.Pread(c.mem, buf[:piece], int64(at)+int64(len(out)))
		if err == unix.EINTR {
			continue
		}
		if err != nil || got <= 0 {
			return "", unix.EFAULT
		}
		if i := bytes.IndexByte(buf[:got], 0); i >= 0 {
			if len(out)+i >= most {
				break
			}
			return string(append(out, buf[:i]...)), nil
		}
		out = append(out, buf[:got]...)
	}
	return "", unix.E2BIG
}

// comparison waits until a program has started, and compares it with the judged one.
type comparison struct {
	started int         // the reading end of a pipe whose other end the kernel closes at the start
	failed  atomic.Bool // the process executes another program instead
	done    chan struct{}
}

// settle waits for the comparison of the program that a process runs, before it executes another. A start
// that failed has none.
func (s *Service) settle(pid int) {
	s.mu.Lock()
	k := s.checked[pid]
	s.mu.Unlock()
	if k == nil {
		return
	}
	fds := []unix.PollFd{{Fd: int32(k.started)}}
	for {
		_, err := unix.Poll(fds, 0)
		if err != unix.EINTR {
			break
		}
	}
	if fds[0].Revents&unix.POLLHUP == 0 {
		k.failed.Store(true)
		return
	}
	<-k.done
}

// compareLater hands the caller one end of a pipe that the kernel closes when the program starts, and
// compares the program then.
func (f *feed) compareLater(c *caller, p Program, im *image) {
	if f.s.o.Compared == nil {
		im.close()
		return
	}
	uncertain := func() { f.s.o.Compared(f.owner, p, Uncertain) }
	process, err := unix.PidfdOpen(p.PID, 0)
	if err != nil {
		im.close()
		uncertain()
		return
	}
	var pipe [2]int
	if err := unix.Pipe2(pipe[:], unix.O_CLOEXEC); err != nil {
		_ = unix.Close(process)
		im.close()
		uncertain()
		return
	}
	_, err = f.give(c.id, pipe[1], false)
	_ = unix.Close(pipe[1])
	if err != nil {
		_, _ = unix.Close(process), unix.Close(pipe[0])
		im.close()
		uncertain()
		return
	}
	k := &comparison{started: pipe[0], done: make(chan struct{})}
	f.s.mu.Lock()
	f.s.checked[p.PID] = k
	f.s.mu.Unlock()
	go func() {
		defer func() {
			f.s.mu.Lock()
			if f.s.checked[p.PID] == k {
				delete(f.s.checked, p.PID)
			}
			f.s.mu.Unlock()
			close(k.done)
			_, _ = unix.Close(process), unix.Close(pipe[0])
			im.close()
		}()
		switch started := f.s.awaitStart(pipe[0], process); {
		case k.failed.Load():
			return
		case !started:
			uncertain()
			return
		}
		now, compared := f.s.compare(p, im)
		f.s.o.Compared(f.owner, p, compared)
		if compared == Differs && !f.s.o.Starts(f.owner, now) {
			_ = unix.PidfdSendSignal(process, unix.SIGKILL, nil, 0)
		}
	}()
}

// awaitStart waits until the pipe is closed by a start, and reports false if the process ended first or the
// Service is closed.
func (s *Service) awaitStart(pipe, process int) bool {
	fds := []unix.PollFd{
		{Fd: int32(pipe)}, {Fd: int32(process), Events: unix.POLLIN}, {Fd: int32(s.stop), Events: unix.POLLIN},
	}
	for {
		_, err := unix.Poll(fds, -1)
		switch {
		case err == unix.EINTR:
		case err != nil || fds[1].Revents != 0 || fds[2].Revents != 0:
			return false
		case fds[0].Revents != 0:
			return true
		}
	}
}

// compare reads the program that runs. A program of the judged file that has the judged words is the same.
func (s *Service) compare(p Program, im *image) (now Program, c Comparison) {
	proc := "/proc/" + strconv.Itoa(p.PID) + "/"
	var st unix.Stat_t
	var line []byte
	var file string
	var err error
	s.o.Rights.Do(func() {
		if err = unix.Stat(proc+"exe", &st); err != nil {
			return
		}
		if file, err = os.Readlink(proc + "exe"); err == nil {
			line, err = os.ReadFile(proc + "cmdline")
		}
	})
	if err != nil || len(line) == 0 {
		return p, Uncertain
	}
	words := strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	if slices.Contains(im.files, inode{st.Dev, st.Ino}) && sameWords(words, p.Argv, len(im.files) > 1) {
		return p, Same
	}
	now = p
	now.Path, now.File, now.Argv, now.Begun = file, file, words, true
	return now, Differs
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
