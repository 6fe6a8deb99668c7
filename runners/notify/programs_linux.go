//go:build amd64 || arm64

package notify

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

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

// maxReadings bounds how often a program is read that changes while it is judged.
const maxReadings = 4

// execute decides about the start of a program. Where no program would start, it answers with the reason, and
// nobody is asked. A program that changed while it was judged is judged again.
func (f *feed) execute(c *caller, n *notification) answer {
	s := f.s
	defer c.close()
	var w *watch
	var judged Program
	for range maxReadings {
		p, files, err := s.read(c, n)
		if err != nil {
			return failed(err)
		}
		if w != nil && p.same(judged) {
			w.allow(p, files)
			return answer{fd: -1, goOn: true}
		}
		if w == nil {
			w = f.watch(c, p.PID) // before the judgement: it tells nobody that the judgement is over
		}
		if !f.isFirst(p) && !s.o.Starts(f.owner, p) {
			return failed(unix.EACCES)
		}
		judged = p
	}
	return failed(unix.EACCES)
}

// decided is execute; where that breaks, the program does not start.
func (f *feed) decided(c *caller, n *notification) (a answer) {
	defer func() {
		if recover() != nil {
			a = failed(unix.EIO)
		}
	}()
	return f.execute(c, n)
}

// read reads the program of a call.
func (s *Service) read(c *caller, n *notification) (p Program, files []inode, err error) {
	s.performing <- struct{}{}
	defer func() { <-s.performing }()
	c.pages = nil // nothing of an earlier reading
	s.o.Rights.Do(func() {
		if c.dir < 0 {
			err = c.begin()
		}
		if err == nil {
			p, files, err = c.program(n)
		}
		if err == nil {
			err = c.valid()
		}
	})
	return p, files, err
}

// same reports a program that was read a second time, and did not change.
func (p Program) same(q Program) bool {
	return p.PID == q.PID && p.Path == q.Path && p.File == q.File && p.Dir == q.Dir &&
		slices.Equal(p.Argv, q.Argv) && slices.Equal(p.Env, q.Env) && slices.Equal(p.By, q.By) && p.ELF == q.ELF
}

// isFirst reports the start of the command itself, which was judged with its text.
func (f *feed) isFirst(p Program) bool {
	return p.Path == f.first.Path && slices.Equal(p.Argv, f.first.Argv) && !f.begun.Swap(true)
}

// program reads the program of a call out of the caller's memory and finds its file, and all files by which
// the kernel may run it.
func (c *caller) program(n *notification) (p Program, files []inode, err error) {
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
	im, err := c.image(at, address, text, flags)
	if err != nil {
		return p, nil, err
	}
	defer im.close()
	p.By, p.ELF = im.by, im.elf
	if p.File, err = realName(im.file); err != nil {
		return p, nil, unix.EACCES
	}
	if p.Dir, err = c.linked("cwd"); err != nil {
		return p, nil, unix.EACCES
	}
	if p.File[0] != '/' || p.Dir[0] != '/' {
		return p, nil, unix.EACCES // out of sight from here
	}
	p.Path = c.named(at, text, p, im.files[0])
	if p.Argv, err = c.list(words); err != nil {
		return p, nil, err
	}
	if len(p.Argv) == 0 {
		p.Argv = []string{""} // as the kernel does (execve(2))
	}
	p.Env, err = c.list(variables)
	return p, im.files, err
}

// named is the absolute path by which the caller names the program, if that leads to the program in plain
// sight too; else its real path. Links, descriptors and the directory of the caller can make a text mean
// another file than it says.
func (c *caller) named(at int32, text string, p Program, file inode) string {
	dir := p.Dir
	if text != "" && text[0] != '/' && at != unix.AT_FDCWD {
		dir, _ = c.linked("fd/" + strconv.Itoa(int(at)))
	}
	full := path.Clean(text)
	if text == "" || text[0] != '/' {
		full = path.Join(dir, text)
	}
	var st unix.Stat_t
	if text == "" || len(full) >= maxPath || full[0] != '/' || unix.Stat(full, &st) != nil {
		return p.File
	}
	if (inode{st.Dev, st.Ino}) != file {
		return p.File
	}
	return full
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
	file  int      // O_PATH
	files []inode  // all by which the kernel may run it; the first is the file itself
	by    []string // the interpreter of a script, and its option
	elf   bool     // it is machine code
}

func (im *image) close() {
	if im != nil && im.file >= 0 {
		_ = unix.Close(im.file)
		im.file = -1
	}
}

// image finds the file of a program. The errors are those of the kernel for other files.
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
	im.interpreters(ownFile(im.file), ownFile(c.dir)+"/cwd/")
	return im, nil
}

