//go:build linux && (amd64 || arm64)

package starter_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/notify"
	"github.com/sallyport-dev/sallyport/runners/starter"
)

func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == starter.Flag:
		fmt.Fprintln(os.Stderr, starter.Main(os.Args[2:]))
		os.Exit(126)
	case len(os.Args) > 2 && os.Args[1] == "exchange":
		exchange(os.Args[2])
	case len(os.Args) > 3 && os.Args[1] == "meddle":
		meddle(os.Args[2], os.Args[3])
	}
	os.Exit(m.Run())
}

// seen are the programs that a service was asked about.
type seen struct {
	mu       sync.Mutex
	programs []notify.Program
	compared []notify.Comparison
	refuse   func(notify.Program) bool
}

func (s *seen) starts(_ string, p notify.Program, _ func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.programs = append(s.programs, p)
	return s.refuse == nil || !s.refuse(p)
}

func (s *seen) note(_ string, _ notify.Program, c notify.Comparison) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.compared = append(s.compared, c)
}

// lines are the words of the programs.
func (s *seen) lines() (out []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.programs {
		out = append(out, strings.Join(p.Argv, " "))
	}
	return out
}

// run runs a text with its programs seen, and returns its output and how it ended.
func run(t *testing.T, s *seen, dir, text string) (string, error) {
	t.Helper()
	service, err := notify.New(notify.Options{Starts: s.starts, Compared: s.note})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	return serve(t, service, dir, text)
}

// serve runs a text that asks a service about its programs.
func serve(t *testing.T, service *notify.Service, dir, text string, before ...string) (string, error) {
	t.Helper()
	sh := leftout.Command(t, "sh")
	h, err := starter.NewHandover()
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	argv := []string{"sh", "-c", text}
	words := append(before, starter.Words(self, starter.Options{}, sh, argv)...)
	cmd := exec.Command(words[0], words[1:]...)
	var out bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = dir, &out, &out, []*os.File{h.Descriptor()}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	listener, err := h.Listener(time.Minute)
	if err != nil {
		_ = cmd.Wait()
		if strings.Contains(out.String(), notify.ErrUnsupported.Error()) {
			leftout.Skip(t, leftout.Platform, out.String())
		}
		t.Fatal(err, out.String())
	}
	err = errors.Join(service.Serve(listener, "d", notify.Program{Path: sh, Argv: argv}), h.Begin())
	if err != nil {
		t.Fatal(err)
	}
	err = cmd.Wait()
	return out.String(), err
}

func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// Every program is seen, by its own words, however it is started; those that do not exist are not.
func TestSeen(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/script.sh", "#!/bin/sh\necho script \"$1\"\n", 0o755)
	write(t, dir+"/plain", "echo plain\n", 0o755)
	write(t, dir+"/chain", "#!./script.sh opt\n", 0o755)
	write(t, dir+"/Makefile", "all:\n\t@cat script.sh > copy\n", 0o644)
	if err := os.Symlink("script.sh", dir+"/link"); err != nil {
		t.Fatal(err)
	}
	s := &seen{}
	out, err := run(t, s, dir, `./script.sh a; ./link b; ./plain; ./chain; PATH=/nowhere:$PATH env true; ./none; `+
		`printf '%s\n' x y | xargs -n1 sh -c 'env printf "%s," "$0"'; find script.sh -exec cat {} +`)
	if err != nil {
		t.Error(err)
	}
	for _, want := range []string{"script a\n", "script b\n", "plain\n", "x,y,"} {
		if !strings.Contains(out, want) {
			t.Errorf("output %q lacks %q", out, want)
		}
	}
	want := []string{
		"./script.sh a", "./link b", "./plain", "./chain", "env true", "true", "xargs -n1 sh -c env printf \"%s,\" \"$0\"",
		"sh -c env printf \"%s,\" \"$0\" x", "env printf %s, x", "printf %s, x",
		"sh -c env printf \"%s,\" \"$0\" y", "env printf %s, y", "printf %s, y",
		"find script.sh -exec cat {} +", "cat script.sh",
	}
	got := slices.DeleteFunc(s.lines(), func(l string) bool { return strings.HasSuffix(l, "/sh ./plain") }) // of dash
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("programs\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if slices.Contains(s.compared, notify.Differs) {
		t.Errorf("a comparison fails: %v", s.compared)
	}
	for _, p := range s.programs {
		if p.Argv[0] == "./link" && (p.Path != filepath.Join(p.Dir, "link") || filepath.Base(p.File) != "script.sh") {
			t.Errorf("%+v", p)
		}
	}
}

