package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// limited makes a control group with little memory and few processes (0 for as many as there are), and
// returns the words before a command line that run it in there.
func limited(t *testing.T, bytes, processes int) []string {
	t.Helper()
	leftout.NeedRoot(t)
	name := fmt.Sprintf("sallyport-test-%d-%d", os.Getpid(), bytes)
	enter := ""
	limit := func(controller, file string, value int) bool {
		group := filepath.Join("/sys/fs/cgroup", controller, name)
		if os.MkdirAll(group, 0o755) != nil {
			return false
		}
		t.Cleanup(func() { _ = os.Remove(group) })
		if os.WriteFile(filepath.Join(group, file), []byte(fmt.Sprint(value)), 0) != nil {
			return false
		}
		if join := "echo $$ >'" + group + "/cgroup.procs' && "; !strings.Contains(enter, join) {
			enter += join
		}
		return true
	}
	memory := limit("memory", "memory.limit_in_bytes", bytes) || limit("", "memory.max", bytes)
	few := processes == 0 || limit("pids", "pids.max", processes) || limit("", "pids.max", processes)
	if !memory || !few {
		leftout.Skip(t, leftout.Root, "no control group can be made here: /sys/fs/cgroup is not for writing")
	}
	return []string{"/bin/sh", "-c", enter + `exec "$@"`, "sh"}
}

// A process that the kernel kills for want of memory is told of, whatever becomes of its command.
func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	env, err := greet(append(limited(t, 48<<20, 0), program), wire.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	const greedy = `head -c 100000000 /dev/zero | tail -n 1 | wc -c`
	for text, want := range map[string]struct{ code, kills int }{
		"true":                      {0, 0},
		greedy + "; exit 0":         {0, 1},
		greedy + "; exit 3":         {3, 1},
		": $( (" + greedy + " &) )": {0, 1}, // the shell knows nothing of it, but reads to the end what it writes
		"exec tail -n 1 /dev/zero":  {137, 1},
	} {
		x := do(t, env, engine.Command{Text: text})
		if x.Code != want.code || x.OOMKills < want.kills || want.kills == 0 && x.OOMKills != 0 || x.Error != nil {
			t.Errorf("%s: code %d, %d killed, error %v; want %+v", text, x.Code, x.OOMKills, x.Error, want)
		}
	}
	free, err := greet([]string{program}, wire.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if x := do(t, free, engine.Command{Text: greedy}); x.OOMKills != 0 || x.Stdout.Text != "100000000\n" {
		t.Errorf("with enough memory: %+v", x)
	}
	if err := errors.Join(free.Close(), env.Close()); err != nil {
		t.Error(err)
	}
}
