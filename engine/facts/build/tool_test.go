package build

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

// The file system of the tests of file tools, beside the machine.
const toolFiles = machine + `
	/home/dev/ws/~/f
	/home/dev/ws/lit*ral/f
	/home/dev/ws/$HOME
	/home/dev/ws/proj/.git/HEAD
	/home/dev/ws/proj/a.go
	/home/dev/ws/state/.massgen/x
	/home/dev/ws/node_modules/y/.env
	/home/dev/ws/mine/.env
	/home/dev/ws/conf/prod.env
	/home/dev/ws/conf/.env.example
	/home/dev/ws/vendor/keys/id_rsa
	/home/dev/ws/way -> out/f
	/mnt/.massgen/workspaces/w1/a.txt
`

func toolBuilder() *Builder {
	l := testLayout()
	l.Roots = append(l.Roots, facts.Root{Path: "/mnt/.massgen/workspaces/w1", Write: true, Zone: "context"})
	return NewBuilder(l, newMemFS(toolFiles), fakeHistory{
		seen: map[string]string{testWS + "/b.txt": "read", testWS + "/src/pkg/r.go": "created", testWS + "/mine/.env": "created"},
	})
}

func TestTouches(t *testing.T) {
	t.Parallel()
	b := toolBuilder()
	for _, c := range []struct {
		touch facts.Touch
		want  string
	}{
		{facts.Touch{Path: "a.txt", Access: "read"}, "read @/a.txt (tool) workspace write"},
		{facts.Touch{Path: "a.txt", Access: "delete"}, "delete @/a.txt (tool) workspace write unread=1[a.txt]"},
		{facts.Touch{Path: "b.txt", Access: "delete"}, "delete @/b.txt (tool) workspace write read"},
		{facts.Touch{Path: "b.txt", Access: "conjure"}, "delete* @/b.txt (tool) workspace write read"},
		{facts.Touch{Path: "/etc/passwd", Access: "read"}, "read /etc/passwd (tool) system none: system_root account_database"},
		{facts.Touch{Path: "/single/beside.txt", Access: "read"}, "read /single/beside.txt (tool) outside none"},

		// The files that a recursive delete reaches.
		{facts.Touch{Path: "src", Access: "delete", Recursive: true}, "delete* @/src (tool) workspace write unread=2[main.go pkg/p.go]"},
		{facts.Touch{Path: "proj", Access: "delete", Recursive: true}, "delete* @/proj (tool) workspace write unread=1[a.go]: contains_git contains_critical_name"},
		{facts.Touch{Path: "state", Access: "delete", Recursive: true}, "delete* @/state (tool) workspace write unread=1[.massgen/x]: contains_critical_name"},
		{facts.Touch{Path: "conf", Access: "delete", Recursive: true}, "delete* @/conf (tool) workspace write unread=2[.env.example prod.env]: contains_critical_name"},
		{facts.Touch{Path: "mine", Access: "delete", Recursive: true}, "delete* @/mine (tool) workspace write"},
		{facts.Touch{Path: "node_modules", Access: "delete", Recursive: true}, "delete* @/node_modules (tool) workspace write generated"},
		{facts.Touch{Path: "vendor", Access: "delete", Recursive: true}, "delete* @/vendor (tool) workspace write unread=1[keys/id_rsa]: contains_credential"},
		{facts.Touch{Path: "/mnt", Access: "delete", Recursive: true}, "delete* /mnt (tool) context write unread=1[.massgen/workspaces/w1/a.txt]: top_level permission_root contains_permission_root wide_root contains_critical_name"},

		// Names count below the granted root.
		{facts.Touch{Path: ".git/HEAD", Access: "delete"}, "delete @/.git/HEAD (tool) workspace write unread=1[HEAD]: git_dir critical_name"},
		{facts.Touch{Path: ".env", Access: "write"}, "write @/.env (tool) workspace write: env_file critical_name"},
		{facts.Touch{Path: "state/.massgen", Access: "delete", Recursive: true}, "delete* @/state/.massgen (tool) workspace write unread=1[x]: critical_name"},
		{facts.Touch{Path: "/mnt/.massgen/workspaces/w1/a.txt", Access: "delete"}, "delete /mnt/.massgen/workspaces/w1/a.txt (tool) context write unread=1[a.txt]"},
		{facts.Touch{Path: "node_modules/y/.env", Access: "delete"}, "delete @/node_modules/y/.env (tool) workspace write generated: env_file"},

		// Links.
		{facts.Touch{Path: "key", Access: "delete"}, "delete @/key (tool) workspace write symlink"},
		{facts.Touch{Path: "key/", Access: "delete"}, "delete @/key (tool) workspace write symlink"},
		{facts.Touch{Path: "key", Access: "read"}, "read @/key =~/.ssh/id_rsa (tool) credential none: ssh_dir ssh_key symlink_out"},
		{facts.Touch{Path: "out/f", Access: "delete"}, "delete @/out/f =/srv/data/f (tool) outside none unread=1[f]: symlink_out"},
		{facts.Touch{Path: "out/new", Access: "write"}, "write @/out/new =/srv/data/new (tool) outside none: symlink_out"},
		{facts.Touch{Path: "way", Access: "write"}, "write @/way =/srv/data/f (tool) outside none: symlink_out"},
		{facts.Touch{Path: "up/p.go", Access: "write"}, "write @/up/p.go =@/src/pkg/p.go (tool) workspace write"},
		{facts.Touch{Path: "dangling", Access: "write"}, "write @/dangling =/nowhere/x (tool) outside none: symlink_out"},
		{facts.Touch{Path: "up", Access: "delete", Recursive: true}, "delete* @/up (tool) workspace write symlink"},

		// Text is a name and nothing else.
		{facts.Touch{Path: "~/f", Access: "read"}, "read @/~/f (tool) workspace write"},
		{facts.Touch{Path: "~root/x", Access: "read"}, "read @/~root/x (tool) workspace write"},
		{facts.Touch{Path: "lit*ral/f", Access: "delete"}, "delete @/lit*ral/f (tool) workspace write unread=1[f]"},
		{facts.Touch{Path: "$HOME", Access: "read"}, "read @/$HOME (tool) workspace write"},
		{facts.Touch{Path: "$HOME/.ssh/id_rsa", Access: "read"}, "read @/$HOME/.ssh/id_rsa (tool) credential write: ssh_key"},
		{facts.Touch{Path: "/ctx/*", Access: "write"}, "write /ctx/* (tool) context read"},
		{facts.Touch{Path: "-rf", Access: "delete"}, "delete @/-rf (tool) workspace write"},
		{facts.Touch{Path: "$GITHUB_OUTPUT", Access: "write"}, "write @/$GITHUB_OUTPUT (tool) workspace write"},

		// Texts that name no file.
		{facts.Touch{Path: "", Access: "write"}, "write <> (tool) outside none"},
		{facts.Touch{Path: "a\x00b", Access: "delete", Recursive: true}, "delete* <a\x00b> (tool) outside none"},
		{facts.Touch{Path: testWS + "/\xff", Access: "read"}, "read <@/\uFFFD> (tool) outside none"},
	} {
		in := b.Build(facts.Ask{Request: facts.Request{Tool: "a_tool"}, Touches: []facts.Touch{c.touch}})
		if diff := cmp.Diff(c.want, strings.TrimSpace(render(in))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", c.touch, diff)
		}
		if !in.Shell.Parsed || in.Shell.Certainty != "exact" || len(in.Commands) != 0 || in.Paths[0].Command != -1 {
			t.Errorf("a file tool has no text: %+v", in.Shell)
		}
		validate(t, validator(t), in)
	}
}

