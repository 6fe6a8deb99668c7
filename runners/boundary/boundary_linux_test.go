package boundary

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// world is a workspace with a repository, a user's files, and a boundary.
type world struct {
	t     *testing.T
	ws    string
	store string
	b     *Boundary
}

func newWorld(t *testing.T) *world {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed, which judges here")
	}
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, ws: ws, store: filepath.Join(t.TempDir(), "held")}
	w.sh(`git init -q . && git config user.name a && git config user.email a@example.com
		git config alias.mine '!echo mine'
		echo text >file && git add file && git commit -qm first
		printf '#!/bin/sh\n' >.git/hooks/pre-push; chmod 755 .git/hooks/pre-push
		printf '#!/bin/sh\n' >.git/hooks/post-merge
		mkdir .vscode .cursor; echo '{}' >.vscode/settings.json; echo '{"mine":1}' >.cursor/mcp.json
		ln -s .vscode .zed`)
	w.b = New(Options{Layout: facts.Layout{
		Workspace: ws, Home: "/home/nobody",
		Roots: []facts.Root{{Path: ws, Write: true, Zone: "workspace", Protected: []string{ws + "/kept"}}},
		Self:  []facts.Place{{Path: ws + "/sallyport.yaml", Label: "self_config"}},
	}, Store: w.store})
	t.Cleanup(func() { w.b.Close() }) // a user has 128 watches by inotify_init(2)
	return w
}

// sh runs a text in the workspace, with loopback files as the only remotes.
func (w *world) sh(text string) string {
	w.t.Helper()
	c := exec.Command("bash", "-ec", text)
	c.Dir = w.ws
	c.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + w.t.TempDir(),
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.com",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.com",
	}
	out, err := c.CombinedOutput()
	if err != nil {
		w.t.Fatalf("%s: %v: %s", text, err, out)
	}
	return string(out)
}

// command runs a text as a command would, and returns the found files relative to the workspace.
func (w *world) command(text string) []string {
	w.t.Helper()
	w.b.Enter()
	w.sh(text)
	return w.relative(w.b.Leave())
}

// unlock lets the test remove its files.
func (w *world) unlock() { w.sh(`chmod -R u+rwx .`) }

func (w *world) relative(found []string) []string {
	out := []string{}
	for _, p := range found {
		rel, err := filepath.Rel(w.ws, p)
		if err != nil {
			w.t.Fatal(err)
		}
		out = append(out, rel)
	}
	return out
}

const fsmonitor = `git config -f $1/config core.fsmonitor "touch ran; false"`

