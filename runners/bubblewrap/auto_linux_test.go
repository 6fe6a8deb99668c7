//go:build amd64 || arm64

package bubblewrap_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/local"
)

// bareRunner previews where there is no sandbox.
func bareRunner(t *testing.T) *local.Runner {
	t.Helper()
	r, err := local.New(local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// weak is a bwrap that leaves something out. The text changes the array a, which holds the arguments.
func weak(t *testing.T, change string) string {
	t.Helper()
	bwrap := leftout.Command(t, "bwrap")
	file := filepath.Join(t.TempDir(), "bwrap")
	text := fmt.Sprintf("#!/bin/bash\n# bwrap --args N PROGRAM\nmapfile -d '' a <&\"$2\"\n%s\nexec %s \"${a[@]}\" \"$3\"\n", change, bwrap)
	// A program that another test starts just now would hold the file open for writing, and then it cannot
	// be run.
	syscall.ForkLock.RLock()
	err := os.WriteFile(file, []byte(text), 0o755)
	syscall.ForkLock.RUnlock()
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// A machine that has no sandbox, or one that does not hold, runs nothing, and its policies still judge.
func TestWithout(t *testing.T) {
	t.Parallel()
	absent := filepath.Join(t.TempDir(), "absent")
	for name, tc := range map[string]struct {
		change func(*bubblewrap.Options)
		want   string
	}{
		"no bwrap":      {func(o *bubblewrap.Options) { o.Bwrap = absent }, "install bubblewrap"},
		"no supervisor": {func(o *bubblewrap.Options) { o.Supervisor = absent }, "sallyport-supervisor is not beside sallyport"},
		"bwrap fails": {func(o *bubblewrap.Options) {
			o.Bwrap = weak(t, "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
		}, "No permissions to create new namespace"},
		"old bwrap":        {func(o *bubblewrap.Options) { o.Bwrap = weak(t, "echo 'bwrap: Unknown option --size' >&2; exit 1") }, "install bubblewrap 0.8 or newer"},
		"other program":    {func(o *bubblewrap.Options) { o.Supervisor = leftout.Command(t, "true") }, "start sandbox"},
		"sees processes":   {func(o *bubblewrap.Options) { o.Bwrap = weak(t, withoutPID) }, "see a process of the host"},
		"shows the hidden": {func(o *bubblewrap.Options) { o.Bwrap = weak(t, `a+=(--bind /tmp /tmp)`) }, "read a hidden file"},
		"writes":           {func(o *bubblewrap.Options) { o.Bwrap = weak(t, writable) }, "can be written to"},
		"shows another":    {func(o *bubblewrap.Options) { o.Bwrap = weak(t, `a+=(--ro-bind /etc /etc/alternatives)`) }, "somebody changed the path"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := settings(t)
			tc.change(&o)
			if env, err := try(o, layout(t.TempDir())); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("without a way out: %v, %v", env, err)
			}
			o.Otherwise = bareRunner(t)
			r, err := bubblewrap.New(o)
			if err != nil {
				t.Fatal(err)
			}
			spec := engine.EnvironmentSpec{Layout: layout(t.TempDir())}
			const way = "set local.sandbox to none"
			if env, err := r.Open(t.Context(), spec); err == nil || !strings.Contains(err.Error(), way) {
				t.Errorf("it opens without a sandbox, or names no way: %v, %v", env, err)
			}
			o.Required = true
			if must, err := bubblewrap.New(o); err != nil {
				t.Fatal(err)
			} else if _, err := must.Open(t.Context(), spec); err == nil || strings.Contains(err.Error(), way) {
				t.Errorf("it advises to do without a sandbox that the configuration wants: %v", err)
			}
			for range 2 { // policies judge all the same
				env, err := r.Look(t.Context(), spec)
				if err != nil {
					t.Fatal(err)
				}
				env.Close()
			}
			if why := r.Missing(); why == nil || !strings.Contains(why.Error(), tc.want) {
				t.Errorf("missing: %v", why)
			}
			if r.Describe() != o.Otherwise.Describe() || r.Describe().Isolation != "none" {
				t.Errorf("%+v", r.Describe())
			}
		})
	}
}

// A machine that is short of something now is not one without a sandbox: commands of another session can
// make it so. Nothing is done without one for that.
func TestShortOfSomething(t *testing.T) {
	t.Parallel()
	for name, says := range map[string]string{
		"processes of bwrap": "Creating new namespace failed: Resource temporarily unavailable",
		"processes inside":   "fork: Cannot allocate memory",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := settings(t)
			o.Bwrap = weak(t, "echo 'bwrap: "+says+"' >&2; exit 1")
			refusesForWant(t, o)
		})
	}
}

