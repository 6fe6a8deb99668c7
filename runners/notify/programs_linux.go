//go:build amd64 || arm64

package notify

import (
	"bytes"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

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
// nobody is asked. A program that changed while it was judged is judged again. handOver is called before it
// waits for an answer.
func (f *feed) execute(c *caller, n *notification, handOver func()) answer {
	s := f.s
	defer c.close()
	var w *watch
	p, files, err := s.read(c, n)
	if err != nil {
		return failed(err)
	}
	for range maxReadings {
		if w == nil {
			w = f.watch(c, p.PID, handOver) // before the judgement: it tells nobody that the judgement is over
		}
		if !f.isFirst(p) && !s.o.Starts(f.owner, p, handOver) {
			return failed(unix.EACCES)
		}
		judged := p
		if p, files, err = s.readAgain(c, n, judged, files); err != nil {
			return failed(err)
		}
		switch {
		case !p.same(judged):
		case f.allow(w, p, files):
			return answer{fd: -1, goOn: true}
		default:
			w = nil // its start would not be compared
		}
	}
	return failed(unix.EACCES)
}

// decided is execute; where that breaks, the program does not start.
func (f *feed) decided(c *caller, n *notification, handOver func()) (a answer) {
	defer func() {
		if recover() != nil {
			a = failed(unix.EIO)
		}
	}()
	return f.execute(c, n, handOver)
}

// read reads the program of a call.
func (s *Service) read(c *caller, n *notification) (p Program, files []inode, err error) {
	s.performing <- struct{}{}
	defer func() { <-s.performing }()
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

// readAgain is read after the program was judged. Where all that was read is there unchanged, it is the
// judged one.
func (s *Service) readAgain(c *caller, n *notification, judged Program, files []inode) (Program, []inode,
	error) {
	s.performing <- struct{}{}
	same := false
	s.o.Rights.Do(func() { same = c.unchanged(judged, files) && c.valid() == nil })
	<-s.performing
	if same {
		return judged, files, nil
	}
	c.pages = nil // nothing of an earlier reading
	return s.read(c, n)
}

// unchanged reports that the memory of the program's path, words and variables is as it was read, and that
// the path leads to the same machine code, in plain sight, from the same directory.
func (c *caller) unchanged(p Program, files []inode) bool {
	if !p.ELF || !c.sameMemory() {
		return false
	}
	if dir, err := c.linked("cwd"); err != nil || dir != p.Dir {
		return false
	}
	var st unix.Stat_t
	return unix.Stat(p.Path, &st) == nil && inode{st.Dev, st.Ino} == files[0]
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
	text, err := c.text(address)
	if err != nil {
		return p, nil, err
	}
	c.proc = false
	im, err := c.image(at, address, text, flags)
	if err != nil {
		return p, nil, err
	}
	defer im.close()
	if p.PID, err = c.group(); err != nil {
		return p, nil, err
	}
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
	if text == "" || c.proc || len(full) >= maxPath || full[0] != '/' || unix.Stat(full, &st) != nil {
		return p.File
	}
	if (inode{st.Dev, st.Ino}) != file {
		return p.File
	}
	return full
}

// linked reads a link of the caller's directory in /proc.
func (c *caller) linked(name string) (string, error) { return linkIn(c.dir, name) }

// linkIn reads a link of a directory in /proc.
func linkIn(dir int, name string) (string, error) {
	var buf [maxPath]byte
	n, err := unix.Readlinkat(dir, name, buf[:])
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
	return im, im.interpreters(ownFile(im.file), ownFile(c.dir)+"/cwd/")
}

// interpreters adds the files that the first lines of scripts lead to, as deep as the kernel follows them
// (BINPRM_BUF_SIZE, and five scripts: fs/binfmt_script.c, fs/exec.c). dir is the caller's directory. A file
// that cannot be read is an error: the kernel reads it all the same, and may find an interpreter in it.
func (im *image) interpreters(file, dir string) error {
	for range 5 {
		head, err := firstBytes(file)
		if err != nil {
			return unix.EACCES
		}
		if !bytes.HasPrefix(head, []byte("#!")) {
			im.elf = len(im.by) == 0 && bytes.HasPrefix(head, []byte("\x7fELF"))
			return nil
		}
		line, _, _ := bytes.Cut(head[2:], []byte("\n"))
		name, option, _ := strings.Cut(strings.Trim(string(line), " \t"), " ")
		name, tabbed, _ := strings.Cut(name, "\t")
		option = strings.Trim(tabbed+" "+option, " \t") // the rest of the line is one word
		if name == "" {
			return nil
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
		if unix.Stat(file, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFREG {
			return nil // the start fails
		}
		im.files = append(im.files, inode{st.Dev, st.Ino})
	}
	return nil
}

// firstBytes reads so much of a regular file as the kernel looks at to find out how to run it. It waits for
// no other process: not for the other end of a FIFO, nor for the end of a lease.
func firstBytes(file string) ([]byte, error) {
	fd, err := openat(unix.AT_FDCWD, file, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = unix.Close(fd) }()
	buf, n := make([]byte, 256), 0
	err = untilDone(func() (err error) { n, err = unix.Read(fd, buf); return err })
	return buf[:max(n, 0)], err
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
		word, err := c.word(address, min(left, 32*os.Getpagesize())) // a longer one starts on no kernel
		if err != nil {
			return nil, err
		}
		left -= len(word) + 1
		out = append(out, word)
	}
}
