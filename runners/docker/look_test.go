package docker

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
)

// lookLab is a lab with a workspace in which there is something to see.
func lookLab(t *testing.T) (*lab, engine.EnvironmentSpec) {
	if runtime.GOOS != "linux" {
		leftout.Skip(t, leftout.Platform, "the engine has files of another machine: this needs Linux")
	}
	l := newLab(t)
	hidden := filepath.Join(filepath.Dir(l.workspace), "hidden")
	must(t, errors.Join(os.MkdirAll(l.workspace+"/sub/.venv/bin", 0o755), os.Mkdir(hidden, 0o755), os.Mkdir(l.workspace+"/locked", 0o700),
		os.WriteFile(l.workspace+"/run.sh", []byte("rm -rf \"$HOME\"/x\n"), 0o644), os.WriteFile(hidden+"/secret", nil, 0o644),
		os.WriteFile(l.workspace+"/locked/in", nil, 0o644), os.Symlink("/etc", l.workspace+"/etc"), os.Symlink(hidden, l.workspace+"/out"),
		os.Symlink("/home/sallyport", l.workspace+"/home"), os.Symlink("/bin/sh", l.workspace+"/bin")))
	l.o.Given = []string{"TOKEN=a secret that nobody keeps", "DIR=" + hidden}
	spec := l.spec()
	spec.Layout.Self = []facts.Place{{Path: hidden + "/secret", Label: "self_audit"}}
	return l, spec
}

// look looks at the container of a session.
func (l *lab) look(spec engine.EnvironmentSpec) engine.Remote {
	l.t.Helper()
	env, err := l.runner().Look(context.Background(), spec)
	must(l.t, err)
	return env.(engine.Remote)
}

// lookTexts ask for what is in the workspace, in the image, in places of the container's own, and nowhere.
func lookTexts() []string {
	return []string{
		"ls -la", "bash run.sh", "cat run.sh out/secret etc/passwd", "ls locked; cat locked/in", "rm -rf out home", "mkdir .vscode; touch .envrc .git/hooks/x",
		"cat /etc/passwd /etc/shadow; echo x >/etc/motd", "rm -rf ~ /home /root /var/tmp/x /tmp/*", "ls /usr/bin/git /bin /sbin/init /opt /.sallyport /run", "./bin -c 'ls /'",
		"cat $DIR/secret; echo $TOKEN; $SHELL -c 'rm -rf x'", "cat /proc/self/environ /sys/kernel >/dev/shm/x", "python3 /usr/lib/os-release",
	}
}

// A command has the same facts whether the container is there or is only looked at. Known facts need no
// container.
func TestLookAgrees(t *testing.T) {
	t.Parallel()
	l, spec := lookLab(t)
	dirs := []string{l.workspace, l.workspace + "/sub", "/tmp"}
	opened := spec
	opened.Session = "opened"
	in := l.open(opened)
	defer in.Close()
	for _, name := range []string{"nothing known", "known"} {
		env := l.look(spec)
		t.Run(name, func(t *testing.T) { runnertest.SameFacts(t, spec.Layout, in, env, dirs, lookTexts()) })
		must(t, env.Close())
	}
	if got := l.list(); len(got) != 1 || got[0].Session != "opened" {
		t.Errorf("containers are left: %v", got)
	}
	made := 0
	spec.Note = func(event string, _ map[string]any) {
		if event == "create" {
			made++
		}
	}
	for range 2 { // the first time may learn something
		made = 0
		env := l.look(spec)
		runnertest.SameFacts(t, spec.Layout, in, env, dirs[:2], []string{"ls -la", "rm -rf sub ../x", "touch ~/.ssh /etc/passwd", "cat $DIR/secret"})
		must(t, env.Close())
	}
	if made != 0 {
		t.Errorf("%d containers were made for what was known", made)
	}
	env := l.look(spec)
	_, _, err := env.FS().ReadFile("/etc/os-release", 10)
	must(t, errors.Join(err, env.Close()))
	if made != 1 {
		t.Errorf("%d containers were made for what was not known", made)
	}
}

// A container that is there is entered, so that what the session has made in it shows, and is left as it was.
func TestLookInside(t *testing.T) {
	t.Parallel()
	l, spec := lookLab(t)
	must(t, l.look(spec).Close()) // something is known of a new one
	in := l.open(spec)
	defer in.Close()
	says(t, in, l.workspace, "touch /tmp/made && ln -s /etc /tmp/link && echo ok", "ok")
	env := l.look(spec)
	if _, err := env.FS().Lstat("/tmp/made"); err != nil {
		t.Error(err)
	}
	runnertest.SameFacts(t, spec.Layout, in, env, []string{"/tmp"}, []string{"cat made link/passwd"})
	if _, err := env.Start(t.Context(), engine.Command{ID: "D-look", Text: "true"}); err == nil {
		t.Error("it starts commands")
	}
	must(t, env.Close())
	says(t, in, l.workspace, "ls /tmp/made", "/tmp/made")
	if got := l.list(); len(got) != 1 {
		t.Errorf("containers: %v", got)
	}
}

// To look makes nothing in the workspace.
func TestLookMakesNothing(t *testing.T) {
	t.Parallel()
	l, spec := lookLab(t)
	must(t, l.look(spec).Close())
	names := func() (all []string) {
		must(t, filepath.WalkDir(l.workspace, func(p string, _ os.DirEntry, err error) error {
			all = append(all, p)
			return err
		}))
		return all
	}
	before := names()
	env := l.look(spec)
	if diff := cmp.Diff(before, names()); diff != "" {
		t.Error(diff)
	}
	must(t, env.Close())
}
