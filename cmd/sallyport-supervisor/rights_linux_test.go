package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
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
	if _, err := greet([]string{program}, wire.Settings{Reown: []string{"/tmp"}}); err == nil {
		t.Error("files are to be given to nobody")
	}
	if _, err := greet([]string{program}, wire.Settings{Roots: []string{"tmp"}}); err == nil {
		t.Error("a root is no absolute path")
	}
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
}
