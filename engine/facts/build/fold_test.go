package build

import (
	"io/fs"
	"path"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// foldFS finds names in any case, as macOS and Windows do, and lists them as they were given.
type foldFS struct{ memFS }

func (f foldFS) spelled(p string) string {
	for q := range f.memFS {
		if strings.EqualFold(p, q) {
			return q
		}
	}
	return p
}

func (f foldFS) Lstat(p string) (fs.FileInfo, error) {
	info, err := f.memFS.Lstat(f.spelled(p))
	if n, ok := info.(memNode); ok {
		n.name = path.Base(p) // the system answers with the name that it was asked for
		return n, err
	}
	return info, err
}

func (f foldFS) ReadLink(p string) (string, error)       { return f.memFS.ReadLink(f.spelled(p)) }
func (f foldFS) ReadDir(p string) ([]fs.DirEntry, error) { return f.memFS.ReadDir(f.spelled(p)) }
func (f foldFS) ReadFile(p string, n int) ([]byte, bool, error) {
	return f.memFS.ReadFile(f.spelled(p), n)
}

func TestCaseDoesNotMatter(t *testing.T) {
	t.Parallel()
	files := strings.Replace(machine, "/home/dev/.bashrc", "", 1)
	b := NewBuilder(testLayout(), foldFS{newMemFS(files)}, fakeHistory{seen: map[string]string{testWS + "/b.txt": "read"}})
	for _, c := range []struct {
		touch facts.Touch
		want  string
	}{
		// What is there has the name under which it is listed, and with it everything that is known of it.
		{facts.Touch{Path: ".GIT/Head", Access: "delete"}, "delete @/.GIT/Head =@/.git/HEAD (tool) workspace write unread=1[HEAD]: git_dir critical_name"},
		{facts.Touch{Path: "B.TXT", Access: "delete"}, "delete @/B.TXT =@/b.txt (tool) workspace write read"},
		{facts.Touch{Path: "/HOME/Dev/WS/a.txt", Access: "read"}, "read /HOME/Dev/WS/a.txt =@/a.txt (tool) workspace write"},
		{facts.Touch{Path: "/home/DEV/.SSH/ID_RSA", Access: "read"}, "read /home/DEV/.SSH/ID_RSA =~/.ssh/id_rsa (tool) credential none: ssh_dir ssh_key"},
		{facts.Touch{Path: "SECRETS/k", Access: "write"}, "write @/SECRETS/k =@/secrets/k (tool) protected read: protected"},
		{facts.Touch{Path: "KEY", Access: "read"}, "read @/KEY =~/.ssh/id_rsa (tool) credential none: ssh_dir ssh_key symlink_out"},
		{facts.Touch{Path: "UP", Access: "delete"}, "delete @/UP =@/up (tool) workspace write symlink"},
		{facts.Touch{Path: "/ETC/passwd", Access: "read"}, "read /ETC/passwd =/etc/passwd (tool) system none: system_root account_database"},
		{facts.Touch{Path: "/home/dev/ws", Access: "delete", Recursive: true}, "delete* @ (tool) workspace write unread=9[.env a.txt list]: workspace_root permission_root contains_git contains_protected contains_critical_name"},
		// What is not there keeps its name, and is known for what it would be.
		{facts.Touch{Path: "New.txt", Access: "write"}, "write @/New.txt (tool) workspace write"},
		{
			facts.Touch{Path: ".Git/HOOKS/Pre-Push", Access: "write"},
			"write @/.Git/HOOKS/Pre-Push =@/.git/hooks/Pre-Push (tool) " +
				"workspace write: git_dir git_hook autorun critical_name",
		},
		{facts.Touch{Path: "new/.ENV", Access: "write"}, "write @/new/.ENV (tool) workspace write: env_file critical_name"},
		{
			facts.Touch{Path: "/home/dev/.BASHRC", Access: "write"},
			"write ~/.BASHRC (tool) home none: shell_startup autorun",
		},
	} {
		in := b.Build(facts.Ask{Touches: []facts.Touch{c.touch}})
		if diff := cmp.Diff(c.want, strings.TrimSpace(render(in))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.touch, diff)
		}
	}
	want := "cat [read]\n  read /HOME/dev/.ssh/ID_rsa =~/.ssh/id_rsa credential none: ssh_dir ssh_key"
	if got := strings.TrimSpace(render(b.Build(testAsk("cat /HOME/dev/.ssh/ID_rsa")))); strings.TrimSpace(got) != want {
		t.Errorf("a command: %s", got)
	}
	if _, err := b.Granted().Lstat("/HOME/Dev/WS/A.TXT"); err != nil {
		t.Errorf("the granted view: %v", err)
	}
}

// Where nothing below a protected name is there yet, another case is no way in.
func TestProtectedNamesInAnyCase(t *testing.T) {
	t.Parallel()
	l := testLayout()
	l.Roots[0].Protected = []string{testWS + "/vault"}
	for want, f := range map[string]facts.FS{"read": foldFS{newMemFS(machine)}, "write": newMemFS(machine)} {
		in := NewBuilder(l, f, nil).Build(facts.Ask{Touches: []facts.Touch{{Path: "VAULT/x", Access: "write"}}})
		if got := in.Paths[0].Permission; got != want {
			t.Errorf("%T: permission %s, want %s", f, got, want)
		}
	}
}

func TestCaseMatters(t *testing.T) {
	t.Parallel()
	both := newMemFS(machine + "\n/home/dev/WS/x\n/home/dev/ws/.GIT/x")
	for name, f := range map[string]facts.FS{"one of them": newMemFS(machine), "both": both} {
		b := NewBuilder(testLayout(), f, nil)
		if b.Folds != nil {
			t.Errorf("%s: taken for a file system in which case does not matter", name)
		}
		in := b.Build(facts.Ask{Touches: []facts.Touch{{Path: ".GIT/x", Access: "delete"}}})
		if got := in.Paths[0]; got.Real != testWS+"/.GIT/x" || strings.Contains(strings.Join(got.Labels, " "), "critical") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if disk.NewSpellings(foldFS{newMemFS(machine)}, "", "/nowhere", "/home/dev/ws/.git/..") == nil {
		t.Error("the directory that is there was not tried")
	}
}