// A delete of the workspace, or of a directory around it, says so however it is spelled.
func TestTouchesOfRoots(t *testing.T) {
	t.Parallel()
	b := toolBuilder()
	for _, p := range []string{".", "./", "src/..", "", testWS, testWS + "/", testWS + "//", "up/../..", "..", "../..", "/", "//", "/ctx", "/single/file.txt"} {
		in := b.Build(facts.Ask{Touches: []facts.Touch{{Path: p, Access: "delete", Recursive: true}}})
		got := in.Paths[0]
		if p == "" {
			if got.Certainty != "unknown" || got.Real != "" {
				t.Errorf("nothing is taken for something: %+v", got)
			}
			continue
		}
		if !strings.Contains(strings.Join(got.Labels, " "), "permission_root") {
			t.Errorf("%q: labels %v", p, got.Labels)
		}
	}
}

func TestTouchesWithoutWorkspace(t *testing.T) {
	t.Parallel()
	b := NewBuilder(facts.Layout{}, newMemFS(machine), nil)
	for _, p := range []string{"a", "~root/x", "."} {
		got := b.Build(facts.Ask{Touches: []facts.Touch{{Path: p, Access: "read"}}}).Paths[0]
		if got.Certainty != "unknown" || got.Permission != "none" || got.Real != "" {
			t.Errorf("%s: %+v", p, got)
		}
	}
}

// FuzzTouch holds any text of a path against the promises of the input: it is told as valid text, and it is
// either no name of a file, or one place that is absolute, clean and granted as its root says.
func FuzzTouch(f *testing.F) {
	for _, p := range []string{"a.txt", "", ".", "..", "/", "//", "~", "~root/x", "$HOME", "*", "a\x00", "\xff", "out/../x", "up/..", "loop/x", "C:/x", "a\\b", "key/", ".git/./HEAD", "/proc/self/root/etc"} {
		for access := range term.AccessNames {
			f.Add(p, access, access%2 == 0)
		}
	}
	b := toolBuilder()
	check := validator(f)
	f.Fuzz(func(t *testing.T, p string, access int, recursive bool) {
		touch := facts.Touch{Path: p, Access: append(term.AccessNames[:], "x")[uint(access)%5], Recursive: recursive}
		in := b.Build(facts.Ask{Touches: []facts.Touch{touch}})
		validate(t, check, in)
		if len(in.Paths) != 1 {
			t.Fatalf("%d facts about one touch", len(in.Paths))
		}
		got := in.Paths[0]
		for _, text := range []string{got.Raw, got.Path, got.Real} {
			if !utf8.ValidString(text) {
				t.Errorf("%q is not text", text)
			}
		}
		if got.Certainty != "exact" {
			if got.Path != "" || got.Real != "" || got.Permission != "none" {
				t.Errorf("a place that is not known is taken for one: %+v", got)
			}
			return
		}
		if !disk.IsAbs(got.Real) || disk.Clean(got.Real) != got.Real || got.Permission != b.Permission(got.Real) {
			t.Errorf("%+v", got)
		}
		roots := slices.ContainsFunc([]string{testWS, "/ctx", "/mnt", "/etc/app", "/single/file.txt"}, func(root string) bool { return disk.Within(got.Real, root) })
		if got.Permission != "none" && !roots {
			t.Errorf("nobody granted it: %+v", got)
		}
	})
}