func TestFound(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       string // names, apart by blanks
	}{
		{"settings", `mkdir .claude; echo '{}' >.claude/settings.json`, ".claude/settings.json"},
		{"skill", `mkdir -p .claude/skills/x; echo x >.claude/skills/x/SKILL.md`, ".claude/skills/x/SKILL.md"},
		{"rule of an agent", `mkdir -p .claude/rules; echo x >.claude/rules/x.md`, ""},
		{"settings deep below",
			`mkdir -p a/b/.vscode; echo '{}' >a/b/.vscode/tasks.json`,
			"a/b/.vscode/tasks.json"},
		{"changed settings", `echo '{"a":1}' >.vscode/settings.json`, ".vscode/settings.json"},
		{"settings through a link", `echo '{"a":1}' >.zed/settings.json`, ".vscode/settings.json"},
		{"directory moved into place",
			`mkdir x; echo '{}' >x/mcp.json; mv .cursor old; mv x .cursor`,
			".cursor/mcp.json"},
		{"link in the place of a directory",
			`mkdir x; echo '{}' >x/settings.json; ln -s x .claude`,
			".claude"},
		{"link in the place of a file", `echo 'touch ran' >x; ln -s x .envrc`, ".envrc"},
		{"all below a directory", `mkdir -p .idea/runs; echo x >.idea/runs/y.xml`, ".idea/runs/y.xml"},
		{"hook",
			`printf '#!/bin/sh\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit`,
			".git/hooks/pre-commit"},
		{"hook that may be executed now", `chmod +x .git/hooks/post-merge`, ".git/hooks/post-merge"},
		{"hook changed", `echo evil >>.git/hooks/pre-push`, ".git/hooks/pre-push"},
		{"link to a hook", `ln -s ../../file .git/hooks/pre-commit`, ".git/hooks/pre-commit"},
		{"hooks exchanged for a link", `mv .git/hooks h; ln -s ../h .git/hooks`, ".git/hooks"},
		{"configuration", `git config core.fsmonitor "touch ran"`, ".git/config"},
		{"configuration in another form",
			`printf '[CORE]\nfsMonitor="touch ran"\n' >>.git/config`,
			".git/config"},
		{"configuration behind a heading",
			`printf '[core] fsmonitor = touch ran\n' >>.git/config`,
			".git/config"},
		{"configuration that goes on",
			`printf '[user]\n\tname = a\\\n[core]\n' >>.git/config`,
			".git/config"},
		{"configuration included", `git config include.path ../x`, ".git/config"},
		{"filter", `git config filter.f.clean "touch ran"`, ".git/config"},
		{"alias", `git config alias.other '!touch ran'`, ".git/config"},
		{"address that starts a program", `git remote add evil "ext::sh -c touch% ran"`, ".git/config"},
		{"working tree elsewhere", `git config core.worktree /etc`, ".git/config"},
		{"configuration of the working tree",
			`git config extensions.worktreeConfig true
			printf '[core]\n\tfsmonitor = touch ran\n' >.git/config.worktree`,
			".git/config.worktree"},
		{"common directory",
			`cp -a .git evil; echo ../evil >.git/commondir`,
			".git/commondir evil/config evil/hooks/pre-push"},
		{"attributes",
			`mkdir -p .git/info; echo '* filter=lfs' >.git/info/attributes`,
			".git/info/attributes"},
		{"commands of a rebase",
			`mkdir .git/rebase-merge
			printf 'pick 0\nx touch ran\n' >.git/rebase-merge/git-rebase-todo`,
			".git/rebase-merge/git-rebase-todo"},
		{"bare repository", `git init -q --bare bare.git; set -- bare.git; ` + fsmonitor, "bare.git/config"},
		{"made by hand",
			`mkdir -p d/objects d/refs; echo 'ref: refs/heads/main' >d/HEAD
			printf '[core]\n\tfsmonitor = touch ran\n' >d/config`,
			"d/config"},
		{"made by hand, its configuration first",
			`mkdir d; printf '[core]\n\tfsmonitor = touch ran\n' >d/config
			mkdir d/objects d/refs`,
			"d/config"},
		{"submodule",
			`git init -q s; git -C s commit -q --allow-empty -m x
			git -c protocol.file.allow=always submodule --quiet add ./s sub
			git -C sub config core.fsmonitor "touch ran"`,
			".git/modules/sub/config"},
		{"hook of a submodule to come",
			`mkdir -p .git/modules/s/hooks
			printf '#!/bin/sh\n' >.git/modules/s/hooks/post-checkout
			chmod +x .git/modules/s/hooks/post-checkout`,
			".git/modules/s/hooks/post-checkout"},
		{"protected place", `mkdir kept; echo x >kept/f`, "kept/f"},
		{"our own configuration", `echo 'rules: {}' >sallyport.yaml`, "sallyport.yaml"},
		{"larger than is remembered",
			`mkdir .claude; head -c 300000 /dev/zero >.claude/settings.json`,
			".claude/settings.json"},

		{"settings through another name",
			`ln .vscode/settings.json x; echo '{"a":1}' >x; rm x`,
			".vscode/settings.json"},
		{"link in the place of the directory of attributes",
			`mkdir y; echo '* filter=lfs' >y/attributes; rm -rf .git/info; ln -s ../y .git/info`,
			".git/info"},
		{"link in the place of the directory of a rebase",
			`mkdir y; printf 'x touch ran\n' >y/git-rebase-todo; ln -s ../y .git/rebase-merge`,
			".git/rebase-merge"},
		{"long list of a rebase",
			`mkdir .git/rebase-merge; { printf 'x touch ran\n'
			head -c 300000 /dev/zero | tr '\0' '#'; } >.git/rebase-merge/git-rebase-todo`,
			".git/rebase-merge/git-rebase-todo"},
		{"link in the place of a list",
			`mkdir .git/rebase-merge; printf 'x touch ran\n' >y
			ln -s ../../y .git/rebase-merge/git-rebase-todo`,
			".git/rebase-merge/git-rebase-todo"},
		{"link in the place of attributes",
			`mkdir -p .git/info; printf '* filter=lfs\n' >y; ln -s ../../y .git/info/attributes`,
			".git/info/attributes"},
		{"repository behind a file",
			`git init -q --separate-git-dir=elsewhere sep; set -- elsewhere; ` + fsmonitor,
			"elsewhere/config"},
		{"invalid name",
			`d=$(printf 'a\377'); mkdir -p "$d/.vscode"; echo '{}' >"$d/.vscode/tasks.json"`,
			"a\xff/.vscode/tasks.json"},
		{"hook in a directory that cannot be listed",
			`printf '#!/bin/sh\n' >.git/hooks/pre-commit; chmod +x .git/hooks/pre-commit
			chmod 311 .git/hooks`,
			".git/hooks/pre-commit"},
		{"settings in a directory that cannot be listed",
			`mkdir -m 311 d; mkdir -m 311 d/e; mkdir d/e/.vscode
			echo '{}' >d/e/.vscode/tasks.json`,
			"d/e/.vscode/tasks.json"},

		{"nothing", `true`, ""},
		{"read", `cat .vscode/settings.json .git/config`, ""},
		{"written as it was", `echo '{}' >.vscode/settings.json; touch .git/config`, ""},
		{"removed", `rm -r .vscode .cursor`, ""},
		{"instructions", `echo 'Prefer small commits.' >CLAUDE.md`, ""},
		{"source", `mkdir src; echo 'package x' >src/x.go; echo all: >Makefile`, ""},
		{"commit",
			`echo more >>file; git add file; git commit -qm more; git tag v1
			git stash -q || true; git gc -q`,
			""},
		{"clone", `git clone -q . other; git -C other checkout -q -b topic; git -C other fetch -q`, ""},
		{"init", `git init -q -b main fresh; git init -q --bare fresh.git`, ""},
		{"remotes and branches",
			`git remote add o https://example.com/r.git; git branch -q x
			git config branch.x.remote o; git config branch.x.merge refs/heads/x
			git config pull.rebase true`,
			""},
		{"worktree", `git worktree add -q tree; git -C tree commit -q --allow-empty -m x`, ""},
		{"clean submodule",
			`git init -q s; git -C s commit -q --allow-empty -m x
			git -c protocol.file.allow=always submodule --quiet add ./s sub`,
			""},
		{"rebase", `git commit -q --allow-empty -m a; GIT_SEQUENCE_EDITOR=true git rebase -q -i HEAD~1`, ""},
		{"sample of a hook", `echo x >.git/hooks/mine.sample; chmod +x .git/hooks/mine.sample`, ""},
		{"directory called hooks",
			`mkdir -p src/hooks; printf '#!/bin/sh\n' >src/hooks/use; chmod +x src/hooks/use
			echo x >src/config`,
			""},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			defer w.unlock()
			want := append([]string{}, strings.Fields(tc.want)...)
			if diff := cmp.Diff(want, w.command(tc.text)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// A change of the user's own between commands is the earlier version from then on, and one during commands is
// theirs. The end of one command does not hide the changes of another that still runs.
func TestWhose(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.command(`true`)
	w.sh(`echo 'by the user' >.envrc; git config alias.new '!true'`)
	if got := w.command(`touch .envrc`); len(got) > 0 {
		t.Errorf("the user's: %q", got)
	}
	w.b.Enter()
	w.b.Enter()
	w.sh(`echo 'by a command' >.envrc`)
	want := []string{".envrc"}
	if diff := cmp.Diff(want, w.relative(w.b.Leave())); diff != "" {
		t.Error(diff)
	}
	w.sh(`echo 'by the other command' >.envrc`)
	if diff := cmp.Diff(want, w.relative(w.b.Leave())); diff != "" {
		t.Error(diff)
	}
	w.sh(`echo 'by a process that it left' >.envrc`)
	if got := w.relative(w.b.Close()); !slices.Equal(got, want) {
		t.Errorf("at the end %q, want %q", got, want)
	}
}

// After the one command of a gate no watch is left, and no file is named again.
func TestOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.b.o.Once = true
	w.command(`echo 'by a command' >.envrc`)
	if got := w.b.Close(); len(got) > 0 || w.b.watch != nil {
		t.Errorf("at the end %q, and a watch: %v", got, w.b.watch != nil)
	}
}

// A file that was named and not held was allowed: it is the earlier version from then on.
func TestAllowed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.command(`echo allowed >.envrc`)
	w.hold(`echo 'touch ran' >.envrc`)
	if got := w.sh(`cat .envrc`); got != "allowed\n" {
		t.Errorf("in its place: %q", got)
	}
	if got := w.command(`ln .envrc x; echo 'touch ran' >x; rm x`); len(got) != 1 {
		t.Errorf("changed through another name, and found %q", got)
	}
	w.command(`echo allowed >.exrc`)
	if got := w.relative(w.b.Close()); slices.Contains(got, ".exrc") {
		t.Errorf("allowed, and at the end %q", got)
	}
}

