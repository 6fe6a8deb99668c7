//go:build amd64 || arm64

package undo_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/runners/local"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// role tells the test binary to undo, or to run a recorded command. Its parent kills it.
const role = "SALLYPORT_UNDO_TEST"

func TestMain(m *testing.M) {
	words := strings.Split(os.Getenv(role), "\n")
	switch words[0] {
	case "undo":
		sessions, err := undo.List(words[1])
		if err != nil || len(sessions) != 1 {
			panic(fmt.Sprint(sessions, err))
		}
		fmt.Println("begun")
		if _, err := undo.Undo(words[1], sessions[0], words[2:], false); err != nil {
			panic(err)
		}
		os.Exit(0)
	case "run":
		runRecorded(words[1], words[2], words[3], words[4])
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// runRecorded runs a text as a decision.
func runRecorded(ws, kept, tag, decision string) {
	o := local.Options{Watched: []string{ws}, Undo: &undo.RecorderOptions{Dir: kept, Most: 1 << 30}}
	r, err := local.New(o)
	if err != nil {
		panic(err)
	}
	env, err := r.Open(context.Background(), engine.EnvironmentSpec{})
	if err != nil {
		panic(err)
	}
	c, err := env.Prepare("export TAG="+tag+"\n"+busy, ws)
	if err != nil {
		panic(err)
	}
	c.ID, c.Timeout, c.Output = decision, time.Hour, 1<<16
	fmt.Println("begun")
	p, err := env.Start(context.Background(), c)
	if err != nil {
		panic(err)
	}
	p.Wait()
}

// many makes files, and busy changes them in many ways.
const (
	many = `for i in {1..40}; do mkdir -p m/$i/s; echo $i > m/$i/f; echo $i > m/$i/g; ln m/$i/g m/$i/h; done`
	busy = `for i in {1..40}; do echo x >> m/$i/f; echo new > m/$i/n; sed -i s/$/y/ m/$i/g; mv m/$i/s m/$i/t
		chmod 700 m/$i; echo z >> m/$i/h; mv m/$i m/x$i; rm m/x$i/f; echo w > m/x$i/f; done`
)

// killAt kills a process when a file has grown by some bytes, unless it ends before.
func killAt(t *testing.T, cmd *exec.Cmd, file string, more int64) {
	t.Helper()
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	begin := size()
	await.True(t, "it is far enough", func() bool {
		var ended unix.Siginfo
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, &ended, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT, nil)
		return size() >= begin+more || err == nil && ended.Signo != 0
	})
	_ = cmd.Process.Kill()
}

// A killed Undo is continued by the next one, however often that happens.
func TestUndoKilled(t *testing.T) {
	t.Parallel()
	for range 3 {
		p := newPlace(t, 1<<30)
		p.host(many)
		before := p.files()
		p.run("D-1", busy)
		p.run("D-2", "rm -r m/x1?; for i in 2 3 4; do mv m/x$i m/z; echo again > m/z/f; mv m/z m/x$i; done")
		kills := 0
		for tries := 0; ; tries++ {
			cmd := exec.Command(os.Args[0])
			words := []string{"undo", p.dir, "D-1" + p.id, "D-2" + p.id}
			cmd.Env = append(os.Environ(), role+"="+strings.Join(words, "\n"))
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var said strings.Builder
			if cmd.Stderr = &said; cmd.Start() != nil {
				t.Fatal("no process")
			}
			if _, err := out.Read(make([]byte, 6)); err != nil {
				t.Fatal(err)
			}
			if tries < 30 {
				killAt(t, cmd, filepath.Join(p.dir, p.s.ID, "undone"), rand.Int64N(20_000))
			}
			if err = cmd.Wait(); err == nil {
				break
			}
			if kills++; said.Len() > 0 {
				t.Fatal(said.String())
			}
		}
		t.Logf("killed %d times", kills)
		if left := p.undo(false, "D-1", "D-2"); len(left) != 0 {
			t.Errorf("left: %q", left)
		}
		p.same("killed", before)
	}
}

// The changes up to the death of the supervisor are taken back, that of a file that it just made among them.
func TestRecorderKilled(t *testing.T) {
	t.Parallel()
	for range 8 {
		p := newPlace(t, 1<<30)
		p.host(many)
		before := p.files()
		cmd := exec.Command(os.Args[0])
		tag := runnertest.NewTag()
		words := []string{"run", p.ws, p.store.Kept(), tag, "D-1" + p.id}
		cmd.Env = append(os.Environ(), role+"="+strings.Join(words, "\n"))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := out.Read(make([]byte, 6)); err != nil {
			t.Fatal(err)
		}
		killAt(t, cmd, filepath.Join(p.store.Kept(), "journal"), rand.Int64N(40_000))
		_ = cmd.Wait()
		await.True(t, "no process is left", func() bool { return len(runnertest.Tagged(tag)) == 0 })
		if err := p.store.Ended("D-1" + p.id); err != nil {
			t.Fatal(err)
		}
		after := p.files()
		if left := p.undo(false, "D-1"); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		t.Logf("%d files, then %d", len(before), len(after))
		p.same("killed", before)
	}
}

// A file that was made while its maker was killed is taken back; one that was there, or has content, is not.
func TestIntentions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, after, left string }{ // left is "" if nothing is
		{"", ": > f", ""}, {"", "mkdir f", ""}, {"", "ln -s x f", ""}, {"", "", ""},
		{": > f; sleep 0.1", "", "f"}, {"mkdir f; sleep 0.1", "", "f"}, {"", "echo x > f", "f"},
	} {
		p := newPlace(t, 1<<30)
		p.host("cd .; " + c.before)
		r, err := undo.Open(undo.RecorderOptions{Dir: p.store.Kept(), Most: 1 << 30, Places: []string{p.ws}})
		if err != nil {
			t.Fatal(err)
		}
		r.Making("D-1"+p.id, filepath.Join(p.ws, "other"))
		r.Making("D-1"+p.id, filepath.Join(p.ws, "f"))
		r.Close()
		p.host("cd .; " + c.after)
		if err := p.store.Ended("D-1" + p.id); err != nil {
			t.Fatal(err)
		}
		if left := p.undo(false, "D-1"); len(left) > 0 {
			t.Errorf("%+v: left: %q", c, left)
		}
		_, err = os.Lstat(filepath.Join(p.ws, "f"))
		if (err == nil) != (c.left != "") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
