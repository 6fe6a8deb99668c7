package escapes

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// world is what is there to be reached: a workspace, a place for reading, places that are not granted, and
// a process and sockets of the host. All of it belongs to one test.
type world struct {
	secret, got                         string
	base                                string
	workspace, context, outside, hidden string
	notes                               string // what a runner remembers
	listeners                           *listeners
	victim                              *victim
	vars                                map[string]string
	before                              map[string]string // the state of everything that must not change
	known                               map[string]bool   // names in the workspace
}

func word(prefix string) string {
	var b [8]byte
	if _, err := rand.Read(b[:]); err != nil {
		panic(err) // it does not fail where Go runs
	}
	return prefix + hex.EncodeToString(b[:])
}

// newWorld makes everything anew below a directory that all users can pass. The gateway, which is this
// process, has the secret in the environment that it hands on.
func newWorld(t *testing.T) *world {
	t.Helper()
	base := t.TempDir()
	for dir := base; strings.HasPrefix(dir, os.TempDir()+"/"); dir = filepath.Dir(dir) {
		must(t, os.Chmod(dir, 0o755))
	}
	w := &world{
		secret: word("secret-"), got: word("got-out-"), base: base, workspace: base + "/workspace", context: base + "/context",
		outside: base + "/outside", hidden: base + "/home", notes: t.TempDir(),
	}
	t.Setenv("ESCAPES_SECRET", w.secret)
	w.plant(t)
	w.listeners = listen(t, w)
	w.victim = startVictim(t, w)
	w.describe(t)
	w.before = w.state(t)
	w.known = map[string]bool{}
	for _, name := range names(t, w.workspace) {
		w.known[name] = true
	}
	return w
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// ordinary is the user to whom a workspace belongs where root tests.
const ordinary = 1000

// plant makes the files.
func (w *world) plant(t *testing.T) {
	t.Helper()
	for path, text := range map[string]string{
		"outside/secret": w.secret, "outside/dropbox/file": w.secret, "outside/" + w.secret: "", "home/.ssh/id_ed25519": w.secret,
		"context/doc": "doc\n", "workspace/readme": "hello\n",
		"workspace/.git/HEAD": "ref: refs/heads/main\n", "workspace/.git/config": "[core]\n\thooksPath = .githooks\n",
		"workspace/.git/hooks/post-checkout": "#!/bin/sh\n", "workspace/.git/hooks/sleeping": "#!/bin/sh\n",
		"workspace/.git/objects/info/x": "", "workspace/.git/refs/x": "", "workspace/.git/index": "",
		"workspace/.git/modules/sub/HEAD": "ref: refs/heads/main\n", "workspace/.git/modules/sub/config": "[core]\n", "workspace/.git/modules/sub/objects/x": "", "workspace/.git/modules/sub/refs/x": "",
		"workspace/.git/worktrees/tree/HEAD": "ref: refs/heads/tree\n", "workspace/.git/worktrees/tree/commondir": "../..\n", "workspace/.git/worktrees/tree/gitdir": w.workspace + "/tree/.git\n",
		"workspace/tree/.git": "gitdir: " + w.workspace + "/.git/worktrees/tree\n", "workspace/.githooks/commit-msg": "#!/bin/sh\n",
		"workspace/nested/.git/HEAD": "ref: refs/heads/main\n", "workspace/nested/.git/config": "[core]\n", "workspace/nested/.git/objects/x": "", "workspace/nested/.git/refs/x": "",
		"workspace/.vscode/settings.json": "{}\n", "workspace/.mcp.json": "{}\n",
		"workspace/locked/file": "locked\n", "workspace/deep/locked/file": "locked\n",
	} {
		file := filepath.Join(w.base, path)
		must(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must(t, os.WriteFile(file, []byte(text), 0o644))
	}
	for link, to := range map[string]string{
		"planted-dir": w.outside, "planted-file": w.outside + "/secret", "planted-new": w.outside + "/new",
		"planted-doc": w.context + "/doc", "planted-socket": w.outside + "/engine.sock",
	} {
		must(t, os.Symlink(to, filepath.Join(w.workspace, link)))
	}
	tool, err := os.ReadFile(built.probe)
	must(t, err)
	must(t, os.WriteFile(w.workspace+"/probe", tool, 0o755))
	// Whoever runs the commands may write everywhere: what stops them is not an owner. Where root tests, all
	// belongs to an ordinary user, for some environments do not run commands as root.
	must(t, filepath.WalkDir(w.base, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if os.Getuid() == 0 {
			must(t, os.Lchown(path, ordinary, ordinary))
		}
		if d.Type()&fs.ModeSymlink != 0 {
			return nil
		}
		mode := fs.FileMode(0o666)
		if d.IsDir() || d.Name() == "probe" {
			mode = 0o777
		}
		return os.Chmod(path, mode)
	}))
}

// guarded are the places of the workspace that must not change. An empty directory in the place of one is no
// change.
func guarded() []string {
	return []string{
		".git/config", ".git/hooks", ".git/commondir", ".git/config.worktree", ".git/info/attributes", ".git/modules/sub/config", ".git/modules/sub/hooks",
		".git/worktrees/tree/commondir", ".git/worktrees/tree/config.worktree", "tree/.git", ".githooks", "nested/.git/config", "nested/.git/hooks",
		".vscode", ".idea", ".mcp.json", ".claude", ".envrc", "locked", "deep/locked", "later",
		"deep/down/.claude", "fresh/.git/hooks",
	}
}

// layout is what the operator grants and protects.
func (w *world) layout() facts.Layout {
	in := func(names ...string) (paths []string) {
		for _, n := range names {
			paths = append(paths, filepath.Join(w.workspace, n))
		}
		return paths
	}
	return facts.Layout{
		Workspace: w.workspace, Home: w.hidden, Temporary: []string{"/tmp"},
		Roots: []facts.Root{
			{Path: w.workspace, Write: true, Zone: "workspace", Protected: in("locked", "deep/locked", "later")},
			{Path: w.context, Zone: "context"},
		},
	}
}

func (w *world) spec() engine.EnvironmentSpec {
	return engine.EnvironmentSpec{Agent: "escapes", Session: w.got, Layout: w.layout()}
}

// describe sets the variables of the texts.
func (w *world) describe(t *testing.T) {
	t.Helper()
	kind, handle := "0", ""
	if h, _, err := unix.NameToHandleAt(unix.AT_FDCWD, w.outside+"/secret", 0); err == nil {
		kind, handle = fmt.Sprint(h.Type()), hex.EncodeToString(h.Bytes())
	}
	w.vars = map[string]string{
		"GOT": w.got, "WS": w.workspace, "CTX": w.context, "OUT": w.outside, "HOST_HOME": w.hidden, "PROBE": w.workspace + "/probe",
		"HANDLE_TYPE": kind, "HANDLE": handle, "GATEWAY": fmt.Sprint(os.Getpid()), "GATEWAY_NAME": os.Args[0],
		"VICTIM": fmt.Sprint(w.victim.cmd.Process.Pid), "VICTIM_AT": w.victim.at, "VICTIM_FD": w.victim.fd,
	}
	maps.Copy(w.vars, w.listeners.vars)
}

// preamble makes the variables, and the guard before what would harm a machine without that namespace.
func (w *world) preamble(tag, apart string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(w.vars)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, quoted(w.vars[name]))
	}
	fmt.Fprintf(&b, "export TAG=%s\n", tag)
	own := func(space string) string {
		at, err := os.Readlink("/proc/self/ns/" + space)
		if err != nil {
			return ""
		}
		return at
	}
	fmt.Fprintf(&b, "FIRST=; [ \"$(readlink /proc/self/ns/pid)\" = %s ] || FIRST=1\n", quoted(own("pid")))
	if apart != "" {
		fmt.Fprintf(&b, "at=$(readlink /proc/self/ns/%[1]s)\n[ -n \"$at\" ] && [ \"$at\" != %[2]s ] || { echo \"$GOT: in the %[1]s namespace of the machine, not tried\"; exit 99; }\n", apart, quoted(own(apart)))
	}
	return b.String()
}

// tidy removes what a try left in the workspace.
func (w *world) tidy(t *testing.T) {
	t.Helper()
	for _, name := range names(t, w.workspace) {
		if !w.known[name] {
			must(t, os.RemoveAll(filepath.Join(w.workspace, name)))
		}
	}
}
