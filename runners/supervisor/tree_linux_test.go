package supervisor

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// escapes starts 5 processes in ways that keep them alive when their shell dies. They have $TAG
// among their arguments and end by themselves after 10 minutes, when no test waits for them any more.
const escapes = `sleep "$TAG" &
	(setsid sleep "$TAG" &)
	(trap '' TERM HUP; nohup sleep "$TAG" >/dev/null 2>&1 &)
	(setsid env -i /bin/sh -c '(sleep "$0" <&- >&- 2>&- &)' "$TAG" &)
	(setsid sh -c 'trap "" TERM; exec sleep "$0"' "$TAG" &)
`

// tagged returns the processes that sleep for as long as the tag says.
func tagged(t *testing.T, tag string) []proc {
	t.Helper()
	all, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	var found []proc
	seen := map[int]bool{os.Getpid(): true}
	for _, p := range all {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.pid))
		if err == nil && !seen[p.pid] && string(b) == "sleep\x00"+tag+"\x00" {
			found = append(found, p)
		}
		seen[p.pid] = true
	}
	return found
}

// newTag returns a number of seconds that nobody else sleeps for.
func newTag() string { return fmt.Sprintf("600.%d", time.Now().UnixNano()) }

// there waits until as many processes with a tag are there.
func there(t *testing.T, tag string, want int) {
	t.Helper()
	await.True(t, fmt.Sprintf("%d processes are there", want), func() bool { return len(tagged(t, tag)) == want })
}

// TestUntraced runs where tracing is forbidden. A process may lack its mark there, so none that
// clears its environment is among those that are to die.
func TestUntraced(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t, Options{})
	s.host.untraced = true
	tag := newTag()
	p := start(t, s, command(`sleep "$TAG" &
		(setsid sleep "$TAG" &)
		(setsid sh -c 'trap "" TERM; (exec sleep "$0" <&- >&- 2>&- &)' "$TAG" &)
		sleep 60`, "TAG="+tag))
	there(t, tag, 3)
	p.Kill("test")
	if x, left := p.Wait(), tagged(t, tag); len(left) != 0 || x.Survivors != 0 {
		t.Errorf("%d left, %+v", len(left), x)
	}
}

// orphaned waits until the one process with a tag is a child of this process.
func orphaned(t *testing.T, tag string) {
	t.Helper()
	await.True(t, "an orphan is there", func() bool { found := tagged(t, tag); return len(found) == 1 && found[0].ppid == os.Getpid() })
}

// wiped leaves a process behind that shows none of the signs by which it could be told, except
// that it changed its mark.
const wiped = `(ulimit -R 1000000; setsid env -i /bin/sh -c '(trap "" TERM; exec sleep "$0" </dev/null >/dev/null 2>&1) &' "$TAG" &)
`

// TestChangedMark is not parallel: an orphan without signs could belong to any supervisor of the
// process, and those of other tests would end it.
func TestChangedMark(t *testing.T) {
	t.Run("one command", func(t *testing.T) {
		s, tag := newSupervisor(t, Options{}), newTag()
		p := start(t, s, command(wiped+"sleep 60", "TAG="+tag))
		there(t, tag, 1)
		p.Kill("test")
		if x, left := p.Wait(), tagged(t, tag); len(left) != 0 || x.Survivors != 0 {
			t.Errorf("%d left, %+v", len(left), x)
		}
	})
	t.Run("two commands", func(t *testing.T) {
		s, tag := newSupervisor(t, Options{}), newTag()
		other := start(t, s, command("sleep 60"))
		p := start(t, s, command(wiped+"sleep 60", "TAG="+tag))
		orphaned(t, tag)
		p.Kill("test")
		p.Wait()
		if left := tagged(t, tag); len(left) != 1 {
			t.Errorf("%d left: it could have been the other command's", len(left))
		}
		other.Kill("test")
		other.Wait()
		if left := tagged(t, tag); len(left) != 0 {
			t.Errorf("%d left after the last command that it could belong to", len(left))
		}
	})
}

