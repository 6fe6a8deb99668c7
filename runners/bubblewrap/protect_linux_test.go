//go:build amd64 || arm64

package bubblewrap_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/boundary"
)

// host runs a text outside of every sandbox.
func host(t testing.TB, text string, vars ...string) string {
	t.Helper()
	c := exec.Command("bash", "-ec", text)
	c.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com"}, vars...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v: %s", text, err, out)
	}
	return string(out)
}

// tree lists all names below a directory, without those that git makes as it works.
func tree(t testing.TB, dir string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // it went just now
		}
		if rel, _ := filepath.Rel(dir, p); !strings.Contains(p, "/objects/") {
			all = append(all, rel)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// template is a workspace that is copied: to make one takes many processes.
var template = sync.OnceValue(func() string {
	dir, err := os.MkdirTemp("", "sallyport-template-")
	if err != nil {
		panic(err)
	}
	return dir
})

var making sync.Mutex

// repositories makes a workspace with a repository in each form that git has.
func repositories(t testing.TB) string {
	t.Helper()
	leftout.Command(t, "git")
	ws := t.TempDir()
	making.Lock()
	defer making.Unlock()
	host(t, `
		if [ -e "$FROM/file" ]; then
			cp -a "$FROM/." "$WS"
			echo "gitdir: $WS/.git/worktrees/tree" >"$WS/tree/.git"; echo "$WS/tree/.git" >"$WS/.git/worktrees/tree/gitdir"
			exit
		fi
		cd "$WS"
		git init -q . && echo text >file && git add file && git commit -qm first
		git init -q deep/er/nested && git -C deep/er/nested commit -q --allow-empty -m first
		git clone -q --bare . bare.git
		git worktree add -q tree
		git -c protocol.file.allow=always submodule --quiet add "$WS/bare.git" sub && git commit -qm sub
		git init -q hooked && git -C hooked config core.hooksPath .myhooks && mkdir hooked/.myhooks
		git init -q including && git -C including config include.path ../common.config && touch including/common.config
		cp -a "$WS/." "$FROM"`, "WS="+ws, "FROM="+template())
	return ws
}

// Git works in a sandbox as it does outside.
func TestGitWorks(t *testing.T) {
	t.Parallel()
	ws := repositories(t)
	env := open(t, settings(t), layout(ws))
	defer env.Close()
	x := run(t, env, `set -e
		export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.com GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.com
		for repo in . deep/er/nested tree sub; do
			cd "$WS/$repo"
			echo more >new; git add new; git commit -qm more
			b="t${repo//[.\/]/-}x"; git checkout -q -b "$b"; echo x >>new; git stash -q; git stash pop -q; git commit -qam x
			git checkout -q -; git merge -q "$b"; git rebase -q HEAD~1; git tag "v-$b"; git gc -q; git fsck --no-progress
			test -z "$(git status --porcelain -uno --ignore-submodules)"
		done
		cd "$WS"; git log --oneline | head -1; git worktree list | wc -l; git diff --stat HEAD~1`, "WS="+ws)
	if x.Code != 0 {
		t.Errorf("status %d: %s%s", x.Code, x.Stdout.Text, x.Stderr.Text)
	}
}

// planted is how each place outside would be made to run something of a command's. RAN is a file that comes
// to be when it does run. Each has a text that plants, and what a user does on the host after it.
var planted = []struct{ name, plant, use string }{
	{"hook", `echo "touch $RAN" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`, `git commit -q --allow-empty -m x`},
	{"configuration", `git config core.fsmonitor "touch $RAN; false"`, `git status`},
	{"configuration by hand", `printf '[core]\nfsmonitor = "touch %s; false"\n' "$RAN" >>.git/config`, `git status`},
	{"another .git", `mv .git old && cp -a old .git && git config core.fsmonitor "touch $RAN; false"`, `git status`},
	{"another repository", `mv deep other && cp -a other deep && cd deep/er/nested && git config core.fsmonitor "touch $RAN; false"`, `git -C deep/er/nested status`},
	{"nested hook", `echo "touch $RAN" >deep/er/nested/.git/hooks/pre-commit; chmod +x deep/er/nested/.git/hooks/pre-commit`, `git -C deep/er/nested commit -q --allow-empty -m x`},
	{"common directory", `cp -a .git evil && git config -f evil/config core.fsmonitor "touch $RAN; false" && echo ../evil >.git/commondir`, `git status`},
	{"common directory of a worktree", `cp -a .git evil && git config -f evil/config core.fsmonitor "touch $RAN; false" && echo "$WS/evil" >.git/worktrees/tree/commondir`, `git -C tree status`},
	{"file called .git", `cp -a .git evil && git config -f evil/config core.fsmonitor "touch $RAN; false" && echo "gitdir: $WS/evil" >tree/.git`, `git -C tree status`},
	{"submodule", `git -C sub config core.fsmonitor "touch $RAN; false"`, `git -C sub status`},
	{"bare repository", `git -C bare.git config alias.x "!touch $RAN"`, `git -C bare.git x || true`},
	{"attributes", `mkdir -p .git/info; echo "* filter=f" >.git/info/attributes`, `git config filter.f.clean "touch $RAN; cat"; echo y >>file; git add file`},
	{"own place of hooks", `echo "touch $RAN" >hooked/.myhooks/pre-commit; chmod +x hooked/.myhooks/pre-commit`, `git -C hooked commit -q --allow-empty -m x`},
	{"included configuration", `git config -f including/common.config core.fsmonitor "touch $RAN; false"`, `git -C including status`},
	{"hooks exchanged", `mv .git/hooks .git/h; mkdir .git/hooks; echo "touch $RAN" >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`, `git commit -q --allow-empty -m x`},
	{"link to hooks", `rm -rf .git/hooks; mkdir h; ln -s ../h .git/hooks; echo "touch $RAN" >h/pre-commit; chmod +x h/pre-commit`, `git commit -q --allow-empty -m x`},
	{"editor", `mkdir -p .vscode && echo "$RAN" >.vscode/tasks.json`, `test -s .vscode/tasks.json && touch "$RAN" || true`},
	{"shell", `echo "touch $RAN" >.envrc`, `test -f .envrc && . ./.envrc || true`},
	{"agent", `mkdir -p deep/er/nested/.claude && echo x >deep/er/nested/.claude/settings.json`, `test -s deep/er/nested/.claude/settings.json && touch "$RAN" || true`},
	{"protected place", `echo x >kept/here`, `test -s kept/here && touch "$RAN" || true`},
	{"protected place to come", `mkdir -p later/on && echo x >later/on/it`, `test -s later/on/it && touch "$RAN" || true`},
}

// The files that commands leave in a workspace start nothing outside, and each of these would without the
// sandbox and its boundary.
func TestNothingPlantedRuns(t *testing.T) {
	t.Parallel()
	for _, tc := range planted {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			for _, confined := range []bool{false, true} {
				ws := repositories(t)
				host(t, `mkdir "$WS/kept"`, "WS="+ws)
				ran := filepath.Join(t.TempDir(), "ran")
				vars := []string{"WS=" + ws, "RAN=" + ran}
				if confined {
					l := layout(ws)
					l.Roots[0].Protected = []string{ws + "/kept", ws + "/later/on"}
					env := open(t, settings(t), l)
					b := boundary.New(boundary.Options{Layout: l, Store: t.TempDir()})
					b.Enter()
					run(t, env, `cd "$WS"; `+tc.plant, vars...)
					var held []engine.Held
					for _, p := range b.Leave() {
						held = append(held, engine.Held{Path: p})
					}
					for _, h := range b.Hold("d", held) {
						if h.Error != "" {
							t.Errorf("hold %s: %s", h.Path, h.Error)
						}
					}
					if err := env.Close(); err != nil {
						t.Error(err)
					}
				} else {
					host(t, `cd "$WS"; `+tc.plant, vars...)
				}
				host(t, `cd "$WS"; `+tc.use, vars...)
				if _, err := os.Lstat(ran); (err == nil) == confined {
					t.Errorf("confined: %v, ran: %v", confined, err == nil)
				}
			}
		})
	}
}