// interpreters adds the files that the first lines of scripts lead to, as deep as the kernel follows them
// (BINPRM_BUF_SIZE, and five scripts: fs/binfmt_script.c, fs/exec.c). dir is the caller's directory.
func (im *image) interpreters(file, dir string) {
	for range 5 {
		head, err := readAt(unix.AT_FDCWD, file, 256)
		if err != nil || !bytes.HasPrefix(head, []byte("#!")) {
			im.elf = len(im.by) == 0 && bytes.HasPrefix(head, []byte("\x7fELF"))
			return
		}
		line, _, _ := bytes.Cut(head[2:], []byte("\n"))
		name, option, _ := strings.Cut(strings.Trim(string(line), " \t"), " ")
		name, tabbed, _ := strings.Cut(name, "\t")
		option = strings.Trim(tabbed+" "+option, " \t") // the rest of the line is one word
		if name == "" {
			return
		}
		words := []string{name}
		if option != "" {
			words = append(words, option)
		}
		im.by = append(words, im.by...)
		file = name
		if name[0] != '/' {
			file = dir + name
		}
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
		address, err := c.pointer(at + 8*i)
		if err != nil {
			return nil, err
		}
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

// watch waits until a process starts one of the programs that were allowed, and compares it.
type watch struct {
	f       *feed
	pid     int
	process int      // pidfd
	started *os.File // the reading end of a pipe whose other end the kernel closes at the start, or at the end
	before  inode    // the program that the process ran at first

	mu      sync.Mutex
	allowed []Program
	files   [][]inode
	done    chan struct{}
}

// allow adds a program that may be the one that starts.
func (w *watch) allow(p Program, files []inode) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.allowed, w.files = append(w.allowed, p), append(w.files, files)
}

// watch returns the watch of a process, and makes one by handing the process one end of a pipe. A process has
// one at a time: starts that fail share it. It waits for the comparison of the program that the process runs.
func (f *feed) watch(c *caller, pid int) *watch {
	s := f.s
	if s.o.Compared == nil {
		return nil
	}
	s.mu.Lock()
	w := s.watches[pid]
	s.mu.Unlock()
	if w != nil {
		running, err := s.running(pid)
		if err == nil && running == w.before && !w.over() {
			return w
		}
		_ = w.started.Close() // it may have been kept open
		<-w.done
	}
	w, err := s.newWatch(f, c, pid)
	if err != nil {
		s.o.Compared(f.owner, Program{PID: pid}, Uncertain)
		return nil
	}
	return w
}

// over reports a start that was seen, or an end.
func (w *watch) over() bool {
	select {
	case <-w.done:
		return true
	default:
	}
	fd, err := w.started.SyscallConn()
	if err != nil {
		return true
	}
	over := true
	_ = fd.Control(func(fd uintptr) {
		fds := []unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(fds, 0)
		over = err != nil || fds[0].Revents != 0
	})
	return over
}

func (s *Service) newWatch(f *feed, c *caller, pid int) (*watch, error) {
	s.performing <- struct{}{}
	defer func() { <-s.performing }()
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return nil, err
	}
	before, err := s.running(pid)
	var pipe [2]int
	if err == nil {
		err = unix.Pipe2(pipe[:], unix.O_CLOEXEC|unix.O_NONBLOCK)
	}
	if err != nil {
		_ = unix.Close(process)
		return nil, err
	}
	_, err = f.give(c.id, pipe[1], false)
	_ = unix.Close(pipe[1])
	if err != nil {
		_, _ = unix.Close(process), unix.Close(pipe[0])
		return nil, err
	}
	w := &watch{
		f: f, pid: pid, process: process, before: before, started: os.NewFile(uintptr(pipe[0]), "start"),
		done: make(chan struct{}),
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_, _ = unix.Close(process), w.started.Close()
		return nil, unix.ECANCELED
	}
	s.watches[pid] = w
	go w.wait()
	return w, nil
}

// running returns the file of the program that a process runs.
func (s *Service) running(pid int) (inode, error) {
	var st unix.Stat_t
	var err error
	s.o.Rights.Do(func() { err = unix.Stat("/proc/"+strconv.Itoa(pid)+"/exe", &st) })
	return inode{st.Dev, st.Ino}, err
}

// wait compares the program when the pipe is closed: by its start, by the end of the process, or because the
// process did not let the kernel close it.
func (w *watch) wait() {
	var b [1]byte
	_, _ = w.started.Read(b[:])
	s := w.f.s
	w.mu.Lock()
	allowed, files := w.allowed, w.files
	w.mu.Unlock()
	select {
	case <-s.closing:
	default:
		if len(allowed) > 0 {
			w.compare(allowed, files)
		}
	}
	s.mu.Lock()
	if s.watches[w.pid] == w {
		delete(s.watches, w.pid)
	}
	s.mu.Unlock()
	_, _ = unix.Close(w.process), w.started.Close()
	close(w.done)
}

// compare compares the running program with those that were allowed. Another one is judged.
func (w *watch) compare(allowed []Program, files [][]inode) {
	s, last := w.f.s, allowed[len(allowed)-1]
	now, file, err := s.look(last)
	if err != nil {
		s.o.Compared(w.f.owner, last, Uncertain)
		return
	}
	for i, p := range allowed {
		if slices.Contains(files[i], file) && sameWords(now.Argv, p.Argv, len(files[i]) > 1) {
			s.o.Compared(w.f.owner, p, Same)
			return
		}
	}
	s.o.Compared(w.f.owner, last, Differs)
	if !s.o.Starts(w.f.owner, now) {
		_ = unix.PidfdSendSignal(w.process, unix.SIGKILL, nil, 0)
	}
}

// look reads the program that runs in the place of another.
func (s *Service) look(p Program) (now Program, file inode, err error) {
	proc := "/proc/" + strconv.Itoa(p.PID) + "/"
	var line []byte
	now = p
	s.performing <- struct{}{}
	defer func() { <-s.performing }()
	s.o.Rights.Do(func() {
		var st unix.Stat_t
		if err = unix.Stat(proc+"exe", &st); err != nil {
			return
		}
		file = inode{st.Dev, st.Ino}
		if now.File, err = os.Readlink(proc + "exe"); err == nil {
			line, err = os.ReadFile(proc + "cmdline")
		}
	})
	if err == nil && len(line) == 0 {
		err = unix.ESRCH // a zombie
	}
	now.Path, now.By, now.ELF, now.Begun = now.File, nil, false, true
	now.Argv = strings.Split(strings.TrimSuffix(string(line), "\x00"), "\x00")
	return now, file, err
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