// TestThreads checks that a process whose first thread has ended, and which therefore looks like
// a zombie, is ended.
func TestThreads(t *testing.T) {
	t.Parallel()
	python := leftout.Command(t, "python3")
	if out, err := exec.Command(python, "-c", "import ctypes; print(1)").CombinedOutput(); err != nil {
		leftout.Skip(t, leftout.Programs, fmt.Sprintf("python3 cannot make system calls (%s): install its ctypes module", out))
	}
	s, tag := newSupervisor(t, Options{}), newTag()
	program := `import ctypes, os, signal, threading, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
threading.Thread(target=lambda: time.sleep(120)).start()
print(os.getpid(), flush=True)
ctypes.CDLL(None).syscall({"x86_64": 60, "aarch64": 93}[__import__("platform").machine()], 0)`
	p := start(t, s, command("(setsid "+python+" -c '"+program+"' "+tag+" &); sleep 60"))
	// A zombie has no arguments any more, so it says which it is.
	var found proc
	isZombie := func() bool {
		out, _ := p.Output()
		pid, err := strconv.Atoi(strings.TrimSpace(out.Text))
		if err == nil {
			found, err = readProc(pid)
		}
		return err == nil && found.state == 'Z' && found.threads > 1
	}
	await.True(t, "the first thread of a process has ended", isZombie)
	p.Kill("test")
	x := p.Wait()
	if now, err := readProc(found.pid); err == nil && now.start == found.start || x.Survivors != 0 {
		t.Errorf("%+v is left, %+v", now, x)
	}
}

// TestForeignChildren checks that children of this process that are none of a Supervisor's live
// on, and that their exit status is theirs to wait for.
func TestForeignChildren(t *testing.T) {
	t.Parallel()
	s, tag := newSupervisor(t, Options{}), newTag()
	child := exec.Command("sleep", "60")
	child.Env = []string{}
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	orphan := exec.Command("/bin/sh", "-c", `(setsid sleep "$0" &)`, tag)
	if err := orphan.Run(); err != nil {
		t.Fatal(err)
	}
	there(t, tag, 1)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			start(t, s, command("(sleep 60 &); (setsid env -i sleep 60 &); sleep 0.05")).Wait()
			cmd := exec.Command("/bin/sh", "-c", "exit 7")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != 7 {
				t.Errorf("exit code of a foreign child: %d", code)
			}
		})
	}
	wg.Wait()
	s.host.collect()
	if n := len(tagged(t, tag)); n != 1 {
		t.Errorf("%d foreign orphans, want 1", n)
	}
	for _, p := range tagged(t, tag) {
		p.send(unix.SIGKILL)
	}
	if err := child.Process.Kill(); err != nil {
		t.Errorf("foreign child: %v", err)
	}
	if err := child.Wait(); err == nil || child.ProcessState.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("foreign child: %v", err)
	}
}

// TestTwoSupervisors checks that the end of one's commands spares the other's, even with the same id.
func TestTwoSupervisors(t *testing.T) {
	t.Parallel()
	a, b := newSupervisor(t, Options{}), newSupervisor(t, Options{})
	tag := newTag()
	theirs, ours := command(escapes+"sleep 60", "TAG="+tag), command(escapes, "TAG="+newTag())
	ours.ID = theirs.ID
	other := start(t, b, theirs)
	there(t, tag, 5)
	start(t, a, ours).Wait()
	if n := len(tagged(t, tag)); n != 5 {
		t.Errorf("%d processes of the other, want 5", n)
	}
	other.Kill("test")
	other.Wait()
	if n := len(tagged(t, tag)); n != 0 {
		t.Errorf("%d left", n)
	}
}

// TestJanitor checks that orphans which end while their command runs on do not stay zombies.
func TestJanitor(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t, Options{})
	c := command("read -r _; i=0; while [ $i -lt 20 ]; do ( (sleep 0.1) & ); i=$((i+1)); done; sleep 60")
	stdin, told := io.Pipe()
	c.Stdin = stdin
	p := start(t, s, c)
	mine := func() int {
		all, err := processes()
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, q := range all {
			if q.sid == p.PID() && q.ppid == os.Getpid() && !q.alive() {
				n++
			}
		}
		return n
	}
	s.host.mu.Lock() // nothing is collected before it was seen
	told.Close()
	some := await.Holds(func() bool { return mine() > 0 })
	s.host.mu.Unlock()
	if !some {
		t.Fatal("no zombies to begin with")
	}
	await.True(t, "its zombies are gone", func() bool { return mine() == 0 })
	p.Kill("test")
	p.Wait()
}