// refusesForWant expects that no sandbox is made and nothing takes its place.
func refusesForWant(t *testing.T, o bubblewrap.Options) {
	t.Helper()
	o.Otherwise = bareRunner(t)
	r, err := bubblewrap.New(o)
	if err != nil {
		t.Fatal(err)
	}
	spec := engine.EnvironmentSpec{Layout: layout(t.TempDir())}
	for name, open := range map[string]func(context.Context, engine.EnvironmentSpec) (engine.Environment, error){
		"open": r.Open, "look": r.Look,
	} {
		env, err := open(t.Context(), spec)
		if err == nil || !strings.Contains(err.Error(), "the machine is short of") {
			t.Errorf("%s: got %v", name, err)
		}
		if env != nil {
			env.Close()
		}
	}
	if r.Missing() != nil {
		t.Error("it counts as a machine without a sandbox")
	}
}

const (
	withoutPID = `for i in "${!a[@]}"; do if [ "${a[i]}" = --unshare-all ]; then a[i]=--unshare-ipc; fi; if [ "${a[i]}" = --as-pid-1 ]; then a[i]=--unshare-uts; fi; if [ "${a[i]}" = --share-net ]; then a[i]=--unshare-cgroup; fi; done`
	// writable makes every read-only place one for writing.
	writable = `for i in "${!a[@]}"; do if [ "${a[i]}" = --ro-bind ]; then a[i]=--bind; fi; done`
)

// With the sandbox it is said too, and a network that was taken away is away.
func TestWith(t *testing.T) {
	t.Parallel()
	for _, network := range []string{"host", "none"} {
		o := settings(t)
		o.Network, o.Otherwise = network, bareRunner(t)
		r, err := bubblewrap.New(o)
		if err != nil {
			t.Fatal(err)
		}
		env, err := r.Open(t.Context(), engine.EnvironmentSpec{Layout: layout(t.TempDir())})
		if err != nil {
			t.Fatal(err)
		}
		defer env.Close()
		want := facts.Runner{Name: "local", Isolation: "namespace", Network: network}
		connect := map[string]string{"host": facts.Open, "none": facts.Holds}[network]
		want.Confinement = facts.Confinement{Write: facts.Holds, Read: facts.Holds, Connect: connect}
		if r.Describe() != want {
			t.Errorf("%+v", r.Describe())
		}
		x := run(t, env, `ls /sys/class/net 2>/dev/null; cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '`)
		if only := x.Stdout.Text == "lo\n"; only != (network == "none") && network == "none" {
			t.Errorf("network %s: %q", network, x.Stdout.Text)
		}
	}
	o := settings(t)
	o.Network, o.Otherwise, o.Bwrap = "none", bareRunner(t), weak(t, `a+=(--share-net)`)
	if _, err := try(o, layout(t.TempDir())); err == nil || !strings.Contains(err.Error(), "connect to a port of the host") {
		t.Errorf("a network that is there although there is to be none: %v", err)
	}
}

// The files in the workspace are never a reason to do without the sandbox that the machine has, nor to
// refuse it.
func TestManyRepositories(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	host(t, `cd "$WS"; for i in $(seq 250); do mkdir -p r$i/.git/hooks; done`, "WS="+ws)
	env := open(t, settings(t), layout(ws))
	defer env.Close()
	told, ok := env.(interface{ Shortcomings() []string })
	if !ok || !strings.Contains(strings.Join(told.Shortcomings(), "\n"), "more than 200 repositories") {
		t.Error("the sandbox does not tell that some of the repositories can be changed")
	}
	if x := run(t, env, `touch /usr/x; ls -d /root/.ssh`); x.Code == 0 {
		t.Errorf("no sandbox: %+v", x)
	}
}

