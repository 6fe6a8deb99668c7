package build

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// repository is a working tree with files of every kind that git clean tells apart.
func newRepository(t *testing.T, version string) string {
	t.Helper()
	leftout.Command(t, "git")
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"tracked": "", "sub/tracked": "", "sub/deep/tracked": "", "sub/new": "", "sub/deep/new": "", "new": "",
		"fresh/a": "", "fresh/more/b": "", "ignored.tmp": "", "sub/ignored.tmp": "", "sub/kept.tmp": "", "cache/x": "", "local": "",
		".gitignore": "*.tmp\ncache/\n# a comment\n", "sub/.gitignore": "!kept.tmp\n", "fresh/own.tmp": "",
		"other/file": "", "sub/other/file": "",
	} {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	inGit(t, top, "init", "-q")
	inGit(t, top, "add", "tracked", "sub/tracked", "sub/deep/tracked", ".gitignore", "sub/.gitignore")
	inGit(t, top, "update-index", "--index-version", version)
	inGit(t, filepath.Join(top, "other"), "init", "-q")
	inGit(t, filepath.Join(top, "sub/other"), "init", "-q")
	if err := os.WriteFile(filepath.Join(top, ".git/info/exclude"), []byte("/local\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	return top
}

func inGit(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

// wouldClean asks git itself, which names directories as a whole: those are looked into here.
func wouldClean(t *testing.T, dir string, args ...string) []string {
	t.Helper()
	var out []string
	for line := range strings.Lines(inGit(t, dir, append([]string{"clean", "-n"}, args...)...)) {
		name, ok := strings.CutPrefix(strings.TrimSpace(line), "Would remove ")
		if !ok {
			continue
		}
		err := filepath.WalkDir(filepath.Join(dir, name), func(p string, e os.DirEntry, err error) error {
			if err == nil && e.IsDir() && e.Name() == ".git" {
				return filepath.SkipDir
			}
			if err == nil && !e.IsDir() {
				out = append(out, p)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

func TestGitCleanNamesWhatGitWouldRemove(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"2", "4"} {
		top := newRepository(t, version)
		b := NewBuilder(facts.Layout{Workspace: top, Roots: []facts.Root{{Path: top, Write: true, Zone: "workspace"}}}, facts.OSFS{}, nil)
		for _, c := range []struct{ dir, args string }{
			{"", "-f"}, {"", "-fd"}, {"", "-fx"}, {"", "-fdx"}, {"", "-ffd"}, {"", "-ffdx"}, {"", "-f -d"}, {"", "--force -d"},
			{"sub", "-f"}, {"sub", "-fd"}, {"sub", "-fdx"}, {"", "-f sub"}, {"", "-f fresh"}, {"", "-fd sub fresh"}, {"", "-fd sub/deep/new"},
			{"sub", "-fd deep"}, {"fresh", "-fd"}, {"", "-f -- new tracked"},
		} {
			dir := filepath.Join(top, c.dir)
			want := wouldClean(t, dir, strings.Fields(c.args)...)
			in := b.Build(facts.Ask{Request: facts.Request{Command: "git clean " + c.args, WorkDir: dir}})
			var got []string
			for i := range in.Paths {
				if p := &in.Paths[i]; p.Access == "delete" && p.Certainty == "exact" && p.Type == "file" && !slices.Contains(got, p.Real) {
					got = append(got, p.Real)
				}
			}
			slices.Sort(got)
			if c.args == "-f -- new tracked" { // what is named counts as deleted, though git leaves what is tracked
				want = append(want, filepath.Join(top, "tracked"))
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("index %s, in %q, git clean %s (-git +facts):\n%s", version, c.dir, c.args, diff)
			}
		}
	}
}

func TestGitCleanThatIsNotClear(t *testing.T) {
	t.Parallel()
	top := newRepository(t, "2")
	b := NewBuilder(facts.Layout{Workspace: top, Roots: []facts.Root{{Path: top, Write: true, Zone: "workspace"}}}, facts.OSFS{}, nil)
	deletes := func(text string) (exact, unknown int) {
		in := b.Build(facts.Ask{Request: facts.Request{Command: text, WorkDir: top}})
		for i := range in.Paths {
			switch p := &in.Paths[i]; {
			case p.Access != "delete":
			case p.Certainty == "exact":
				exact++
			default:
				unknown++
			}
		}
		return exact, unknown
	}
	if exact, unknown := deletes("git clean -nfd"); exact+unknown != 0 {
		t.Errorf("a dry run deletes %d and %d", exact, unknown)
	}
	if exact, unknown := deletes(`cd "$(cat where)" && git clean -fd`); exact != 0 || unknown == 0 {
		t.Errorf("in a directory that is not known it deletes %d and %d: want something unknown", exact, unknown)
	}
	if exact, _ := deletes("git -c clean.requireForce=false clean -d"); exact == 0 {
		t.Error("without the need of -f it deletes nothing")
	}
	all, _ := deletes("git clean -fd")
	if err := os.WriteFile(filepath.Join(top, ".git/index"), []byte("DIRC????"), 0o644); err != nil {
		t.Fatal(err)
	}
	if exact, _ := deletes("git clean -fd"); exact <= all {
		t.Errorf("with an index that cannot be read it deletes %d, with a good one %d: want more", exact, all)
	}
}