// watcherOf runs a command and returns the process id of the watcher then.
func watcherOf(t *testing.T, s *Supervisor) int {
	t.Helper()
	start(t, s, command(":")).Wait()
	s.host.mu.Lock()
	defer s.host.mu.Unlock()
	return s.host.watch.pid
}

// TestWatcherRestart checks that a watcher that somebody killed is replaced.
func TestWatcherRestart(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t, Options{})
	first := watcherOf(t, s)
	unix.Kill(first, unix.SIGKILL)
	replaced := func() bool {
		s.host.collect()
		return watcherOf(t, s) != first
	}
	await.True(t, "there is another watcher", replaced)
}

// TestStoppedWatcher checks that an environment ends although a command has stopped its watcher.
func TestStoppedWatcher(t *testing.T) {
	t.Parallel()
	s := newSupervisor(t, Options{})
	watcher := watcherOf(t, s)
	start(t, s, command(fmt.Sprintf("kill -STOP %d", watcher))).Wait()
	ended := make(chan error, 1)
	go func() { ended <- s.Close() }()
	if err := await.Receive(t, "end of the environment", ended); err != nil {
		t.Error(err)
	}
}

// TestSweep leaves an orphan that two commands could own, and a child that is none of theirs, to what
// Close does last. Two commands that end at the same moment may both leave the orphan to it. It is not
// parallel for the reason of TestChangedMark.
func TestSweep(t *testing.T) {
	s, tag, foreign := newSupervisor(t, Options{}), newTag(), newTag()
	if n := s.host.sweep(); n != 0 {
		t.Errorf("%d left before anything was started", n)
	}
	other := start(t, s, command("sleep 60"))
	p := start(t, s, command(wiped+"sleep 60", "TAG="+tag))
	orphaned(t, tag)
	child := exec.Command("sleep", foreign)
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	p.Kill("test")
	p.Wait()
	if left := tagged(t, tag); len(left) != 1 {
		t.Fatalf("%d left by the command, so there is nothing to sweep", len(left))
	}
	if n := s.host.sweep(); n != 0 || len(tagged(t, tag)) != 0 {
		t.Errorf("%d could not be ended, %d left", n, len(tagged(t, tag)))
	}
	if len(tagged(t, foreign)) != 1 || closed(other.done) {
		t.Error("it reached a child that is none of a command's, or a command")
	}
	child.Process.Kill()
	child.Wait()
}

// TestPauseMeetsForks checks that no child stays stopped that was being forked when a pause began or ended.
func TestPauseMeetsForks(t *testing.T) {
	t.Parallel()
	c := exec.Command(leftout.Command(t, "unshare"),
		"--user", "--map-root-user", "--kill-child", "--pid", "--mount-proc", os.Args[0])
	c.Env = append(os.Environ(), helper+"=forks")
	out, err := c.CombinedOutput()
	if strings.HasPrefix(string(out), "unshare: ") {
		leftout.Skip(t, leftout.Platform, "no namespace can be made: "+string(out))
	}
	if err != nil || string(out) != "all went on\n" {
		t.Errorf("%v: %s", err, out)
	}
}

// pauseForks is the first process of a namespace in which others fork all the time. They are large, since the
// kernel copies their page tables at each fork.
func pauseForks() int {
	const forks = `x=$(head -c 20000000 /dev/zero | tr '\0' x); while :; do (:); echo; done`
	all := &pause{enclosed: enclosed(), starts: new(sync.Mutex)}
	var forked [4]atomic.Int64
	for i := range forked {
		c := exec.Command("bash", "-c", forks)
		lines, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			fmt.Println(err)
			return 1
		}
		go func() {
			for s := bufio.NewScanner(lines); s.Scan(); {
				forked[i].Add(1)
			}
		}()
		go func() { // a fork waits for readers of its memory map, in the state D
			for {
				if _, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", c.Process.Pid)); err != nil {
					return
				}
			}
		}()
	}
	goOn := func() bool {
		for i := range forked {
			from := forked[i].Load()
			// At most two lines of an earlier time can come yet.
			if !await.Holds(func() bool { return forked[i].Load() > from+2 }) {
				return false
			}
		}
		return true
	}
	for round := range 30 {
		s := &stillness{of: all}
		s.begin()
		s.end()
		if !goOn() {
			fmt.Printf("round %d: a process stays stopped\n", round)
			return 1
		}
	}
	fmt.Println("all went on")
	return 0
}