// The workspace has the same names before, during and after a session that writes nothing.
func TestNoLitter(t *testing.T) {
	t.Parallel()
	ws := repositories(t)
	before := tree(t, ws)
	env := open(t, settings(t), layout(ws))
	run(t, env, `cat "$WS/file"`, "WS="+ws)
	if diff := cmp.Diff(before, tree(t, ws)); diff != "" {
		t.Errorf("during the session (-want +got):\n%s", diff)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(before, tree(t, ws)); diff != "" {
		t.Errorf("left behind (-want +got):\n%s", diff)
	}
}

// A granted place below the workspace that a command made a link of is not followed, and it is no reason
// to do without the sandbox.
func TestPlantedLink(t *testing.T) {
	t.Parallel()
	secret := t.TempDir()
	host(t, `echo hunter2 >"$S/key"`, "S="+secret)
	for _, name := range []string{"ref", "ref/erence"} {
		ws := t.TempDir()
		host(t, `mkdir -p "$WS/$(dirname $N)"; ln -s "$S" "$WS/$N"`, "WS="+ws, "S="+secret, "N="+name)
		o := settings(t)
		o.Otherwise = bareRunner(t)
		granted := facts.Root{Path: ws + "/" + name, Zone: "context"}
		env, err := try(o, layout(ws, granted))
		if err == nil || !strings.Contains(err.Error(), "symbolic link in a place that commands may write to") {
			t.Errorf("%s: %v, %v", name, env, err)
		}
		// The operator's own link, from a place that no command writes to, is followed.
		link := filepath.Join(t.TempDir(), "link")
		if err := os.Symlink(secret, link); err != nil {
			t.Fatal(err)
		}
		env = open(t, settings(t), layout(t.TempDir(), facts.Root{Path: link, Zone: "context"}))
		if x := run(t, env, `cat "$LINK/key"`, "LINK="+link); x.Stdout.Text != "hunter2\n" {
			t.Errorf("%+v", x)
		}
		env.Close()
	}
}

// The sandbox has a /var/tmp of its own, and a workspace below it keeps its path.
func TestWorkspaceBelowVarTmp(t *testing.T) {
	workspace, err := os.MkdirTemp("/var/tmp", "sallyport")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(workspace) })
	env := open(t, settings(t), layout(workspace))
	defer env.Close()
	p, err := start(env, "touch "+workspace+"/made /var/tmp/other")
	if err != nil {
		t.Fatal(err)
	}
	if x := p.Wait(); x.Error != nil || x.Code != 0 {
		t.Errorf("%+v", x)
	}
	if _, err := os.Stat(workspace + "/made"); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat("/var/tmp/other"); err == nil {
		t.Error("a file in the sandbox's /var/tmp is on the host")
	}
}

