package docker

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// repository makes one in the workspace of a lab.
func (l *lab) repository(dir string) {
	l.t.Helper()
	git := leftout.Command(l.t, "git")
	for _, args := range [][]string{{"init", "-q", dir}, {"-c", "safe.directory=*", "-C", dir, "config", "user.name", "t"}, {"-c", "safe.directory=*", "-C", dir, "config", "user.email", "t@example.com"}} {
		if out, err := exec.Command(git, args...).CombinedOutput(); err != nil {
			l.t.Fatalf("git %v: %v: %s", args, err, out)
		}
	}
	must(l.t, filepath.WalkDir(dir, func(p string, _ fs.DirEntry, err error) error {
		if err == nil {
			l.give(p)
		}
		return err
	}))
}

func TestProtectedPlaces(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repository(l.workspace)
	must(t, os.MkdirAll(filepath.Join(l.workspace, "secrets", "deep"), 0o755))
	must(t, os.WriteFile(filepath.Join(l.workspace, "secrets", "deep", "key"), []byte("k\n"), 0o644))
	l.give(filepath.Join(l.workspace, "secrets"), filepath.Join(l.workspace, "secrets/deep"), filepath.Join(l.workspace, "secrets/deep/key"))
	tries := map[string]string{
		"hook":             "echo evil > .git/hooks/pre-commit",
		"git config":       "git config core.fsmonitor evil",
		"rename .git":      "mv .git gone",
		"replace .git":     "mv .git gone; mkdir -p .git/hooks && echo evil > .git/hooks/pre-commit",
		"protected":        "echo evil > secrets/deep/key",
		"remove protected": "rm -rf secrets/deep/key secrets",
		"rename around":    "mv secrets gone",
		"hard link":        "ln .git/config x && echo evil >> x",
	}
	spec := l.spec()
	spec.Layout.Roots[0].Protected = []string{
		filepath.Join(l.workspace, "secrets/deep"), filepath.Join(l.workspace, "later"),
	}
	env := l.open(spec)
	for name, text := range tries {
		if x := run(t, env, l.workspace, text); x.Code == 0 {
			t.Errorf("%s: %s succeeded", name, text)
		}
	}
	says(t, env, l.workspace, "echo a > a && git add a && git commit -qm a && git log --oneline | wc -l", "1")
	// Nothing stands in for a missing place.
	for _, missing := range []string{"later", ".vscode", ".claude", ".git/commondir"} {
		if exists(filepath.Join(l.workspace, missing)) {
			t.Errorf("%s appeared while the container lives", missing)
		}
	}
	must(t, env.Close())
	for _, gone := range []string{"later", ".vscode", ".claude", "gone", "x", ".git/hooks/pre-commit"} {
		if exists(filepath.Join(l.workspace, gone)) {
			t.Errorf("%s is left", gone)
		}
	}
	// Each of them would have succeeded.
	for name, text := range tries {
		other := filepath.Join(filepath.Dir(l.workspace), "other-"+strings.ReplaceAll(name, " ", "-"))
		if out, err := exec.Command("cp", "-a", l.workspace, other).CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		c := exec.Command("sh", "-c", text)
		c.Dir = other
		c.Env = append(os.Environ(), "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %s fails unprotected too: %v: %s", name, text, err, out)
		}
	}
}

// TestReplacedOutside holds that what is mounted on a file that somebody replaces outside does not stay away.
func TestReplacedOutside(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	l.repository(l.workspace)
	r := l.runner()
	opened, err := r.Open(context.Background(), l.spec())
	must(t, err)
	env := opened.(*environment)
	const try = "echo evil >> .git/config && echo wrote"
	if x := run(t, env, l.workspace, try); x.Code == 0 {
		t.Fatal("the configuration can be written to")
	}
	if out, err := exec.Command("git", "-C", l.workspace, "-c", "safe.directory=*", "config", "some.key", "value").CombinedOutput(); err != nil {
		t.Fatalf("git config outside: %v: %s", err, out)
	}
	await.True(t, "the change is noticed", func() bool { return env.Err() != nil })
	if err := env.Err(); err == nil || !strings.Contains(err.Error(), "replaced outside") {
		t.Fatalf("noticed is %v", err)
	}
	again, err := r.Open(context.Background(), l.spec()) // as the gate does
	must(t, err)
	if again.(*environment).id != env.id {
		t.Error("another container was made")
	}
	if x := run(t, again, l.workspace, try); x.Code == 0 {
		t.Error("the configuration can be written to")
	}
	must(t, again.Close())
	if left := l.list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
}