// The name of a program is the one by which it is in plain sight: links, dots and descriptors in a path do
// not let it pass for another.
func TestNames(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/away/deep", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/x", "#!/bin/sh -e\n", 0o755)
	write(t, dir+"/away/x", "#!/bin/sh\n", 0o755)
	for link, target := range map[string]string{"d": "away/deep", "to-x": "x"} {
		if err := os.Symlink(target, dir+"/"+link); err != nil {
			t.Fatal(err)
		}
	}
	for text, want := range map[string]notify.Program{
		"./x":                         {Path: dir + "/x", File: dir + "/x", By: []string{"/bin/sh", "-e"}},
		"./to-x":                      {Path: dir + "/to-x", File: dir + "/x", By: []string{"/bin/sh", "-e"}},
		"d/../x":                      {Path: dir + "/away/x", File: dir + "/away/x", By: []string{"/bin/sh"}},
		"exec 9<x; /dev/fd/9":         {Path: dir + "/x", File: dir + "/x", By: []string{"/bin/sh", "-e"}},
		"exec 9<x; /proc/self/fd/9":   {Path: dir + "/x", File: dir + "/x", By: []string{"/bin/sh", "-e"}},
		"cd away; exec 9<..; ./../x":  {Path: dir + "/x", File: dir + "/x", By: []string{"/bin/sh", "-e"}},
		"cd away; ../d/../../to-x; :": {Path: dir + "/x", File: dir + "/x", By: []string{"/bin/sh", "-e"}},
	} {
		s := &seen{}
		if out, err := run(t, s, dir, text); err != nil || len(s.programs) != 1 {
			t.Fatalf("%s: %v, %s, %+v", text, err, out, s.programs)
		}
		got := s.programs[0]
		if got.Path != want.Path || got.File != want.File || !slices.Equal(got.By, want.By) {
			t.Errorf("%s: %q, %q, %q", text, got.Path, got.File, got.By)
		}
	}
}

// A descriptor has the same number here as the one by which this process looks at the file of the program: the
// path leads both to that file, and is no name of it.
func TestNamesByDescriptors(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bash")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/x", "#!/bin/sh\n", 0o755)
	s := &seen{}
	text := `exec bash -c 'for ((n = 3; n < 100; n++)); do eval "exec $n<x"; /proc/self/fd/$n; done'`
	if out, err := run(t, s, dir, text); err != nil || len(s.programs) != 98 {
		t.Fatalf("%v, %s, %d programs", err, out, len(s.programs))
	}
	for _, p := range s.programs[1:] {
		if p.Path != dir+"/x" {
			t.Errorf("%s: %s", p.Argv[0], p.Path)
		}
	}
}

// A refused program does not start, and its parent goes on.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, refuse := range []bool{false, true} {
		dir := t.TempDir()
		write(t, dir+"/file", "x", 0o644)
		s := &seen{refuse: func(p notify.Program) bool { return refuse && filepath.Base(p.File) == "rm" }}
		out, err := run(t, s, dir, `find . -name file -exec rm {} \; ; echo on`)
		if err != nil || !strings.HasSuffix(out, "on\n") {
			t.Errorf("refuse %v: %v, %q", refuse, err, out)
		}
		if _, err := os.Stat(dir + "/file"); (err == nil) != refuse {
			t.Errorf("refuse %v: %v", refuse, err)
		}
	}
}

// A judge that breaks starts no program.
func TestJudgeBreaks(t *testing.T) {
	t.Parallel()
	s := &seen{refuse: func(notify.Program) bool { panic("the judge breaks") }}
	out, err := run(t, s, t.TempDir(), "cat /dev/null && echo ran")
	if err == nil || strings.Contains(out, "ran") {
		t.Errorf("%v, %q", err, out)
	}
}