// TestClosedDirectory: a command cannot hide a repository from the next sandbox by a directory that nobody
// can read: it is read-only there.
func TestClosedDirectory(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "git")
	root := os.Getuid() == 0 // reads every directory, and guards the repository itself
	const opens = `chmod 755 pkg && echo '[core] fsmonitor = evil' >pkg/lib/.git/config`
	for _, mode := range []string{"000", "600", "300"} {
		ws := t.TempDir()
		host(t, `mkdir "$WS/pkg"; git init -q "$WS/pkg/lib"`, "WS="+ws)
		env := open(t, settings(t), layout(ws))
		if x := run(t, env, "cd "+ws+"; chmod "+mode+" pkg"); x.Code != 0 {
			t.Fatalf("%s: %+v", mode, x)
		}
		env.Close()
		env = open(t, settings(t), layout(ws))
		if x := run(t, env, "cd "+ws+"; "+opens); x.Code == 0 || !strings.Contains(x.Stderr.Text, "Read-only") {
			t.Errorf("%s: %+v", mode, x)
		}
		told, _ := env.(interface{ Shortcomings() []string })
		if !root && !strings.Contains(strings.Join(told.Shortcomings(), "\n"), "pkg cannot be read") {
			t.Errorf("%s: it is not told", mode)
		}
		env.Close()
		host(t, `cd "$WS"; `+opens, "WS="+ws) // outside it works
	}
	ws := t.TempDir()
	host(t, `chmod 000 "$WS"`, "WS="+ws)
	env, err := try(settings(t), layout(ws))
	if err == nil {
		env.Close()
	}
	if !root && (err == nil || !strings.Contains(err.Error(), "chmod u+rx it")) {
		t.Errorf("a workspace that cannot be read: %v", err)
	}
}