// A look at all files finds one that came into place with the directory around it.
func TestLookAtAll(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.command(`mkdir -p a/b/hooks; echo '{}' >a/b/settings.json
		mkdir d; printf '[core]\n\tfsmonitor = touch ran\n' >d/config`)
	w.b.Enter()
	w.sh(`mv a/b a/.vscode; mkdir d/objects d/refs`)
	w.b.watch.Touched() // as after an overflow of the kernel's queue
	if got := w.relative(w.b.Close()); !slices.Equal(got, []string{"a/.vscode/settings.json", "d/config"}) {
		t.Errorf("found %q", got)
	}
}

// hold holds the files that a command left.
func (w *world) hold(text string) []engine.Held {
	w.t.Helper()
	var all []engine.Held
	for _, p := range w.command(text) {
		all = append(all, engine.Held{Path: filepath.Join(w.ws, p), Effect: engine.Ask, Message: "obeyed"})
	}
	all = w.b.Hold("decision", all)
	for _, h := range all {
		if h.Error != "" {
			w.t.Errorf("hold %s: %s", h.Path, h.Error)
		}
	}
	return all
}

func TestHold(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, check string // check fails if something of the command is left
		left              string
	}{
		{"new", `echo 'touch ran' >.envrc`, `! test -e .envrc`, "nothing"},
		{"changed",
			`echo '{"evil":1}' >.cursor/mcp.json`,
			`grep -q mine .cursor/mcp.json`,
			"its earlier version"},
		{"link",
			`rm .cursor/mcp.json; ln -s ../file .cursor/mcp.json`,
			`! test -L .cursor/mcp.json && grep -q mine .cursor/mcp.json`,
			"its earlier version"},
		{"in a directory that cannot be written to",
			`mkdir d; echo 'touch ran' >d/.envrc; chmod 511 d`,
			`! test -e d/.envrc`,
			"nothing"},
		{"hook that may be executed now",
			`chmod +x .git/hooks/post-merge`,
			`! test -x .git/hooks/post-merge && test -f .git/hooks/post-merge`,
			"its earlier version"},
		{"configuration",
			`git config core.fsmonitor "touch ran; false"; git remote add o https://example.com`,
			`git status && ! test -e ran && git mine | grep -q mine`, "its earlier version"},
		{"new configuration",
			`git init -q n; git -C n remote add o https://example.com
			git -C n config core.fsmonitor "touch $PWD/ran; false"`,
			`git -C n status && ! test -e ran && git -C n remote | grep -q o`, "its plain settings"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			defer w.unlock()
			all := w.hold(tc.text)
			if len(all) != 1 || all[0].Left != tc.left {
				t.Fatalf("held %+v", all)
			}
			w.sh(tc.check)
			if got := w.command(`true`); len(got) > 0 {
				t.Errorf("the next command finds %q", got)
			}

			listed, err := Find(w.store, "dec")
			if err != nil || len(listed) != 1 || listed[0].ID != "decision.1" {
				t.Fatalf("listed %+v: %v", listed, err)
			}
			w.b.Enter() // a release while a command runs is known at its end
			if err := Release(w.store, listed[0]); err != nil {
				t.Fatal(err)
			}
			c := exec.Command("bash", "-ec", tc.check)
			c.Dir = w.ws
			if out, err := c.CombinedOutput(); err == nil {
				t.Errorf("the released file has no effect, so the check shows nothing: %s", out)
			}
			if got := w.b.Leave(); len(got) > 0 {
				t.Errorf("released and found again: %q", got)
			}
			if again, err := Find(w.store, "dec"); err == nil {
				t.Errorf("released and still held: %+v", again)
			}
		})
	}
}

