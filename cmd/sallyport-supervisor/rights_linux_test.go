package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// A command is the user and nobody else, and keeps no right of its supervisor.
func TestCommandIsUser(t *testing.T) {
	t.Parallel()
	home := homeOf(t, someone)
	env := asRoot(t, narrow, wire.Settings{User: &someone, Home: home, NoSetID: true})
	defer env.Close()
	x := do(t, env, engine.Command{Text: `id -u; id -g; echo "$HOME"; cd && echo x >mine && stat -c %u:%g mine; umask
		grep -E "^(Cap(Inh|Prm|Eff|Amb)|NoNewPrivs|Seccomp):" /proc/self/status | tr -s '[:blank:]' ' '`})
	want := fmt.Sprintf("%d\n%d\n%s\n%d:%d\n0022\n", someone.UID, someone.GID, home, someone.UID, someone.GID) +
		"CapInh: 0000000000000000\nCapPrm: 0000000000000000\nCapEff: 0000000000000000\nCapAmb: 0000000000000000\nNoNewPrivs: 1\nSeccomp: 2\n"
	if x.Stdout.Text != want {
		t.Errorf("got %q, stderr %q,\nwant %q", x.Stdout.Text, x.Stderr.Text, want)
	}
	groups := strings.Fields(do(t, env, engine.Command{Text: "id -G"}).Stdout.Text)
	if len(groups) != 3 || groups[0] != fmt.Sprint(someone.GID) || groups[1] != fmt.Sprint(someone.Groups[0]) {
		t.Errorf("groups %q, want the user's and one mark", groups)
	}
	if got := env.Place().Home; got != home {
		t.Errorf("facts are told of the home %s", got)
	}
}

// What keeps a command is out of its reach, whatever it tries.
func TestKeeperIsSafe(t *testing.T) {
	t.Parallel()
	alone := wire.User{UID: someone.UID + 100, GID: someone.GID} // it kills whatever it can
	home := homeOf(t, alone)
	env := asRoot(t, narrow, wire.Settings{User: &alone, Home: home})
	defer env.Close()
	free := asRoot(t, narrow, wire.Settings{})
	defer free.Close()
	for _, text := range []string{
		`kill -0 $PPID`,
		`for t in /proc/$PPID/task/*; do kill -0 ${t##*/} && exit; done; false`,
		`cat /proc/$PPID/environ`,
		`: >/proc/$PPID/comm`,
		`: <>/proc/$PPID/mem`,
		`ls /proc/$PPID/fd`,
		`echo 1000 >/proc/$PPID/oom_score_adj`,
		`prlimit --pid $PPID --nofile=1:1 || prlimit --pid $PPID --core=0:0`,
	} {
		itself := strings.NewReplacer("$PPID", "$$", "--nofile=1:1", "--core=0:0").Replace(text)
		if x := do(t, free, engine.Command{Text: itself}); x.Code != 0 {
			t.Errorf("%s: does not work with a process that is in reach, so it shows nothing: %s", itself, x.Stderr.Text)
		}
		if x := do(t, env, engine.Command{Text: text}); x.Code == 0 {
			t.Errorf("%s: works", text)
		}
	}
	for range 3 { // it is there to answer
		if x := do(t, env, engine.Command{Text: `kill -KILL $PPID; kill -KILL -1; echo here`}); x.Error != nil {
			t.Fatalf("%+v", x)
		}
	}
}

