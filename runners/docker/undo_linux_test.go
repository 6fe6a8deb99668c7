package docker

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Changes in a container are taken back, and commands do not reach the store.
func TestUndo(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.o.Undo = undo.Options{Dir: filepath.Join(l.o.State, "undo"), Most: 1 << 30, Keep: time.Hour}
	env := l.open(l.spec())
	defer env.Close()
	for _, lack := range env.Shortcomings() {
		t.Errorf("shortcoming: %s", lack)
	}
	x := run(t, env, l.workspace, "echo old > f; mkdir d; echo two > d/g; chmod 600 d/g; ln f h")
	if x.Code != 0 {
		t.Fatalf("%+v", x)
	}
	c, err := env.Prepare("echo new > f; rm -r d; echo n > n; mv h k", l.workspace)
	must(t, err)
	c.ID, c.Timeout, c.Output = "D-2", time.Hour, 1<<16
	p, err := env.Start(t.Context(), c)
	must(t, err)
	if x := p.Wait(); x.Code != 0 {
		t.Fatalf("%+v", x)
	}
	for _, text := range []string{
		"ls " + keptAt, "ls " + filepath.Dir(keptAt), "cat " + keptAt + "/*/journal", "ls /proc/1/root/" + keptAt,
		"for p in /proc/[0-9]*; do ls $p/fd/*/ | grep -x objects && exit; done 2> /dev/null; false",
	} {
		if x := run(t, env, l.workspace, text); x.Code == 0 {
			t.Errorf("%s: %s", text, x.Stdout.Text)
		}
	}
	sessions, err := undo.List(l.o.Undo.Dir)
	if err != nil || len(sessions) != 1 {
		t.Fatalf("%v, %v", sessions, err)
	}
	results, err := undo.Undo(l.o.Undo.Dir, sessions[0], []string{"D-2"}, false)
	must(t, err)
	for _, r := range results {
		if r.Left() {
			t.Errorf("%+v", r)
		}
	}
	x = run(t, env, l.workspace, "cat f h d/g; stat -c '%a %u' d/g; ls; stat -c %h f")
	if want := "old\nold\ntwo\n600 1000\nd\nf\nh\n2\n"; x.Stdout.Text != want {
		t.Errorf("got %q, want %q: %s", x.Stdout.Text, want, x.Stderr.Text)
	}
	must(t, env.Close())
	undo.Prune(l.o.Undo.Dir, 0, time.Now())
	left, err := filepath.Glob(l.o.Undo.Dir + "*/*/*")
	if err != nil || len(left) != 0 {
		t.Errorf("%q are left, %v", left, err)
	}
	if info, err := os.Stat(l.o.Undo.Dir + "-shared"); err != nil ||
		!strings.HasPrefix(info.Mode().String(), "drwx------") {
		t.Errorf("%v, %v", info, err)
	}
}
