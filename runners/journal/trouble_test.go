package journal_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/journal"
)

// TestManyWriters lets many gateways write to one small log at once: no line is torn, and none is lost while there is room.
func TestManyWriters(t *testing.T) {
	t.Parallel()
	for _, size := range []int64{1 << 20, 8 << 10} {
		dir := t.TempDir()
		o := journal.Options{Dir: dir, MaxBytes: size, Warn: func(err error) { t.Error(err) }}
		id := journal.Identity{Runner: "r", Agent: "a"}
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for n := range 100 {
					journal.Tell(o, id.Name(), id, "step", map[string]any{"writer": i, "n": n})
				}
			})
		}
		all.Wait()
		next := make([]int, 8)
		lines := 0
		for _, name := range []string{".1", ""} {
			b, err := os.ReadFile(filepath.Join(dir, id.Name(), "environment.log"+name))
			if errors.Is(err, fs.ErrNotExist) && size == 1<<20 {
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(b)) {
				var e journal.Event
				if err := json.Unmarshal([]byte(line), &e); err != nil {
					t.Fatalf("a torn line: %q", line)
				}
				if e.Event != journal.KindStep {
					continue
				}
				lines++
				i, n := int(e.Details["writer"].(float64)), int(e.Details["n"].(float64))
				if n < next[i] || size == 1<<20 && n != next[i] {
					t.Fatalf("writer %d: line %d where %d is expected", i, n, next[i])
				}
				next[i] = n + 1
			}
		}
		if size == 1<<20 && lines != 800 || lines == 0 {
			t.Errorf("%d lines", lines)
		}
	}
}

// TestAfterATear holds that half a line, of a gateway that died, spoils no other.
func TestAfterATear(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	o, id := journal.Options{Dir: dir}, journal.Identity{Runner: "r", Agent: "a"}
	journal.Tell(o, id.Name(), id, "one", nil)
	file := filepath.Join(dir, id.Name(), "environment.log")
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprint(f, `{"time":"2026-`)
	f.Close()
	journal.Tell(o, id.Name(), id, "two", nil)
	var steps []string
	for _, e := range events(dir, id.Name()) {
		steps = append(steps, e.Step)
	}
	if diff := cmp.Diff([]string{"", "one", "two"}, steps); diff != "" {
		t.Error(diff)
	}
}

// TestCannotBeWritten holds that the operator is told once, that commands go on, and that it is told again after it
// worked in between.
func TestCannotBeWritten(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	dir := filepath.Join(base, "environments")
	if err := os.WriteFile(dir, nil, 0o600); err != nil { // a file where the directory would be
		t.Fatal(err)
	}
	var told []error
	o := journal.Options{Dir: dir, Warn: func(err error) { told = append(told, err) }}
	env := open(t, journal.Wrap(localRunner(t), o))
	defer env.Close()
	for range 3 {
		if x := start(t, env, "D", "exit 7").Wait(); x.Code != 7 {
			t.Fatalf("%+v", x)
		}
	}
	if len(told) != 2 { // it cannot be pruned and cannot be written
		t.Fatalf("told %v", told)
	}
	if !strings.HasSuffix(told[1].Error(), ": commands go on without it") {
		t.Error(told[1])
	}
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	start(t, env, "D", "true").Wait()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, env, "D", "true").Wait()
	if len(told) != 3 {
		t.Errorf("told %v", told)
	}
	told = nil
	o.Dir = ""
	nowhere := open(t, journal.Wrap(localRunner(t), o))
	defer nowhere.Close()
	if len(told) != 1 || !strings.Contains(told[0].Error(), "set XDG_STATE_HOME") {
		t.Errorf("without a state directory: %v", told)
	}
}