// Calls of files have the user's rights, not those of root.
func TestFilesAsUser(t *testing.T) {
	t.Parallel()
	home := homeOf(t, someone)
	shut := filepath.Join(filepath.Dir(home), "roots")
	if err := os.WriteFile(shut, []byte("hunter2"), 0o600); err != nil {
		t.Fatal(err)
	}
	// With the rights that container images of root have by default.
	env := asRoot(t, wide, wire.Settings{User: &someone, Home: home})
	defer env.Close()
	free := asRoot(t, wide, wire.Settings{})
	defer free.Close()
	mine := home + "/dir/mine"
	if _, err := env.Files().Write(mine, strings.NewReader("mine"), engine.WriteOptions{}); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(mine)
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(someone.UID) || info.Sys().(*syscall.Stat_t).Gid != uint32(someone.GID) {
		t.Errorf("the file is not the user's: %v, %v", info, err)
	}
	for name, try := range map[string]func(env engine.Environment) error{
		"open": func(env engine.Environment) error { return read(env.Files(), shut) },
		"read for facts": func(env engine.Environment) error {
			_, _, err := env.FS().ReadFile(shut, 100)
			return err
		},
		"replace": func(env engine.Environment) error {
			_, err := env.Files().Write(shut, strings.NewReader("new"), engine.WriteOptions{Replace: true})
			return err
		},
		"make": func(env engine.Environment) error { return env.Files().Mkdir(filepath.Dir(home) + "/new") },
		"link": func(env engine.Environment) error {
			return env.Files().Symlink("x", filepath.Dir(home)+"/link")
		},
		"remove": func(env engine.Environment) error { return env.Files().Remove(filepath.Dir(home) + "/link") },
	} {
		if err := try(env); !errors.Is(err, fs.ErrPermission) && name != "remove" || err == nil {
			t.Errorf("%s: got %v, want no permission", name, err)
		}
	}
	for _, err := range []error{read(free.Files(), shut), free.Files().Mkdir(filepath.Dir(home) + "/new"), read(env.Files(), mine)} {
		if err != nil {
			t.Errorf("does not work with the right to, so it shows nothing: %v", err)
		}
	}
	if _, err := env.Prepare("true", home); err != nil {
		t.Error(err)
	}
	if _, err := begin(env, engine.Command{Text: "true", WorkDir: home}); err != nil {
		t.Errorf("a directory that only the user can enter: %v", err)
	}
	if err := os.Mkdir(shut+".d", 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := begin(env, engine.Command{Text: "true", WorkDir: shut + ".d"}); err == nil || !strings.Contains(err.Error(), "permission denied") {
		t.Errorf("a directory that only root can enter: %v", err)
	}
}

func read(files engine.Files, path string) error {
	f, err := files.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.ReadAll(f)
	return err
}

// Calls of files stay where they were granted, with links, dots and races of names in the way.
func TestRoots(t *testing.T) {
	t.Parallel()
	base := t.TempDir()
	root, file := base+"/root", base+"/single"
	for _, err := range []error{
		os.MkdirAll(root+"/sub", 0o755), os.MkdirAll(base+"/rootless", 0o755), os.WriteFile(base+"/outside", []byte("x"), 0o644),
		os.WriteFile(base+"/rootless/f", nil, 0o644), os.WriteFile(file, nil, 0o644), os.WriteFile(root+"/f", nil, 0o644),
		os.Symlink("..", root+"/up"), os.Symlink("../outside", root+"/link"), os.Symlink(base, root+"/sub/base"),
		os.Symlink("/proc/self/root", root+"/magic"), os.Symlink(root, base+"/alias"),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	open := func(s wire.Settings) *wire.Environment {
		env, err := greet([]string{program}, s)
		if err != nil {
			t.Fatal(err)
		}
		return env
	}
	env, free := open(wire.Settings{Roots: []string{root, file}}), open(wire.Settings{})
	defer env.Close()
	defer free.Close()
	for _, p := range []string{root + "/f", file} {
		if err := read(env.Files(), p); err != nil {
			t.Errorf("%s: %v", p, err)
		}
	}
	for _, p := range []string{
		base + "/outside", base + "/rootless/f", "/etc/passwd", base, "/",
		root + "/../outside", root + "/./f", root + "//f", root + "/sub/../../outside", "root/f", "",
		root + "/up/outside", root + "/link", root + "/sub/base/outside", root + "/magic/etc/passwd", base + "/alias/f", file + "/x", root + "/\x00",
	} {
		if err := read(env.Files(), p); err == nil {
			t.Errorf("%q was read", p)
		}
		if _, err := env.Files().ReadDir(filepath.Dir(p)); err == nil && strings.HasPrefix(p, base+"/outside") {
			t.Errorf("the directory of %q was listed", p)
		}
		if _, err := env.Files().Write(p+".new", strings.NewReader("x"), engine.WriteOptions{}); err == nil && p != root+"/link" {
			t.Errorf("%q was written", p+".new")
		}
	}
	for name, err := range map[string]error{
		"outside": read(free.Files(), base+"/outside"), "beside": read(free.Files(), base+"/rootless/f"),
		"written": func() error {
			_, err := free.Files().Write(base+"/new", strings.NewReader("x"), engine.WriteOptions{})
			return err
		}(),
	} {
		if err != nil {
			t.Errorf("%s: does not work without roots, so it shows nothing: %v", name, err)
		}
	}
	if _, err := env.FS().Lstat(base + "/outside"); err != nil {
		t.Errorf("facts must see what commands see: %v", err)
	}
}

// Without the means a user is refused, and never passed over.
func TestNoMeans(t *testing.T) {
	t.Parallel()
	root := someone
	root.UID = 0
	for name, tc := range map[string]struct {
		capabilities string
		user         wire.User
		want         string
	}{
		"no capabilities": {"-all", someone, "as root with SETUID and SETGID"},
		"root":            {narrow, root, "is root"},
		"no such user":    {narrow, wire.User{UID: -1, GID: 1}, "no number"},
		"no such group":   {narrow, wire.User{UID: 1, GID: 1, Groups: []int{1 << 32}}, "no number"},
	} {
		if env, err := tryRoot(t, tc.capabilities, wire.Settings{User: &tc.user}); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: got %v", name, err)
			if err == nil {
				_ = env.Close()
			}
		}
	}
	if _, err := greet([]string{program}, wire.Settings{Reown: []string{"/tmp"}}); err == nil {
		t.Error("files are to be given to nobody")
	}
	if _, err := greet([]string{program}, wire.Settings{Roots: []string{"tmp"}}); err == nil {
		t.Error("a root is no absolute path")
	}
}

// rooted makes a program that is root for whoever runs it, as sudo is, and runs the text that it is given.
func rooted(t *testing.T, dir string) string {
	t.Helper()
	bash := leftout.Command(t, "bash", "install bash")
	b, err := os.ReadFile(bash)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "become-root")
	if err := errors.Join(os.WriteFile(file, b, 0o755), os.Chmod(file, 0o755|fs.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(file, "-pc", "id -u")
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(someone.UID), Gid: uint32(someone.GID)}}
	if out, err := c.Output(); err != nil || string(out) != "0\n" {
		leftout.Skip(t, fmt.Sprintf("programs do not become root in %s: mount it without nosuid: %s %v", dir, out, err))
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