// A sandbox that ends, of whatever it is, is followed by another, and leaves nothing behind.
func TestEndAndAnother(t *testing.T) {
	t.Parallel()
	ws := repositories(t)
	before := tree(t, ws)
	r, err := bubblewrap.New(settings(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		env, err := r.Open(t.Context(), engine.EnvironmentSpec{Layout: layout(ws)})
		if err != nil {
			t.Fatal(err)
		}
		pid := env.(interface{ Made() map[string]any }).Made()["pid"].(int)
		p, err := start(env, "sleep 3600")
		if err != nil {
			t.Fatal(err)
		}
		killProcess(t, pid)
		if x := p.Wait(); x.Error == nil || !strings.Contains(x.Error.Error(), "the next request makes a new one") {
			t.Errorf("%+v", x)
		}
		if env.(engine.Remote).Err() == nil {
			t.Error("it does not say that it is lost")
		}
		await.True(t, "nothing is left in the workspace", func() bool { return len(tree(t, ws)) == len(before) })
	}
}

// A protected file that is exchanged outside, as git does it, lies bare inside. The sandbox does not live
// to see it, and the one after it is whole.
func TestExchangedOutside(t *testing.T) {
	t.Parallel()
	ws := repositories(t)
	r, err := bubblewrap.New(settings(t))
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan string, 10)
	r.Notify(func(text string) { told <- text })
	env, err := r.Open(t.Context(), engine.EnvironmentSpec{Layout: layout(ws)})
	if err != nil {
		t.Fatal(err)
	}
	p, err := start(env, "sleep 3600")
	if err != nil {
		t.Fatal(err)
	}
	host(t, `git -C "$WS" config user.name somebody`, "WS="+ws)
	if x := p.Wait(); x.Error == nil || !strings.Contains(x.Error.Error(), ".git/config was exchanged outside") {
		t.Errorf("%+v", x)
	}
	if text := <-told; !strings.Contains(text, "look whether a command has changed it meanwhile") {
		t.Errorf("told: %s", text)
	}
	env, err = r.Open(t.Context(), engine.EnvironmentSpec{Layout: layout(ws)})
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	if x := run(t, env, `git -C "$WS" config user.name other`, "WS="+ws); x.Code == 0 {
		t.Error("the next one does not protect it")
	}
}

// A program that a command put into the workspace is not taken for ours, though PATH leads there.
func TestPlantedProgram(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	ran := filepath.Join(t.TempDir(), "ran")
	host(t, `mkdir -p "$WS/.venv/bin"; cd "$WS/.venv/bin"; printf '#!/bin/sh\ntouch %s\n' "$RAN" | tee bwrap >sallyport-supervisor; chmod +x *`, "WS="+ws, "RAN="+ran)
	o := settings(t)
	o.Environ[0] = "PATH=" + ws + "/.venv/bin:" + filepath.Dir(o.Supervisor) + ":/usr/bin:/bin"
	o.Supervisor = ""
	env := open(t, o, layout(ws))
	defer env.Close()
	if x := run(t, env, "echo in"); x.Stdout.Text != "in\n" {
		t.Errorf("%+v", x)
	}
	if _, err := os.Lstat(ran); err == nil {
		t.Error("it ran")
	}
	if _, err := try(settings(t), layout("/")); err == nil || !strings.Contains(err.Error(), "bwrap lies where commands may write") {
		t.Errorf("where there is none but one that commands could have made: %v", err)
	}
}

// Nothing of what started the sandbox is open in commands.
func TestNoDescriptors(t *testing.T) {
	t.Parallel()
	env := open(t, settings(t), layout(t.TempDir()))
	defer env.Close()
	x := run(t, env, `ls -l /proc/self/fd | sed 's/.* \([0-9]* ->\)/\1/'`)
	// Input, output, errors, and the directory that is listed.
	if n := strings.Count(x.Stdout.Text, " -> "); n != 4 || strings.Contains(x.Stdout.Text, "memfd") {
		t.Error(x.Stdout.Text)
	}
}
