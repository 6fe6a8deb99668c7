package baddays

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// bounded are the environments that bound processes and memory. A bomb needs one.
func bounded() []kind {
	const processes, memory, processors = 512, 512 << 20, 0.3
	contained := func(elevated bool) func(t testing.TB, h *home) engine.Runner {
		return func(t testing.TB, h *home) engine.Runner {
			o := h.container(t)
			o.PIDs, o.Memory, o.CPUs, o.Elevated = processes, memory, processors, elevated
			if elevated {
				o.Image = cmp.Or(os.Getenv("SALLYPORT_TEST_SUDO_IMAGE"), docker.RuntimeSudoImage)
				leftout.NeedDocker(t, o.Image)
			}
			return contain(t, o)
		}
	}
	return []kind{
		{"bubblewrap", func(t testing.TB, h *home) engine.Runner {
			leftout.Command(t, "bwrap")
			leftout.NeedRoot(t) // for a control group, without which the machine takes part
			r, err := bubblewrap.New(bubblewrap.Options{
				Supervisor: supervisor, State: h.state, PIDs: processes, Memory: memory, Network: "none",
				Environ: []string{"PATH=/usr/local/bin:/usr/bin:/bin", "HOME=/home/agent"},
			})
			must(t, err)
			return r
		}},
		{"docker", contained(false)},
		{"docker-sudo", contained(true)},
	}
}

// bombs take all that they can get, until they are ended.
func bombs() []struct{ name, text string } {
	return []struct{ name, text string }{
		{"pipes", `bomb() { bomb | bomb & }; bomb; sleep 1000`},
		{"forks without end", `exec perl -e 'fork while 1'`},
		{
			"forks that hand over and end",
			`perl -e '$SIG{TERM} = "IGNORE"; while (1) { exit if fork }' & sleep 1000`,
		},
		{
			"sessions deaf to TERM",
			`(trap '' TERM; while :; do (trap '' TERM; setsid sleep 1000 & sleep 1000 &); done)`,
		},
		{"memory", `for i in 1 2 3 4; do (tail /dev/zero; sleep 1000) & done; wait`},
		{
			"temporary places",
			`for at in /tmp /var/tmp /dev/shm; do head -c 2000000000 /dev/zero >$at/fill; done; sleep 1000`,
		},
		{"output", `yes & yes >&2`},
	}
}

// TestBombs bombs an environment. The time limit holds and the end is told, by the supervisor or else by the
// end of the whole environment; nothing is left, and the next command works.
func TestBombs(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	for _, k := range bounded() {
		t.Run(k.name, func(t *testing.T) {
			if k.name != "bubblewrap" { // the others bound processors, too, and each of them waits most of the time
				t.Parallel()
			}
			h := newHome(t)
			r := k.make(t, h)
			env := open(t, r, h.spec())
			for _, b := range bombs() {
				t.Run(b.name, func(t *testing.T) {
					c := prepared(t, env, h.workspace, b.text)
					c.Timeout = 2 * time.Second
					x := ended(t, start(t, env, c))
					silent := errors.Is(x.Error, wire.ErrSilent)
					if !silent && (!x.TimedOut && x.OOMKills == 0 || x.Error != nil || x.Survivors != 0) {
						t.Errorf(
							"timed out: %v, %d kills for want of memory, %d survivors: %v",
							x.TimedOut,
							x.OOMKills,
							x.Survivors,
							x.Error,
						)
					}
					if left := bearers(c.ID); len(left) != 0 {
						t.Errorf("%d processes are left", len(left))
					}
					if err := env.(engine.Remote).Err(); silent && err != nil {
						t.Logf("the machine is slow: %v", err)
						env = open(t, r, h.spec())
					}
					serves(t, env, h.workspace)
					const most = `exec perl -e '$all = "x" x (100 << 20); print length $all'`
					if x := run(t, env, h.workspace, most); x.Code != 0 {
						t.Errorf("the next command lacks memory: %+v", x)
					}
				})
			}
		})
	}
}

// bearers are the living processes of a command that have its mark in their environment.
func bearers(id string) (pids []int) {
	files, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, f := range files {
		if b, err := os.ReadFile(f); err == nil && bytes.Contains(b, []byte("="+id+"\x00")) {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(f)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// TestSilentSupervisor stops the supervisor in the middle of a command. Sallyport then ends the environment
// by other means, says so, and opens the next.
func TestSilentSupervisor(t *testing.T) {
	leftout.NeedRoot(t)
	t.Parallel()
	for _, k := range bounded() {
		t.Run(k.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t)
			r := k.make(t, h)
			env := open(t, r, h.spec())
			c := prepared(t, env, h.workspace, `echo begun; exec sleep 1000`)
			c.Timeout = time.Second
			p := start(t, env, c)
			var shell []int
			await.True(t, "the command runs", func() bool { shell = bearers(c.ID); return len(shell) > 0 })
			must(t, syscall.Kill(parent(t, shell[0]), syscall.SIGSTOP))
			x := ended(t, p)
			if !errors.Is(x.Error, wire.ErrSilent) || x.Code != -1 {
				t.Errorf("%+v", x)
			}
			says(t, x.Error, "was killed|sandbox ended", "opens it again|makes a new one")
			await.True(t, "the processes have ended", func() bool { return len(bearers(c.ID)) == 0 })
			again(t, h, r, env)
		})
	}
}

// parent is the number of a process's parent, as this machine has it.
func parent(t *testing.T, pid int) int {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	must(t, err)
	_, rest, _ := strings.Cut(string(b), "\nPPid:\t")
	line, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.Atoi(line)
	must(t, err)
	return n
}
