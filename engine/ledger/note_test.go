package ledger

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// run stands for one command line: facts about it, and what it does to the files.
type run struct {
	commands []facts.Command
	paths    []facts.Path
	do       func(t *testing.T, dir string)
	exit     int
}

func at(access, name string, command int) facts.Path {
	return facts.Path{Access: access, Real: name, Path: name, Certainty: "exact", Command: command}
}

func write(names ...string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, n := range names {
			must(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, n)), 0o755))
			must(t, os.WriteFile(filepath.Join(dir, n), []byte("x"), 0o644))
		}
	}
}

func nothing(*testing.T, string) {}

func TestNote(t *testing.T) {
	t.Parallel()
	cat := []facts.Command{{Name: "cat"}}
	tests := []struct {
		name string
		runs []run
		want map[string]string
		net  map[string]bool // downloaded
	}{
		{"read", []run{{cat, []facts.Path{at("read", "old", 0)}, nothing, 0}}, map[string]string{"old": SeenRead, "other": SeenNone}, nil},
		{"read without a match", []run{{[]facts.Command{{Name: "grep"}}, []facts.Path{at("read", "old", 0)}, nothing, 1}}, map[string]string{"old": SeenRead}, nil},
		{"read that was cut short", []run{{cat, []facts.Path{at("read", "old", 0)}, nothing, 137}}, map[string]string{"old": SeenNone}, nil},
		{"read that never began", []run{{cat, []facts.Path{at("read", "old", 0)}, nothing, -1}}, map[string]string{"old": SeenNone}, nil},
		{"read by a tool", []run{{nil, []facts.Path{at("read", "old", -1)}, nothing, 0}}, map[string]string{"old": SeenRead}, nil},
		{"read of a directory", []run{{cat, []facts.Path{at("read", "dir", 0)}, nothing, 0}}, map[string]string{"dir": SeenNone, "dir/a": SeenNone}, nil},
		{"look at the name", []run{{[]facts.Command{{Name: "ls"}}, []facts.Path{at("read", "old", 0)}, nothing, 0}}, map[string]string{"old": SeenNone}, nil},
		{"function that is not called", []run{{[]facts.Command{{Name: "cat", Flags: []string{"never_called"}}}, []facts.Path{at("read", "old", 0)}, nothing, 0}}, map[string]string{"old": SeenNone}, nil},
		{"partly known", []run{{cat, []facts.Path{{Access: "read", Real: "old", Certainty: "partial"}}, nothing, 0}}, map[string]string{"old": SeenNone}, nil},
		{"pattern", []run{{cat, []facts.Path{{Access: "read", Real: "dir/*.txt", Certainty: "exact", Glob: true}}, nothing, 0}},
			map[string]string{"dir/a.txt": SeenRead, "dir/.h.txt": SeenNone, "dir/a": SeenNone}, nil},
		{"created", []run{{cat, []facts.Path{at("write", "new", 0)}, write("new"), 0}}, map[string]string{"new": SeenCreated}, nil},
		{"created before it failed", []run{{cat, []facts.Path{at("write", "new", 0)}, write("new"), 2}}, map[string]string{"new": SeenCreated}, nil},
		{"overwritten", []run{{cat, []facts.Path{at("write", "old", 0)}, write("old"), 0}}, map[string]string{"old": SeenNone}, nil},
		{"not written after all", []run{{cat, []facts.Path{at("write", "new", 0)}, nothing, 0}}, map[string]string{"new": SeenNone}, nil},
		{"created directory", []run{{[]facts.Command{{Name: "cp"}}, []facts.Path{at("write", "made", 0)}, write("made/a", "made/b/c"), 0}},
			map[string]string{"made": SeenCreated, "made/a": SeenCreated, "made/b/c": SeenCreated}, nil},
		{"directory that was there", []run{{[]facts.Command{{Name: "cp"}}, []facts.Path{at("write", "dir", 0)}, write("dir/z"), 0}}, map[string]string{"dir": SeenNone, "dir/a": SeenNone}, nil},
		{"deleted and made anew by others", []run{
			{cat, []facts.Path{at("read", "old", 0)}, nothing, 0},
			{[]facts.Command{{Name: "rm"}}, []facts.Path{at("delete", "old", 0)}, func(t *testing.T, d string) { must(t, os.Remove(filepath.Join(d, "old"))) }, 0},
		}, map[string]string{"old": SeenNone}, nil},
		{"delete that failed", []run{
			{cat, []facts.Path{at("read", "old", 0)}, nothing, 0},
			{[]facts.Command{{Name: "rm"}}, []facts.Path{at("delete", "old", 0)}, nothing, 1},
		}, map[string]string{"old": SeenRead}, nil},
		{"moved", []run{
			{cat, []facts.Path{at("read", "old", 0)}, nothing, 0},
			{[]facts.Command{{Name: "mv"}}, []facts.Path{at("delete", "old", 0), at("write", "new", 0)}, rename("old", "new"), 0},
		}, map[string]string{"old": SeenNone, "new": SeenRead}, nil},
		{"moved into a directory", []run{
			{cat, []facts.Path{at("read", "old", 0)}, nothing, 0},
			{[]facts.Command{{Name: "git", Subcommand: "mv"}}, []facts.Path{at("delete", "old", 0), at("write", "dir", 0)}, rename("old", "dir/old"), 0},
		}, map[string]string{"dir/old": SeenRead, "dir": SeenNone}, nil},
		{"moved unread is not created", []run{
			{[]facts.Command{{Name: "mv"}}, []facts.Path{at("delete", "old", 0), at("write", "new", 0)}, rename("old", "new"), 0},
		}, map[string]string{"new": SeenNone}, nil},
		{"moved unread into a new directory", []run{
			{[]facts.Command{{Name: "mkdir"}, {Name: "mv"}}, []facts.Path{at("write", "made", 0), at("delete", "old", 1), at("write", "made/old", 1)},
				func(t *testing.T, d string) {
					write("made/fresh")(t, d)
					rename("old", "made/old")(t, d)
				}, 0},
		}, map[string]string{"made": SeenCreated, "made/fresh": SeenCreated, "made/old": SeenNone}, nil},
		{"download", []run{{[]facts.Command{{Name: "curl", Flags: []string{"downloads"}}}, []facts.Path{at("write", "new", 0)}, write("new"), 0}},
			map[string]string{"new": SeenCreated}, map[string]bool{"new": true, "old": false}},
		{"download through a pipe", []run{{[]facts.Command{{Name: "curl", Flags: []string{"downloads"}}, {Name: "tee", Inputs: []int{0}}}, []facts.Path{at("write", "new", 1)}, write("new"), 0}},
			nil, map[string]bool{"new": true}},
		{"copy of a download", []run{
			{[]facts.Command{{Name: "curl", Flags: []string{"downloads"}}}, []facts.Path{at("write", "new", 0)}, write("new"), 0},
			{[]facts.Command{{Name: "cp"}}, []facts.Path{at("read", "new", 0), at("write", "copy", 0)}, write("copy"), 0},
			{[]facts.Command{{Name: "cp"}}, []facts.Path{at("read", "old", 0), at("write", "clean", 0)}, write("clean"), 0},
		}, nil, map[string]bool{"copy": true, "clean": false}},
		{"download that failed", []run{{[]facts.Command{{Name: "curl", Flags: []string{"downloads"}}}, []facts.Path{at("write", "old", 0)}, nothing, 23}}, nil, map[string]bool{"old": true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.ToSlash(t.TempDir())
			write("old", "other", "dir/a", "dir/a.txt", "dir/.h.txt")(t, dir)
			l := open(t, "", "")
			for _, r := range tt.runs {
				in := &facts.Input{Commands: r.commands}
				for _, p := range r.paths {
					p.Real = dir + "/" + p.Real
					in.Paths = append(in.Paths, p)
				}
				n := l.Begin(in, facts.OSFS{})
				r.do(t, dir)
				must(t, n.End(facts.OSFS{}, r.exit))
			}
			for p, want := range tt.want {
				if got := l.Seen(dir + "/" + p); got != want {
					t.Errorf("Seen(%q) = %q, want %q", p, got, want)
				}
			}
			for p, want := range tt.net {
				if got := l.Downloaded(dir + "/" + p); got != want {
					t.Errorf("Downloaded(%q) = %v", p, got)
				}
			}
		})
	}
}

func rename(from, to string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		must(t, os.Rename(filepath.Join(dir, from), filepath.Join(dir, to)))
	}
}
