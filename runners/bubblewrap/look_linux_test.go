//go:build amd64 || arm64

package bubblewrap_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/bubblewrap"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// counted has each start of bwrap leave a line in a file, and weakens the sandbox where another file is there. Neither shows in
// the programs themselves.
func counted(t *testing.T, o *bubblewrap.Options) (starts func() int, weaken func()) {
	t.Helper()
	dir := t.TempDir()
	made, flag := filepath.Join(dir, "made"), filepath.Join(dir, "weak")
	o.Bwrap = weak(t, "echo >>"+made+"; [ -e "+flag+" ] && a+=(--bind /tmp /tmp)")
	starts = func() int {
		text, _ := os.ReadFile(made)
		return bytes.Count(text, []byte("\n"))
	}
	return starts, func() {
		if err := os.WriteFile(flag, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// looked looks at a sandbox.
func looked(t *testing.T, o bubblewrap.Options, l facts.Layout) (engine.Remote, *bubblewrap.Runner) {
	t.Helper()
	r, err := bubblewrap.New(o)
	if err != nil {
		t.Fatal(err)
	}
	env, err := r.Look(t.Context(), engine.EnvironmentSpec{Layout: l})
	if err != nil {
		t.Fatal(err)
	}
	return env.(engine.Remote), r
}

// Who only looks is told what commands would see, nothing is made in the workspace for it, and nothing starts.
func TestLook(t *testing.T) {
	t.Parallel()
	ws := repositories(t)
	before := tree(t, ws)
	o := settings(t)
	starts, _ := counted(t, &o)
	for _, want := range []int{1, 1, 1} { // the first one tells, and the others need none
		env, r := looked(t, o, layout(ws))
		if info, err := env.FS().Lstat(ws + "/file"); err != nil || !info.Mode().IsRegular() {
			t.Errorf("%v, %v", info, err)
		}
		if _, err := env.FS().Lstat("/home/agent/.bashrc"); err == nil {
			t.Error("the home is not empty")
		}
		if _, err := start(env, `echo x >"$WS/new"`, "WS="+ws); err == nil {
			t.Error("it starts commands")
		}
		if r.Describe().Isolation != "namespace" {
			t.Errorf("%+v", r.Describe())
		}
		if err := env.Close(); err != nil {
			t.Error(err)
		}
		if got := starts(); got != want {
			t.Errorf("%d sandboxes were made, want %d", got, want)
		}
	}
	if diff := cmp.Diff(before, tree(t, ws)); diff != "" {
		t.Errorf("made (-want +got):\n%s", diff)
	}
}

// What is said of a command is the same whether the sandbox is there or is only looked at, with or without something known of it.
func TestLookAgrees(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	ws, reference, hidden := filepath.Join(base, "ws"), filepath.Join(base, "reference"), filepath.Join(base, "hidden")
	for _, dir := range []string{ws + "/sub/.venv/bin", reference, hidden, ws + "/locked"} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, text := range map[string]string{
		ws + "/run.sh": "rm -rf \"$HOME\"/x\n", reference + "/notes": "", hidden + "/secret": "", hidden + "/evil.sh": "rm -rf /\n", ws + "/locked/in": "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"etc": "/etc", "out": hidden, "in": "../reference/notes", "loop": "loop", "bin": "/bin/sh", "secret": hidden + "/secret", "home": "/home/agent", "evil.sh": hidden + "/evil.sh",
	} {
		if err := os.Symlink(target, filepath.Join(ws, name)); err != nil {
			t.Fatal(err)
		}
	}
	if os.Getuid() == 0 { // of another user, and closed to others: in a sandbox root has no rights there
		if err := os.Chown(ws+"/locked", 64_301, 64_301); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(ws+"/locked", 0o700); err != nil {
		t.Fatal(err)
	}
	l := layout(ws, facts.Root{Path: reference, Zone: "context"})
	l.Self = []facts.Place{{Path: "/home/agent/.config/sallyport/config.yaml", Label: "self_config"}, {Path: hidden + "/secret", Label: "self_audit"}}
	o := settings(t)
	o.Prefix, o.Venv = "", "auto"
	o.Environ = append(o.Environ, "TOKEN=a secret that nobody keeps", "DIR="+hidden)
	starts, _ := counted(t, &o)
	opened := open(t, o, l).(engine.Remote)
	defer opened.Close()
	texts := []string{
		"ls -la", "cat run.sh", "bash run.sh", "bash ./evil.sh", "sh out/evil.sh", "cat in out/secret secret etc/passwd", "rm -rf out home loop", "cat loop", "ls locked; cat locked/in",
		"echo x >/etc/motd; cat /etc/passwd /etc/shadow /etc/hosts /etc/ssl/certs", "cat " + reference + "/notes " + hidden + "/secret " + base,
		"cat /proc/self/environ /proc/1/cmdline /proc/version /sys/kernel", "echo x >/dev/null 2>/dev/shm/x; cat /dev/sda /dev/stdin", "rm -rf ~ ~/.ssh /home /root /var/tmp/x /tmp/*",
		"ls /usr/bin/* /bin /sbin/init /lib64 /run /run/sallyport /opt", "cd /tmp && touch x && cat ../etc/os-release", "cat $DIR/secret; echo $TOKEN; $SHELL -c 'rm -rf x'", "./bin -c 'ls /'",
	}
	dirs := []string{ws, ws + "/sub", ws + "/out", "/tmp", "/absent"}
	before := starts()
	for _, name := range []string{"nothing known", "known"} {
		t.Run(name, func(t *testing.T) {
			env, _ := looked(t, o, l)
			runnertest.SameFacts(t, l, opened, env, dirs, texts)
			if err := env.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	if got := starts() - before; got != 2 { // the second for what is not kept: /proc
		t.Errorf("%d sandboxes were made for it", got)
	}
	env, _ := looked(t, o, l)
	defer env.Close()
	runnertest.SameFacts(t, l, opened, env, dirs, []string{"ls -la", "touch ~/.ssh /etc/passwd", "cat $DIR/secret"})
	if got := starts() - before; got != 2 {
		t.Error("a sandbox was made for what was known")
	}
	kept, err := filepath.Glob(o.State + "/looks/*")
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	if text, err := os.ReadFile(kept[0]); err != nil || bytes.Contains(text, []byte("a secret that")) {
		t.Errorf("%v: %s", err, text)
	}
}

// What was once found to hold is said of a command, and believed by nobody who runs one. What another could have written is
// not even said.
func TestLookIsNotBelieved(t *testing.T) {
	t.Parallel()
	o, l := settings(t), layout(t.TempDir())
	starts, weaken := counted(t, &o)
	env, _ := looked(t, o, l)
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	weaken()
	env, _ = looked(t, o, l)
	if err := env.Close(); err != nil {
		t.Fatal(err)
	}
	if got := starts(); got != 1 {
		t.Errorf("%d sandboxes were made: nothing was known", got)
	}
	if env, err := try(o, l); err == nil {
		t.Error("what was known of an earlier one was believed")
		_ = env.Close()
	}
	kept, err := filepath.Glob(o.State + "/looks/*")
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	r, err := bubblewrap.New(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func() error{
		"writable": func() error { return os.Chmod(kept[0], 0o666) },
		"cut off":  func() error { return os.Truncate(kept[0], 20) },
		"program":  func() error { return os.Chmod(o.Bwrap, 0o700) },
	} {
		t.Run(name, func(t *testing.T) {
			before, text := starts(), read(t, kept[0])
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			if env, err := r.Look(t.Context(), engine.EnvironmentSpec{Layout: l}); err == nil {
				t.Error("it was used")
				_ = env.Close()
			}
			if starts() == before {
				t.Error("no sandbox was tried")
			}
			if err := os.WriteFile(kept[0], text, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chmod(kept[0], 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
