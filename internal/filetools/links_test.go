package filetools_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/filetools"
)

// TestSymlinkRaceNotFollowed: a directory becomes a link while a batch is under way.
func TestSymlinkRaceNotFollowed(t *testing.T) {
	t.Parallel()
	for name, tool := range map[string]filetools.Tool{
		"copy batch": cloneAll("src", "dst"), "copy tree": clone("src", "dst"), "delete batch": removeAll("dst"), "delete tree": remove("dst"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			files := map[string]string{"other/2": "outside", "other/sub/3": "outside"}
			for _, f := range []string{"src/1", "src/sub/2", "src/sub/sub/3", "dst/1", "dst/sub/2", "dst/sub/sub/3"} {
				files["project/"+f] = "inside"
			}
			g := newGuarded(t, "rules: {deletion/read_before_delete: off}\n", files)
			swapped := false
			swap := func(string) {
				if swapped {
					return
				}
				swapped = true
				sub := filepath.Join(g.dir, "dst", "sub")
				if err := os.Rename(sub, sub+"-away"); err != nil {
					t.Fatal(err)
				}
				if err := os.Symlink(filepath.Join(g.home, "other"), sub); err != nil {
					t.Fatal(err)
				}
			}
			out, err := g.gate.Do(t.Context(), engine.Request{Tool: "t", Operation: hinder{Tool: tool, stuck: stuck{before: swap}}})
			if err != nil || !out.Ran || !swapped {
				t.Fatalf("%v %+v", err, out.Decision)
			}
			after := g.all.tree()
			if after["other/2"] != "outside" || after["other/sub/3"] != "outside" || len(after["other/1"]) > 0 {
				t.Errorf("it reached through the link: %v", after)
			}
			if _, inside := after["other/sub/2"]; inside {
				t.Errorf("it wrote through the link: %v", after)
			}
		})
	}
}

// TestLinksAreJudgedWhereTheyLead: between the decision and the run the way must not change either.
func TestLinksAreJudgedWhereTheyLead(t *testing.T) {
	t.Parallel()
	g := newGuarded(t, "", map[string]string{"project/src/a": "a", "project/src/out": "-> ../../other", "other/secret": "s", "project/to-doc": "-> ../doc", "doc/d": "d"})
	g.refused(write("to-doc/new"), "paths/write_read_only")
	g.refused(cloneAll("src", "to-doc"), "paths/write_read_only")
	g.allowed(clone("src", "copy"))
	if got := g.tree()["copy/out"]; got != "-> ../../other" {
		t.Errorf("the copied link is %q", got)
	}
	r := g.allowed(filetools.CompareDirectories(filetools.CompareDirectoriesInput{Dir1: "src", Dir2: "copy", ShowContentDiff: true}))
	if c := r.Details.(*filetools.CompareDirectoriesDetails).Counts; c != (filetools.CompareCounts{Identical: 2}) {
		t.Errorf("%+v", c)
	}
	g.allowed(read("src/a"))
	g.allowed(remove("src")) // with the link, and not with what it leads to
	if g.all.tree()["other/secret"] != "s" {
		t.Error("a link was followed")
	}
}