// TestPlantedLinks holds that a grant cannot be bent by what an agent made.
func TestPlantedLinks(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	secret := filepath.Join(filepath.Dir(l.workspace), "secret")
	must(t, os.Mkdir(secret, 0o755))
	must(t, os.WriteFile(filepath.Join(secret, "key"), []byte("k"), 0o644))
	must(t, os.Symlink(secret, filepath.Join(l.workspace, "docs")))
	spec := l.spec()
	spec.Layout.Roots = append(spec.Layout.Roots, facts.Root{Path: filepath.Join(l.workspace, "docs")})
	if _, err := l.runner().Open(context.Background(), spec); err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("open: %v", err)
	}
	// A link of the operator's own is followed, and shown at the path that was granted.
	alias := filepath.Join(filepath.Dir(l.workspace), "alias")
	must(t, os.Symlink(secret, alias))
	spec = l.spec()
	spec.Layout.Roots = append(spec.Layout.Roots, facts.Root{Path: alias})
	env := l.open(spec)
	defer env.Close()
	says(t, env, l.workspace, "cat "+alias+"/key", "k")
}

func TestRefusedMounts(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	for _, c := range []struct {
		mount Mount
		says  string
	}{
		{Mount{Source: "/var/run/docker.sock", Target: "/x.sock"}, "docker.mounts: mount /var/run/docker.sock"},
		{Mount{Source: "/", Target: "/host"}, "the whole machine"},
		{Mount{Source: "/etc", Target: "/x"}, "belongs to the system"},
		{Mount{Source: l.o.State, Target: "/x"}, "sallyport keeps its own files"},
		{Mount{Source: supervisorFile, Target: "/proc/x"}, "the container needs that place"},
		{Mount{Source: supervisorFile, Target: "/"}, "the container needs that place"},
		{Mount{Source: supervisorFile, Target: l.workspace}, "is mounted already"},
		{Mount{Source: supervisorFile, Target: l.workspace + "/new/tools"}, "does not exist, and the engine would make it"},
	} {
		l.o.Mounts = []Mount{c.mount}
		if _, err := l.runner().Open(context.Background(), l.spec()); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.mount, err)
		}
	}
	if left := l.list(); len(left) != 0 {
		t.Errorf("left: %v", left)
	}
	tools := filepath.Join(filepath.Dir(l.workspace), "tools")
	must(t, os.Mkdir(tools, 0o755))
	must(t, os.WriteFile(filepath.Join(tools, "t"), []byte("tool"), 0o644))
	l.give(tools)
	l.o.Mounts = []Mount{{Source: tools, Target: "/tools"}}
	env := l.open(l.spec())
	defer env.Close()
	says(t, env, l.workspace, "cat /tools/t; touch /tools/x 2>/dev/null || echo , refused", "tool, refused")
}

// TestMountsAreGranted: the judgement knows the mounts of the operator. A writable place inside is not
// refused for lying outside of every granted place.
func TestMountsAreGranted(t *testing.T) {
	t.Parallel()
	l := newLab(t)
	outside := filepath.Join(filepath.Dir(l.workspace), "outside")
	must(t, os.Mkdir(outside, 0o755))
	must(t, os.WriteFile(filepath.Join(outside, "file"), nil, 0o644))
	l.give(outside)
	l.o.Mounts = []Mount{{Source: outside, Target: "/rw", Write: true}, {Source: filepath.Join(outside, "file"), Target: "/ro"}, {Source: outside, Target: "/given", Given: true}}
	env := l.open(l.spec())
	defer env.Close()
	says(t, env, l.workspace, "touch /rw/x && ls /rw", "file\nx")
	got := env.Layout(l.spec().Layout).Roots[1:]
	want := []facts.Root{{Path: "/rw", Write: true, Zone: "context"}, {Path: "/ro", Zone: "context", File: true}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("roots beside the workspace (-want +got):\n%s", diff)
	}
}
