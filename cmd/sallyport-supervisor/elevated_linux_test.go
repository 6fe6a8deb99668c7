package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// rooted makes a program that is root for whoever runs it, as sudo is, and runs the text that it is given.
func rooted(t *testing.T, dir string) string {
	t.Helper()
	bash := leftout.Command(t, "bash")
	b, err := os.ReadFile(bash)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "become-root")
	runnertest.WriteProgram(t, file, b, 0o755|fs.ModeSetuid)
	c := exec.Command(file, "-pc", "id -u")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(someone.UID), Gid: uint32(someone.GID)}}
	if out, err := c.Output(); err != nil || string(out) != "0\n" {
		leftout.Skip(t, leftout.Root, fmt.Sprintf("programs do not become root in %s: mount it without nosuid: %s %v", dir, out, err))
	}
	return file
}

// Only an elevated command may become root. What it leaves behind is the user's.
func TestElevated(t *testing.T) {
	t.Parallel()
	home := homeOf(t, someone)
	base := filepath.Dir(home)
	root := rooted(t, base)
	outside := base + "/outside"
	if err := errors.Join(os.Mkdir(outside, 0o755), os.WriteFile(outside+"/roots", nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	env := asRoot(t, wide, wire.Settings{User: &someone, Home: home, NoSetID: true, Reown: []string{home, base + "/none"}})
	defer env.Close()
	become := func(text string) string { return root + " -pc '" + text + "'" }
	if x := do(t, env, engine.Command{Text: become("id -u"), Elevated: true}); x.Stdout.Text != "0\n" || x.Error != nil {
		t.Fatalf("an elevated command does not become root: %+v", x)
	}
	for range 2 { // neither before nor after another
		if x := do(t, env, engine.Command{Text: become("id -u")}); x.Stdout.Text != fmt.Sprintf("%d\n", someone.UID) {
			t.Fatalf("a command becomes root: %+v", x)
		}
	}
	x := do(t, env, engine.Command{Elevated: true, Text: become(`cd ` + home + `; umask 077
		mkdir -p a/b; chmod 2777 a; echo x >a/b/f; cp /bin/true a/suid; chmod 6755 a/suid; ln -s ` + outside + ` a/away; ln -s ` + outside + `/roots a/link
		mkfifo a/pipe; chmod 0 a/b`)})
	if x.Code != 0 || x.Error != nil {
		t.Fatalf("%+v", x)
	}
	owner := func(path string) (uint32, fs.FileMode) {
		info, err := os.Lstat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Sys().(*syscall.Stat_t).Uid, info.Mode()
	}
	for _, name := range []string{"a", "a/b", "a/b/f", "a/suid", "a/away", "a/link", "a/pipe"} {
		if uid, mode := owner(home + "/" + name); uid != uint32(someone.UID) || mode&(fs.ModeSetuid|fs.ModeSetgid) != 0 {
			t.Errorf("%s is of user %d, mode %s", name, uid, mode)
		}
	}
	for _, path := range []string{outside, outside + "/roots", root} {
		if uid, _ := owner(path); uid != 0 {
			t.Errorf("%s, which is reached by a link only, was given away", path)
		}
	}
	if _, mode := owner(root); mode&fs.ModeSetuid == 0 {
		t.Error("what lies outside was changed")
	}
	if x := do(t, env, engine.Command{Text: "chmod u+s " + home + "/a/suid"}); x.Code == 0 {
		t.Error("a command can make a file that changes its user")
	}
}

// Without the rights to give files away that is said.
func TestReownWithoutRights(t *testing.T) {
	t.Parallel()
	home := homeOf(t, someone)
	root := rooted(t, filepath.Dir(home))
	if err := os.WriteFile(home+"/roots", nil, 0o644); err != nil {
		t.Fatal(err)
	}
	env := asRoot(t, narrow+",+dac_override", wire.Settings{User: &someone, Home: home, Reown: []string{home}})
	defer env.Close()
	x := do(t, env, engine.Command{Text: root + " -pc true", Elevated: true})
	if x.Error == nil || !strings.Contains(x.Error.Error(), "1 files could not be changed") || !strings.Contains(x.Error.Error(), "CHOWN") {
		t.Errorf("got %v", x.Error)
	}
}