// A release does not overwrite a file that somebody made since.
func TestReleaseConflict(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`echo 'of the user' >.envrc`, `ln -s file .envrc`} {
		w := newWorld(t)
		w.hold(`echo 'touch ran' >.envrc`)
		w.sh(text)
		all, err := List(w.store)
		if err != nil || len(all) != 1 {
			t.Fatalf("listed %+v: %v", all, err)
		}
		const want = "was changed since it was held"
		if err := Release(w.store, all[0]); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
		if got := w.sh(`cat .envrc`); strings.Contains(got, "ran") {
			t.Errorf("%s: overwritten by %q", text, got)
		}
	}
}

// A file that cannot be kept gets a name that nothing obeys, and the error says so.
func TestHoldFails(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := os.WriteFile(w.store, nil, 0o600); err != nil { // a file in the place of the directory
		t.Fatal(err)
	}
	found := w.command(`echo 'touch ran' >.envrc; echo 'touch ran' >.cursor/mcp.json`)
	var all []engine.Held
	for _, p := range found {
		all = append(all, engine.Held{Path: filepath.Join(w.ws, p)})
	}
	all = w.b.Hold("decision", all)
	if len(all) != 2 || !strings.HasPrefix(all[0].String(), "could not hold") ||
		!strings.Contains(all[1].Error, ".held-decision.2 now") {
		t.Errorf("held %+v", all)
	}
	w.sh(`! test -e .envrc && grep -q mine .cursor/mcp.json
		grep -q ran .cursor/.held-decision.1; grep -q ran .held-decision.2`)
}

