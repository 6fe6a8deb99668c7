package main

import (
	"bufio"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/confirm/frame"
)

// The guards end a program that would not end, and say so in its result. They decide nothing.
const (
	patience  = 2 * time.Second
	logBytes  = 1 << 17
	processes = 150
)

// roots are the places where programs may write.
var roots = []string{"/home", "/tmp"}

// drive reads the fixture and the environment, then programs, and answers each with a frame: how it ended,
// the log, the files that are new or changed ("+" and a path), and the paths that are gone ("-").
func drive() error {
	in, out := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	log, err := memory()
	if err != nil {
		return err
	}
	fixture, err := frame.Read(in)
	if err != nil {
		return err
	}
	env, err := frame.Read(in)
	if err != nil {
		return err
	}
	reset(fixture)
	base := snapshot()
	limit()
	for {
		program, err := frame.Read(in)
		if err != nil || len(program) != 3 {
			return err
		}
		mode, _ := strconv.Atoi(program[2])
		_ = syscall.Ftruncate(log, 0)
		_, _ = syscall.Pwrite(log, []byte{byte(mode)}, 0)
		ended := run(log, program[0], program[1], env)
		now := snapshot()
		list := []string{ended, contents(log)}
		changed := false
		for _, p := range sortedKeys(now) {
			if base[p] != now[p] {
				changed = true
				if strings.HasPrefix(now[p], "-") {
					list = append(list, "+"+p)
				}
			}
		}
		for _, p := range sortedKeys(base) {
			if now[p] == "" {
				changed = true
				list = append(list, "-"+p)
			}
		}
		if _, err := out.Write(frame.Append(nil, list)); err != nil {
			return err
		}
		if err := out.Flush(); err != nil {
			return err
		}
		if changed {
			reset(fixture)
			base = snapshot()
		}
	}
}

// memory is the log: descriptor 9 of process 1.
func memory() (int, error) {
	fd, err := unix.MemfdCreate("log", unix.MFD_CLOEXEC)
	if err != nil {
		return 0, err
	}
	return 9, syscall.Dup3(fd, 9, syscall.O_CLOEXEC)
}

func contents(log int) string {
	var st syscall.Stat_t
	_ = syscall.Fstat(log, &st)
	b := make([]byte, max(0, st.Size-1))
	n, _ := syscall.Pread(log, b, 1)
	return string(b[:max(0, n)])
}

// limit bounds the resources of the programs. The driver itself stays far below.
func limit() {
	for _, l := range []struct {
		what int
		max  uint64
	}{{unix.RLIMIT_NPROC, 400}, {syscall.RLIMIT_FSIZE, 8 << 20}, {syscall.RLIMIT_CORE, 0}} {
		_ = syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.max, Max: l.max})
	}
}

// run runs one program to the end of all its processes.
func run(log int, shell, text string, env []string) string {
	null, err := os.OpenFile("/dev/null", os.O_RDWR, 0)
	if err != nil {
		return "no /dev/null"
	}
	defer func() { _ = null.Close() }()
	pid, err := syscall.ForkExec("/real/"+shell, []string{shell, "-c", text}, &syscall.ProcAttr{
		Dir: "/home/dev/app", Env: env, Files: []uintptr{null.Fd(), null.Fd(), null.Fd()},
		Sys: &syscall.SysProcAttr{Setsid: true},
	})
	if err != nil {
		return "not started: " + err.Error()
	}
	var guard atomic.Pointer[string]
	done := make(chan struct{})
	go watch(log, done, &guard)
	ended := ""
	for {
		var st syscall.WaitStatus
		p, err := syscall.Wait4(-1, &st, 0, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			break
		}
		if p == pid {
			ended = "status " + strconv.Itoa(st.ExitStatus())
		}
	}
	close(done)
	if g := guard.Load(); g != nil {
		return *g
	}
	return ended
}

// watch kills everything once a bound is reached.
func watch(log int, done chan struct{}, guard *atomic.Pointer[string]) {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	start := time.Now()
	for {
		select {
		case <-done:
			return
		case <-tick.C:
		}
		why := ""
		var st syscall.Stat_t
		_ = syscall.Fstat(log, &st)
		switch {
		case st.Size > logBytes:
			why = "guard: log"
		case time.Since(start) > patience:
			why = "guard: time"
		case running() > processes:
			why = "guard: processes"
		default:
			continue
		}
		guard.Store(&why)
		_ = syscall.Kill(-1, syscall.SIGKILL)
	}
}

func running() (n int) {
	d, err := os.Open("/proc")
	if err != nil {
		return 0
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if name[0] >= '0' && name[0] <= '9' {
			n++
		}
	}
	return n
}

// reset makes the fixture anew: triples of path, kind and content; everything else goes.
func reset(fixture []string) {
	for _, root := range roots {
		_ = os.Chmod(root, 0o755)
		entries, _ := os.ReadDir(root)
		for _, e := range entries {
			p := filepath.Join(root, e.Name())
			if os.RemoveAll(p) != nil {
				_ = filepath.WalkDir(p, func(q string, d fs.DirEntry, err error) error {
					if d != nil && d.IsDir() {
						_ = os.Chmod(q, 0o755)
					}
					return nil
				})
				_ = os.RemoveAll(p)
			}
		}
	}
	for i := 0; i+2 < len(fixture); i += 3 {
		p, kind, content := fixture[i], fixture[i+1], fixture[i+2]
		switch kind {
		case "dir":
			_ = os.MkdirAll(p, 0o755)
		case "link":
			_ = os.Symlink(content, p)
		default:
			perm := fs.FileMode(0o644)
			if kind == "run" {
				perm = 0o755
			}
			_ = os.WriteFile(p, []byte(content), perm)
		}
	}
	old := time.Unix(1700000000, 0)
	for i := len(fixture) - 3; i >= 0; i -= 3 {
		if fixture[i+1] != "link" {
			_ = os.Chtimes(fixture[i], old, old)
		}
	}
}

// snapshot describes everything below the roots.
func snapshot() map[string]string {
	all := map[string]string{}
	var b bytes.Buffer
	for _, root := range roots {
		_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, _ error) error {
			if d == nil {
				return nil
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			b.Reset()
			b.WriteString(info.Mode().String())
			b.WriteByte(' ')
			b.WriteString(strconv.FormatInt(info.ModTime().UnixNano(), 10))
			if info.Mode().IsRegular() {
				b.WriteByte(' ')
				b.WriteString(strconv.FormatInt(info.Size(), 10))
			}
			if d.Type()&fs.ModeSymlink != 0 {
				target, _ := os.Readlink(p)
				b.WriteString(target)
			}
			all[p] = b.String()
			return nil
		})
	}
	return all
}

func sortedKeys(m map[string]string) []string {
	list := make([]string, 0, len(m))
	for k := range m {
		list = append(list, k)
	}
	sort.Strings(list)
	return list
}
