package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// A supervisor that is root makes names with the rights of the user, and asks about some of them first.
func TestNamesAsUser(t *testing.T) {
	t.Parallel()
	home := homeOf(t, someone)
	env := asRoot(
		t,
		narrow,
		wire.Settings{User: &someone, Home: home, NoSetID: true, Watched: []string{home}},
	)
	defer env.Close()
	for _, s := range env.Shortcomings() {
		t.Errorf("shortcoming: %s", s)
	}
	shut := filepath.Join(filepath.Dir(home), "shut")
	if err := os.Mkdir(shut, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		text, asked string
		allow       bool
		out         string
	}{
		{"echo x > .envrc; ls -A", ".envrc", false, ""},
		{"mkdir .vscode; echo > v; mv v .vscode/tasks.json; ls .vscode", ".vscode/tasks.json", false, ""},
		{"rm -r .vscode v; echo x > .envrc; cat .envrc; rm .envrc", ".envrc", true, "x\n"},
		{"umask 077; echo x > f; mkdir d; ln f l; ln -s f s; mkfifo p; stat -c '%U %a %n' f d p", "", false,
			"UNKNOWN 600 f\nUNKNOWN 700 d\nUNKNOWN 600 p\n"},
		{"(cat p &) ; echo through > p; sleep 0.1", "", false, "through\n"},
		{"echo x > " + shut + "/x; mkdir " + shut + "/y; mv f " + shut + "; ls f", "", false, "f\n"},
		{
			"echo out > /dev/stdout; echo 500 > /proc/self/oom_score_adj; echo x > /proc/1/oom_score_adj",
			"", false, "out\n",
		},
		{"for i in {1..200}; do echo $i > n$i; done; ls n* | wc -l", "", false, "200\n"},
	} {
		asked := ""
		c := engine.Command{Text: tc.text, WorkDir: home}
		c.MayMake = func(p string) bool {
			asked += strings.TrimPrefix(p, home+"/")
			return tc.allow
		}
		x := do(t, env, c)
		if asked != tc.asked || x.Stdout.Text != tc.out {
			t.Errorf("%s: asked about %q, says %q and %q", tc.text, asked, x.Stdout.Text, x.Stderr.Text)
		}
	}
	info, err := os.Lstat(filepath.Join(home, "f"))
	if err != nil || info.Sys().(*syscall.Stat_t).Uid != uint32(someone.UID) ||
		info.Sys().(*syscall.Stat_t).Gid != uint32(someone.GID) {
		t.Errorf("the file is not the user's: %v, %v", info, err)
	}
	if all, err := os.ReadDir(shut); err != nil || len(all) != 0 {
		t.Errorf("in a directory of root's: %v, %v", all, err)
	}
}