// A file that is longer than the store takes is renamed, and nothing of it is lost.
func TestHoldLong(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.b.Enter()
	if err := os.WriteFile(w.ws+"/.envrc", make([]byte, maxHeld+1), 0o600); err != nil {
		t.Fatal(err)
	}
	all := w.b.Hold("decision", []engine.Held{{Path: w.b.Leave()[0]}})
	if !strings.Contains(all[0].Error, ".held-decision.1 now") {
		t.Errorf("held %+v", all)
	}
	if info, err := os.Stat(w.ws + "/.held-decision.1"); err != nil || info.Size() != maxHeld+1 {
		t.Errorf("under its new name: %v, %v", info, err)
	}
	w.sh("! test -e .envrc")
}

// A session that is killed while a command runs looks at nothing. The next one in these roots does, at the
// end of its first command; a session that ended as it should leaves nothing to look at.
//
// It is not parallel: a process that another test forks holds the lock until its exec.
func TestKilled(t *testing.T) {
	for _, dies := range []bool{true, false} {
		w := newWorld(t)
		w.sh(`echo mine >.autoenv`)
		mine, _ := w.b.imageOf(w.ws + "/.autoenv")
		await.True(t, "the file is older than the session", func() bool {
			err := os.WriteFile(w.ws+"/tick", nil, 0o600)
			tick, ok := w.b.imageOf(w.ws + "/tick")
			return err == nil && ok && tick.time.UnixNano() > mine.time.UnixNano()+int64(2*clockTick)
		})
		next := New(w.b.o)
		w.b.Enter()
		w.sh(`echo 'touch ran' >.envrc; git init -q n; git -C n config core.fsmonitor "touch ran"`)
		if dies {
			if err := w.b.noted.file.Close(); err != nil { // its lock ends as with its process
				t.Fatal(err)
			}
		} else {
			if n := len(w.b.Leave()); n != 2 {
				t.Errorf("found %d files", n)
			}
			w.b.Hold("d", nil)
		}
		w.b = next
		want := []string{}
		if dies {
			want = []string{".envrc", "n/.git/config"}
		}
		if diff := cmp.Diff(want, w.command(`true`)); diff != "" {
			t.Errorf("dies %v (-want +got):\n%s", dies, diff)
		}
		w.b.Hold("d", nil)
		if got := w.command(`true`); len(got) > 0 {
			t.Errorf("dies %v, the next command finds %q", dies, got)
		}
		if left, err := filepath.Glob(w.store + "/" + runningFiles); err != nil || len(left) > 0 {
			t.Errorf("dies %v, notes are left: %q, %v", dies, left, err)
		}
	}
}
