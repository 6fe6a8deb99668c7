package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// world is a workspace with a home around it in a temporary directory.
type world struct {
	root, home, ws string
	layout         Layout
	history        fakeHistory
}

type fakeHistory struct {
	seen       map[string]string
	downloaded map[string]bool
}

func (h fakeHistory) Seen(p string) string {
	if s := h.seen[p]; s != "" {
		return s
	}
	return "none"
}

func (h fakeHistory) Downloaded(p string) bool { return h.downloaded[p] }

func newWorld(t testing.TB) *world {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root = filepath.ToSlash(root)
	w := &world{root: root, home: root + "/home/dev", ws: root + "/home/dev/ws", history: fakeHistory{map[string]string{}, map[string]bool{}}}
	for _, dir := range []string{"/.git/hooks", "/src", "/node_modules/x", "/dist", "/secrets"} {
		w.mkdir(t, w.ws+dir)
	}
	w.write(t, w.ws+"/a.txt", w.ws+"/b.txt", w.ws+"/src/main.go", w.ws+"/dist/secret.key", w.ws+"/node_modules/x/i.js", w.ws+"/.env", w.ws+"/secrets/k", w.ws+"/run.sh")
	w.mkdir(t, w.home+"/.ssh")
	w.write(t, w.home+"/.ssh/id_rsa", w.home+"/.ssh/id_rsa.pub", w.home+"/.bashrc")
	w.mkdir(t, root+"/ctx")
	w.write(t, root+"/ctx/doc.md")
	w.mkdir(t, root+"/self")
	w.write(t, root+"/self/config.yaml")
	w.layout = Layout{
		Workspace: w.ws,
		Home:      w.home,
		Roots: []Root{
			{Path: w.ws, Write: true, Zone: "workspace", Protected: []string{w.ws + "/secrets"}},
			{Path: root + "/ctx", Zone: "context"},
		},
		Temporary: []string{root + "/tmp"},
		Self:      []Place{{root + "/self/config.yaml", "self_config"}},
		Generated: []string{"node_modules/", "dist/", "*.log", "__pycache__"},
	}
	return w
}

func (w *world) mkdir(t testing.TB, dirs ...string) {
	t.Helper()
	for _, d := range dirs {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) write(t testing.TB, files ...string) {
	t.Helper()
	for _, f := range files {
		if err := os.WriteFile(f, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (w *world) link(t testing.TB, target, name string) {
	t.Helper()
	if err := os.Symlink(target, name); err != nil {
		t.Fatal(err)
	}
}

func (w *world) build(text string) *Input {
	b := NewBuilder(w.layout, OSFS{}, w.history)
	return b.Build(Ask{Request: Request{Tool: "execute_command", Command: text}, Env: map[string]string{"HOME": w.home, "PATH": "/usr/bin"}})
}

// short replaces the directories of the world: ~ for the home, @ for the workspace, % for what is around.
func (w *world) short(s string) string {
	return strings.NewReplacer(w.ws, "@", w.home, "~", w.root, "%").Replace(s)
}

// render writes what the facts say in one line for each command and path:
//
//	rm [delete] recursive force
//	  delete* @/src workspace write: labels
func (w *world) render(in *Input) string {
	var b strings.Builder
	for i, c := range in.Commands {
		name := c.Name
		if c.Subcommand != "" {
			name += " " + c.Subcommand
		}
		if !c.Known {
			name += "?"
		}
		fmt.Fprintf(&b, "%s %v %s", name, c.Effects, strings.Join(c.Flags, " "))
		if len(c.Hosts) > 0 {
			fmt.Fprintf(&b, " -> %s", strings.Join(c.Hosts, " "))
		}
		if c.Code.From != "" {
			fmt.Fprintf(&b, " code=%s/%s/%s", c.Code.Language, c.Code.From, c.Code.Origin)
		}
		b.WriteString("\n")
		for _, p := range in.Paths {
			if p.Command == i {
				b.WriteString("  " + w.renderPath(p) + "\n")
			}
		}
	}
	return w.short(b.String())
}

func (w *world) renderPath(p Path) string {
	s := p.Access
	if p.Recursive {
		s += "*"
	}
	s += " " + p.Path
	if p.Path == "" {
		s += "<" + p.Raw + ">"
	}
	if p.Glob {
		s += " glob"
	}
	if p.Real != p.Path {
		s += " =" + p.Real
	}
	if p.Source != "argument" {
		s += " (" + p.Source + ")"
	}
	s += " " + p.Zone + " " + p.Permission
	if p.Unread.Count > 0 {
		s += fmt.Sprintf(" unread=%d%v", p.Unread.Count, p.Unread.Examples)
	}
	if p.Generated {
		s += " generated"
	}
	if len(p.Labels) > 0 {
		s += ": " + strings.Join(p.Labels, " ")
	}
	return s
}

func TestTry(t *testing.T) {
	text := os.Getenv("TRY")
	if text == "" {
		t.Skip("set TRY to see the facts of a text")
	}
	for _, line := range strings.Split(text, "\x1f") {
		w := newWorld(t)
		in := w.build(line)
		fmt.Printf("$ %s   %s %s %s\n%s", line, in.Shell.Error, in.Shell.Certainty, in.Shell.Budget, w.render(in))
	}
}
