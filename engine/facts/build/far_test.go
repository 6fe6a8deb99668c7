package build

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// distant is this machine's files as if they were far away, with a count of the journeys to look at
// them. What is in a file or a directory cannot be foreseen.
type distant struct {
	facts.OSFS
	journeys *int
}

func (d distant) Lstat(p string) (fs.FileInfo, error) { *d.journeys++; return d.OSFS.Lstat(p) }
func (d distant) ReadLink(p string) (string, error)   { *d.journeys++; return d.OSFS.ReadLink(p) }
func (d distant) Walk(paths []string) map[string]facts.Node {
	*d.journeys++
	return disk.Walk(d.OSFS, paths)
}

func (d distant) Until(time.Time) facts.FS { return d }

// What is far away is known as well as what is near, with few journeys.
func TestFar(t *testing.T) {
	t.Parallel()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"a/b/c", "build/x", "out"} {
		if err := os.MkdirAll(filepath.Join(ws, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"in": "a/b", "away": "/etc", "round": "round",
		"a/b/up": "../../build"} {
		if err := os.Symlink(target, filepath.Join(ws, link)); err != nil {
			leftout.Skip(t, leftout.Platform, "no symbolic links here: allow them: "+err.Error())
		}
	}
	for _, file := range []string{"f", "a/b/g", "build/x/h"} {
		if err := os.WriteFile(filepath.Join(ws, file), []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var many []string
	for i := range 20 {
		many = append(many, fmt.Sprintf("cp a%[1]d.txt b%[1]d.txt c%[1]d.txt d%[1]d.txt out/%[1]d", i))
	}
	layout := facts.Layout{Workspace: filepath.ToSlash(ws), Home: "/home/x",
		Roots: []facts.Root{{Path: filepath.ToSlash(ws), Write: true, Zone: "workspace"}}}
	journeys := 0
	near, far := NewBuilder(layout, facts.OSFS{}, nil), NewBuilder(layout, distant{journeys: &journeys}, nil)
	for text, most := range map[string]int{
		"echo hello":                                  2,
		"rm -rf ./build":                              20, // and a look at what is in it
		"cat f in/g <a/b/up/x/h >away/new":            2,
		"cat round/x ../f in/../f /etc/../etc/passwd": 4,
		"cd in && ls up && cat up/x/h":                3,
		strings.Join(many, "\n"):                      2,
	} {
		journeys = 0
		want, got := near.Build(facts.Ask{Request: facts.Request{Command: text}}),
			far.Build(facts.Ask{Request: facts.Request{Command: text}})
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%.40s: near and far:\n%s", text, diff)
		}
		if journeys > most {
			t.Errorf("%.40s: %d journeys, want at most %d", text, journeys, most)
		}
	}
}

// The facts about a program come of the files that its question brings. A builder tells if they come of
// more, or of the history of a file that commands can change.
func TestWatched(t *testing.T) {
	t.Parallel()
	ws, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ws = filepath.ToSlash(ws)
	if err := os.WriteFile(filepath.Join(ws, "f"), []byte("echo\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	layout := facts.Layout{
		Workspace: ws, Home: "/home/x", Roots: []facts.Root{{Path: ws, Write: true, Zone: "workspace"}},
	}
	at := time.Now().Add(time.Hour)
	for _, tc := range []struct {
		words  []string
		known  facts.History
		looked bool
	}{
		{[]string{"/bin/true"}, fakeHistory{}, false},
		{[]string{"/bin/ls", "-l", "/etc/none"}, fakeHistory{}, false},
		{[]string{"/bin/ls", "f"}, nil, false},
		{[]string{"/bin/ls", "f"}, fakeHistory{}, true},
		{[]string{"./f"}, nil, true},
		{[]string{"/bin/sh", "f"}, nil, true},
		{[]string{"/bin/rm", "-r", "."}, nil, true},
	} {
		for _, near := range []bool{true, false} {
			files := facts.FS(facts.OSFS{})
			if !near {
				files = distant{journeys: new(int)}
			}
			b, looked := NewBuilder(layout, files, tc.known).Watched(at)
			to := disk.Named(ws, tc.words)
			ask := facts.Ask{
				Request: facts.Request{Command: strings.Join(tc.words, " "), WorkDir: ws},
				Seen:    facts.Ways{To: to, Nodes: disk.Walk(facts.OSFS{}, to)},
			}
			plain := ask
			plain.Seen = facts.Ways{}
			if diff := cmp.Diff(NewBuilder(layout, files, tc.known).Build(plain), b.Build(ask)); diff != "" {
				t.Errorf("%s: of the question:\n%s", tc.words, diff)
			}
			if looked() != tc.looked {
				t.Errorf("%s, near: %v: looked: %v", tc.words, near, looked())
			}
		}
	}
}

// A program may have more words than a text may have bytes: xargs and GNU parallel give it 128 KiB.
func TestWordsOfProgramsAreLong(t *testing.T) {
	b := NewBuilder(testLayout(), facts.OSFS{}, nil)
	text := "sh -c '/usr/bin/echo " + strings.Repeat("c", 120<<10) + "'"
	for tool, want := range map[string]bool{facts.ToolProgram: true, "execute_command": false} {
		in := b.Build(facts.Ask{Request: facts.Request{Tool: tool, Command: text}})
		if in.Shell.Parsed != want || want && (in.Shell.Certainty != "exact" || len(in.Commands) != 2) {
			t.Errorf("%s: %+v with %d commands", tool, in.Shell, len(in.Commands))
		}
	}
}