// Programs that wait for an answer hold up no other.
func TestWaiting(t *testing.T) {
	t.Parallel()
	var all sync.WaitGroup
	all.Add(2)
	service, err := notify.New(notify.Options{
		Starts: func(_ string, _ notify.Program, waits func()) bool {
			waits()
			all.Done()
			all.Wait()
			return true
		},
		Compared: (&seen{}).note,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer service.Close()
	out, err := serve(t, service, t.TempDir(), "cat /dev/null & cat /dev/null & wait; echo on")
	if err != nil || out != "on\n" {
		t.Errorf("%v, %q", err, out)
	}
}

// A script with an interpreter that is no regular file does not start, as without a service, and nobody waits
// for the other end of a FIFO.
func TestOddInterpreters(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := unix.Mkfifo(dir+"/fifo", 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, dir+"/script", "#!"+dir+"/fifo\n", 0o755)
	write(t, dir+"/of-device", "#!/dev/tty\n", 0o755)
	s := &seen{}
	text := `for i in 1 2 3 4 5 6 7 8 9; do env ./script & done; wait; env ./of-device; cat script >/dev/null && echo on`
	out, err := run(t, s, dir, text)
	if err != nil || !strings.HasSuffix(out, "on\n") || strings.Count(out, "Permission denied") != 10 {
		t.Errorf("%v, %q", err, out)
	}
}

// A script that cannot be read when it is to be judged does not start: its interpreter is not known. A lease
// on it keeps the service from reading it, and not the kernel, which waits for its end.
func TestLeasedScript(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir+"/script", "#!/bin/echo ran\n", 0o755)
	file, err := unix.Open(dir+"/script", unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(file) }()
	if _, err := unix.FcntlInt(uintptr(file), unix.F_SETLEASE, unix.F_WRLCK); err != nil {
		leftout.Skip(t, leftout.Platform, "no leases here: "+err.Error())
	}
	end := func() { _, _ = unix.FcntlInt(uintptr(file), unix.F_SETLEASE, unix.F_UNLCK) }
	s := &seen{refuse: func(p notify.Program) bool {
		if p.Argv[0] == "./script" && !p.Begun {
			end()
		}
		return false
	}}
	out, _ := run(t, s, dir, "./script")
	if strings.Contains(out, "ran") {
		t.Errorf("%q, of %q", out, s.lines())
	}
	end()
	s = &seen{}
	if out, err := run(t, s, dir, "./script"); err != nil || out != "ran ./script\n" {
		t.Errorf("%v, %q", err, out)
	}
}

// exchange executes touch while another thread exchanges its word.
func exchange(path string) {
	word := []byte("good\x00")
	evil := []byte("evil")
	program, _ := unix.BytePtrFromString(path)
	name, _ := unix.BytePtrFromString("touch")
	argv := []*byte{name, &word[0], nil}
	envp := []*byte{nil}
	var going atomic.Bool
	go func() {
		for {
			copy(word, evil)
			copy(word, "good")
			going.Store(true)
		}
	}()
	for !going.Load() {
		runtime.Gosched()
	}
	_, _, errno := syscall.Syscall(unix.SYS_EXECVE, uintptr(unsafe.Pointer(program)),
		uintptr(unsafe.Pointer(&argv[0])), uintptr(unsafe.Pointer(&envp[0])))
	fmt.Println(errno)
	os.Exit(1)
}

// A program with words that change after its judgement is judged again, or counts as not compared.
// One that goes on changing while it is judged does not start.
func TestExchanged(t *testing.T) {
	touch := leftout.Command(t, "touch")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	changed, uncertain, refused := 0, 0, 0
	for range 30 {
		dir := t.TempDir()
		s := &seen{}
		if out, err := run(t, s, dir, "exec "+self+" exchange "+touch); strings.HasPrefix(out, unix.EACCES.Error()) {
			refused++
			continue
		} else if err != nil {
			t.Fatal(err, out)
		}
		made, err := os.ReadDir(dir)
		if err != nil || len(made) != 1 {
			t.Fatal(made, err)
		}
		name := made[0].Name()
		judged := slices.ContainsFunc(s.programs, func(p notify.Program) bool {
			return len(p.Argv) == 2 && p.Argv[1] == name
		})
		unknown := slices.Contains(s.compared, notify.Uncertain)
		switch {
		case !judged && !unknown:
			t.Errorf("touch %s was not judged, and is said to be the same: %v", name, s.compared)
		case !judged:
			uncertain++
		case slices.Contains(s.compared, notify.Differs):
			changed++
		}
	}
	t.Logf("%d did not start, %d changes were found, %d could not be", refused, changed, uncertain)
}
