package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// launch starts a text in an environment and waits until its processes are there.
func launch(t *testing.T, env engine.Environment, text, tag string, want int, elevated bool) engine.Process {
	t.Helper()
	p, err := begin(env, engine.Command{Text: "TAG=" + tag + "; export TAG\n" + text + "\nsleep 1200", Elevated: elevated})
	if err != nil {
		t.Fatal(err)
	}
	await.True(t, fmt.Sprintf("%d processes are there", want), func() bool { return len(runnertest.Tagged(tag)) >= want })
	return p
}

// The processes of another user end with the supervisor when it is killed.
func TestDeathAsUser(t *testing.T) {
	t.Parallel()
	env := asRoot(t, narrow, wire.Settings{User: &someone, Home: "/"})
	defer env.Close()
	tag := runnertest.NewTag()
	escapes, escaped := runnertest.Escapes()
	launch(t, env, escapes, tag, escaped, false)
	keeper := strings.TrimSpace(do(t, env, engine.Command{Text: "echo $PPID"}).Stdout.Text)
	pid, err := strconv.Atoi(keeper)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	await.True(t, "none of them is left", func() bool { return len(runnertest.Tagged(tag)) == 0 })
}

// What became root, and gave up all by which it is known, ends with its command all the same.
func TestRootLeavesNothing(t *testing.T) {
	t.Parallel()
	home := homeOf(t, someone)
	root := rooted(t, filepath.Dir(home))
	leftout.Command(t, "setpriv")
	env := asRoot(t, wide, wire.Settings{User: &someone, Home: home})
	defer env.Close()
	other := runnertest.NewTag()
	bystander := launch(t, env, `(setsid env -i sleep "$TAG" &)`, other, 1, false)
	tag := runnertest.NewTag()
	p := launch(t, env, root+` -pc 'setsid setpriv --reuid=0 --regid=0 --clear-groups env -i /bin/sh -c "(sleep $TAG &)" & (setsid sleep $TAG &)'`, tag, 2, true)
	p.Kill("test")
	if x := p.Wait(); x.Survivors != 0 {
		t.Errorf("%+v", x)
	}
	if err := env.Err(); err != nil {
		t.Fatal(err)
	}
	if n := len(runnertest.Tagged(other)); n == 0 {
		t.Error("what another command started is gone too")
	}
	bystander.Kill("test")
	if x := bystander.Wait(); x.Survivors != 0 || len(runnertest.Tagged(other)) != 0 {
		t.Errorf("%+v, %d processes", x, len(runnertest.Tagged(other)))
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	// While two commands could own what gave up its marks, it is left alone: at the latest it ends here.
	if n := len(runnertest.Tagged(tag)); n != 0 {
		t.Errorf("%d processes are left", n)
	}
}

// container starts an init in process and mount namespaces of its own, after some words. enter stands before
// a command line that runs there.
func container(t *testing.T, as ...string) (init *exec.Cmd, enter []string) {
	t.Helper()
	leftout.NeedRoot(t)
	unshare := leftout.Command(t, "unshare")
	nsenter := leftout.Command(t, "nsenter")
	words := append([]string{"--pid", "--fork", "--kill-child", "--mount-proc"}, as...)
	init = exec.Command(unshare, append(words, program, "--init")...)
	if err := init.Start(); err != nil {
		t.Fatal(err)
	}
	var first string
	t.Cleanup(func() {
		if pid, err := strconv.Atoi(first); err == nil { // another user loses the signal of --kill-child
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		_ = init.Process.Kill()
		_ = init.Wait()
	})
	await.True(t, "the first process is there", func() bool {
		b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", init.Process.Pid, init.Process.Pid))
		first = strings.TrimSpace(string(b))
		cmdline, _ := os.ReadFile("/proc/" + first + "/cmdline")
		return first != "" && strings.Contains(string(cmdline), "--init")
	})
	// A shell waits there for the end of the command line alone. nsenter itself would stop with it for good.
	enter = []string{nsenter, "--no-fork", "--target", first, "--pid", "--mount"}
	return init, append(enter, "sh", "-c", `"$@"; exit`, "sh")
}

// The first process of a container ends what has lost its supervisor, and nothing else; asked to, it ends.
func TestInit(t *testing.T) {
	t.Parallel()
	init, enter := container(t)
	open := func() *wire.Environment {
		env, err := greet(append(enter, program), wire.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = env.Close() })
		return env
	}
	lost, kept := open(), open()
	tag, other := runnertest.NewTag(), runnertest.NewTag()
	escapes, escaped := runnertest.Escapes()
	launch(t, lost, escapes, tag, escaped, false)
	launch(t, kept, escapes, other, escaped, false)
	do(t, lost, engine.Command{Text: `for f in /proc/[0-9]*/cmdline; do grep -qs watcher $f && pid=${f#/proc/} && kill -9 ${pid%/*}; done; true`}) // so that it is not the one who does it
	p, err := begin(lost, engine.Command{Text: "kill -9 $PPID; sleep 1200"})
	if err == nil {
		p.Wait()
	}
	await.True(t, "none of them outlives its supervisor", func() bool { return len(runnertest.Tagged(tag)) == 0 })
	if n := len(runnertest.Tagged(other)); n < escaped {
		t.Errorf("%d processes of another supervisor are left, want %d", n, escaped)
	}
	if x := do(t, kept, engine.Command{Text: "echo $(ls -d /proc/[0-9]* | wc -l); cat /proc/1/task/1/children"}); x.Error != nil || strings.Contains(x.Stdout.Text, "\n ") {
		t.Errorf("%+v", x)
	}
	if x := do(t, kept, engine.Command{Text: "kill -9 1; kill -STOP 1; echo here"}); x.Stdout.Text != "here\n" {
		t.Errorf("%+v", x)
	}
	done := make(chan error, 1)
	go func() { done <- init.Wait() }()
	// unshare passes nothing on, so its child is asked.
	_ = exec.CommandContext(await.Context(t), enter[0], append(enter[1:], "sh", "-c", "kill -TERM 1")...).Run() // it may end before that does
	if err := await.Receive(t, "end of the first process", done); err != nil {
		t.Errorf("it ends with %v", err)
	}
	if n := len(runnertest.Tagged(other)); n != 0 {
		t.Errorf("%d processes outlive the first one", n)
	}
}

// showsPauses is a program of Perl that says so when it goes on after a stop.
const showsPauses = `$SIG{CONT} = sub { syswrite STDOUT, "goes on\n" };
	syswrite STDOUT, "begun\n"; select undef, undef, undef, 1 while 1`

// A crowd cannot delay its end: all processes of the container stop before it is looked at, and the others
// go on.
func TestCrowd(t *testing.T) {
	t.Parallel()
	_, enter := container(t)
	env, err := greet(append(enter, program), wire.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = env.Close() })
	leftout.Command(t, "perl")
	other, err := begin(
		env,
		engine.Command{Text: "exec perl -e '" + showsPauses + "'"},
	)
	if err != nil {
		t.Fatal(err)
	}
	said := func() string { out, _ := other.Output(); return out.Text }
	await.True(t, "another command has begun", func() bool { return said() == "begun\n" })
	for _, of := range []struct {
		processes int
		pauses    bool
	}{{10, false}, {100, true}} {
		tag := runnertest.NewTag()
		p := launch(
			t,
			env,
			fmt.Sprintf(`for i in $(seq %d); do sleep "$TAG" & done`, of.processes),
			tag,
			of.processes,
			false,
		)
		p.Kill("test")
		if x := p.Wait(); x.Survivors != 0 || x.Error != nil || len(runnertest.Tagged(tag)) != 0 {
			t.Errorf("%+v", x)
		}
		if of.pauses {
			await.True(
				t,
				"the other command was stopped and goes on",
				func() bool { return said() != "begun\n" },
			)
		} else if said() != "begun\n" {
			t.Errorf("%d processes are no crowd, and yet all were stopped", of.processes)
		}
	}
}

// Orphans that the first process of a container cannot end hold no other process up.
func TestInitLeavesWhatItCannotEnd(t *testing.T) {
	t.Parallel()
	setpriv := leftout.Command(t, "setpriv")
	as := []string{setpriv, "--reuid=64123", "--regid=64124", "--clear-groups"}
	_, enter := container(t, as...)
	perl := leftout.Command(t, "perl")
	words := append(slices.Concat(enter[1:], as), perl, "-e", showsPauses)
	other := exec.CommandContext(t.Context(), enter[0], words...)
	out, err := other.StdoutPipe()
	if err == nil {
		err = other.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan string, 1)
	go func() {
		for s := bufio.NewScanner(out); s.Scan(); {
			said <- s.Text()
		}
	}()
	if line := await.Receive(t, "begin of the other process", said); line != "begun" {
		t.Fatal(line)
	}
	tag := runnertest.NewTag()
	crowd := `for i in $(seq 100); do (setsid sleep ` + tag + ` >/dev/null 2>&1 &); done`
	if out, err := exec.Command(enter[0], append(enter[1:], "sh", "-c", crowd)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if line := await.Receive(t, "end of the pause", said); line != "goes on" {
		t.Error(line)
	}
}