// TestHostilePlaces puts links and special files where the log would be.
func TestHostilePlaces(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		leftout.Skip(t, leftout.Platform, "links need rights there")
	}
	base := t.TempDir()
	victim := filepath.Join(base, "victim")
	if err := os.WriteFile(victim, []byte("kept"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := journal.Identity{Runner: "r", Agent: "a"}
	for name, plant := range map[string]func(dir string) error{
		"link to a file":       func(dir string) error { return os.Symlink(victim, filepath.Join(dir, "environment.log")) },
		"writable by others":   func(dir string) error { return os.Chmod(dir, 0o777) },
		"directory as the log": func(dir string) error { return os.Mkdir(filepath.Join(dir, "environment.log"), 0o700) },
	} {
		dir := filepath.Join(base, name)
		if err := os.MkdirAll(filepath.Join(dir, id.Name()), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := plant(filepath.Join(dir, id.Name())); err != nil {
			t.Fatal(err)
		}
		told := 0
		journal.Tell(journal.Options{Dir: dir, Warn: func(error) { told++ }}, id.Name(), id, "x", nil)
		if told != 1 {
			t.Errorf("%s: it is not told", name)
		}
	}
	if b, err := os.ReadFile(victim); err != nil || string(b) != "kept" {
		t.Errorf("the victim: %q, %v", b, err)
	}
}

func TestPrune(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := journal.Wrap(localRunner(t), journal.Options{Dir: dir})
	env := open(t, r)
	held := only(t, dir)
	old := journal.Identity{Runner: "r", Agent: "old"}
	fresh := journal.Identity{Runner: "r", Agent: "fresh"}
	journal.Tell(journal.Options{Dir: dir}, old.Name(), old, "x", nil)
	journal.Tell(journal.Options{Dir: dir}, fresh.Name(), fresh, "x", nil)
	long := time.Now().Add(-60 * 24 * time.Hour)
	for _, name := range []string{held.Name, old.Name()} {
		if err := os.Chtimes(filepath.Join(dir, name, "environment.log"), long, long); err != nil {
			t.Fatal(err)
		}
	}
	stranger := filepath.Join(dir, "stranger")
	if err := os.Mkdir(stranger, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := journal.Remove(dir, held.Name); !errors.Is(err, journal.ErrOpen) {
		t.Errorf("remove one that is open: %v", err)
	}
	pruned, err := journal.Prune(dir, time.Now().Add(-24*time.Hour))
	if err != nil || !slices.Equal(pruned, []string{old.Name()}) {
		t.Errorf("pruned %v, %v", pruned, err)
	}
	if _, err := os.Stat(stranger); err != nil {
		t.Error(err)
	}
	env.Close()
	if err := journal.Remove(dir, held.Name); err != nil {
		t.Error(err)
	}
	if err := journal.Remove(dir, "../"+filepath.Base(dir)); err == nil {
		t.Error("a path is taken for a name")
	}
	// A new runner prunes by itself.
	journal.Tell(journal.Options{Dir: dir}, old.Name(), old, "x", nil)
	if err := os.Chtimes(filepath.Join(dir, old.Name(), "environment.log"), long, long); err != nil {
		t.Fatal(err)
	}
	open(t, r).Close()
	if _, err := os.Stat(filepath.Join(dir, old.Name())); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old log is still there: %v", err)
	}
}

// TestTheEndIsToldLast lets a command end while a line about its output is being written: the end waits for it.
func TestTheEndIsToldLast(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	var armed, ended atomic.Bool
	var lines atomic.Int64 // since it is armed
	telling := make(chan struct{})
	env := open(t, journal.Wrap(localRunner(t), journal.Options{Dir: dir, Now: func() time.Time {
		if armed.Load() && lines.Add(1) == 2 {
			close(telling)
			await.Holds(func() bool { return ended.Load() || waitsForLine() })
		}
		return time.Now()
	}}))
	defer env.Close()
	armed.Store(true) // the next line is about the command, and the second about its output
	p := start(t, env, "D-1", "echo begun; sleep 60")
	await.Receive(t, "line about its output", telling)
	p.Kill("seen")
	p.Wait()
	ended.Store(true)
	env.Close() // by now every line is written
	told := []journal.Kind{}
	for _, e := range events(dir, only(t, dir).Name) {
		if e.Decision == "D-1" {
			told = append(told, e.Event)
		}
	}
	if want := []journal.Kind{journal.KindCommand, journal.KindOutput, journal.KindExit}; !slices.Equal(want, told) {
		t.Errorf("told %v, want %v", told, want)
	}
}

// waitsForLine reports whether somebody has the end of a command and waits to tell it.
func waitsForLine() bool {
	stacks := make([]byte, 4<<20)
	for g := range strings.SplitSeq(string(stacks[:runtime.Stack(stacks, true)]), "\n\n") {
		if head, _, _ := strings.Cut(g, "\n"); strings.Contains(head, "[sync.Mutex.Lock") && strings.Contains(g, "journal.(*process).Wait") {
			return true
		}
	}
	return false
}
