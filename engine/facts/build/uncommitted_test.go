package build

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// committedTree is a working tree, the files of which the real git committed an hour ago.
func committedTree(t *testing.T) string {
	t.Helper()
	leftout.Command(t, "git")
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"src/a.go": "package a\n", "src/b.go": "package b\n", "doc/a.md": "a\n", "keep.txt": "one\n", "empty": "",
		".gitignore": "/ignored\n",
	} {
		writeAt(t, filepath.Join(top, name), content)
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(top, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	inGit(t, top, "init", "-q")
	inGit(t, top, "add", ".")
	inGit(t, top, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first")
	return top
}

func writeAt(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// counting counts the files that are read.
type counting struct {
	facts.FS
	read *[]string
}

func (c counting) ReadFile(p string, limit int) ([]byte, bool, error) {
	*c.read = append(*c.read, p)
	return c.FS.ReadFile(p, limit)
}

func TestVersions(t *testing.T) {
	t.Parallel()
	none := []string{}
	for name, tc := range map[string]struct {
		prepare func(t *testing.T, top string)
		text    string
		want    facts.Versions
		unread  int
	}{
		"unchanged directory": {text: "rm -rf src", want: facts.Versions{State: "clean", Count: 0, Examples: none}},
		"unchanged file":      {text: "rm keep.txt", want: facts.Versions{State: "clean", Count: 0, Examples: none}},
		"empty file":          {text: "rm empty", want: facts.Versions{State: "clean", Count: 0, Examples: none}},
		"packed objects": {
			prepare: func(t *testing.T, top string) { inGit(t, top, "gc", "-q") },
			text:    "rm -rf src", want: facts.Versions{State: "clean", Count: 0, Examples: none},
		},
		"entry without an object": {
			prepare: func(t *testing.T, top string) {
				writeAt(t, filepath.Join(top, "new.txt"), "new\n")
				hash := strings.TrimSpace(inGit(t, top, "hash-object", "new.txt"))
				inGit(t, top, "update-index", "--add", "--cacheinfo", "100644,"+hash+",new.txt")
			},
			text: "rm new.txt", want: facts.Versions{State: "unknown", Count: 1, Examples: []string{"new.txt"}}, unread: 1,
		},
		"pattern": {text: "rm -rf s*", want: facts.Versions{State: "clean", Count: 0, Examples: none}},
		"search":  {text: "find src -name '*.go' -delete", want: facts.Versions{State: "clean", Count: 0, Examples: none}},
		"other time, same content": {
			prepare: func(t *testing.T, top string) { writeAt(t, filepath.Join(top, "keep.txt"), "one\n") },
			text:    "rm keep.txt", want: facts.Versions{State: "clean", Count: 0, Examples: none},
		},
		"changed content of the same size": {
			prepare: func(t *testing.T, top string) { writeAt(t, filepath.Join(top, "src/b.go"), "package c\n") },
			text:    "rm -rf src", want: facts.Versions{State: "changed", Count: 1, Examples: []string{"b.go"}}, unread: 1,
		},
		"changed, with the time of an entry as young as the index": {
			prepare: func(t *testing.T, top string) {
				writeAt(t, filepath.Join(top, "keep.txt"), "new\n")
				inGit(t, top, "add", "keep.txt")
				info, err := os.Stat(filepath.Join(top, "keep.txt"))
				if err != nil {
					t.Fatal(err)
				}
				writeAt(t, filepath.Join(top, "keep.txt"), "old\n")
				for _, p := range []string{"keep.txt", ".git/index"} {
					if err := os.Chtimes(filepath.Join(top, p), info.ModTime(), info.ModTime()); err != nil {
						t.Fatal(err)
					}
				}
			},
			text: "rm keep.txt", want: facts.Versions{State: "changed", Count: 1, Examples: []string{"keep.txt"}}, unread: 1,
		},
		"staged content": {
			prepare: func(t *testing.T, top string) {
				writeAt(t, filepath.Join(top, "keep.txt"), "two\n")
				inGit(t, top, "add", "keep.txt")
			},
			text: "rm keep.txt", want: facts.Versions{State: "clean", Count: 0, Examples: none},
		},
		"new file": {
			prepare: func(t *testing.T, top string) { writeAt(t, filepath.Join(top, "src/new.go"), "x") },
			text:    "rm -rf src doc", want: facts.Versions{State: "untracked", Count: 1, Examples: []string{"new.go"}}, unread: 1,
		},
		"intent to add": {
			prepare: func(t *testing.T, top string) {
				writeAt(t, filepath.Join(top, "later"), "")
				inGit(t, top, "add", "-N", "later")
			},
			text: "rm later", want: facts.Versions{State: "changed", Count: 1, Examples: []string{"later"}}, unread: 1,
		},
		"ignored file": {
			prepare: func(t *testing.T, top string) { writeAt(t, filepath.Join(top, "ignored"), "x") },
			text:    "rm ignored", want: facts.Versions{State: "untracked", Count: 1, Examples: []string{"ignored"}}, unread: 1,
		},
		"assumed unchanged": {
			prepare: func(t *testing.T, top string) {
				inGit(t, top, "update-index", "--assume-unchanged", "keep.txt")
				writeAt(t, filepath.Join(top, "keep.txt"), "two\n")
			},
			text: "rm keep.txt", want: facts.Versions{State: "changed", Count: 1, Examples: []string{"keep.txt"}}, unread: 1,
		},
		"outside the sparse part": {
			prepare: func(t *testing.T, top string) { inGit(t, top, "update-index", "--skip-worktree", "keep.txt") },
			text:    "rm keep.txt", want: facts.Versions{State: "changed", Count: 1, Examples: []string{"keep.txt"}}, unread: 1,
		},
		"large file of another time": {
			prepare: func(t *testing.T, top string) {
				writeAt(t, filepath.Join(top, "big"), string(make([]byte, repo.HashBytes+1)))
				inGit(t, top, "add", "big")
				if err := os.Chtimes(filepath.Join(top, "big"), time.Unix(1, 0), time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
			},
			text: "rm big", want: facts.Versions{State: "unknown", Count: 1, Examples: []string{"big"}}, unread: 1,
		},
		"content that a filter changes": {
			prepare: func(t *testing.T, top string) {
				writeAt(t, filepath.Join(top, ".gitattributes"), "*.txt filter=short\n")
				inGit(t, top, "config", "filter.short.clean", "head -c 1")
				writeAt(t, filepath.Join(top, "keep.txt"), "more\n")
				old := time.Now().Add(-time.Minute)
				if err := os.Chtimes(filepath.Join(top, "keep.txt"), old, old); err != nil {
					t.Fatal(err)
				}
				inGit(t, top, "add", "keep.txt")
			},
			text: "rm keep.txt", want: facts.Versions{State: "changed", Count: 1, Examples: []string{"keep.txt"}}, unread: 1,
		},
		"the repository itself": {text: "rm -rf .", want: facts.Versions{State: "none", Count: 0, Examples: none}, unread: 6},
		"a repository in the repository": {
			prepare: func(t *testing.T, top string) {
				writeAt(t, filepath.Join(top, "lib/x"), "x")
				inGit(t, filepath.Join(top, "lib"), "init", "-q")
				inGit(t, filepath.Join(top, "lib"), "add", ".")
			},
			text: "rm -rf lib", want: facts.Versions{State: "untracked", Count: 1, Examples: []string{"x"}}, unread: 1,
		},
		"linked working tree": {
			prepare: func(t *testing.T, top string) { inGit(t, top, "worktree", "add", "-q", "tree") },
			text:    "rm -rf tree/src", want: facts.Versions{State: "clean", Count: 0, Examples: none},
		},
		"index that cannot be read": {
			prepare: func(t *testing.T, top string) { writeAt(t, filepath.Join(top, ".git/index"), "x") },
			text:    "rm keep.txt", want: facts.Versions{State: "unknown", Count: 1, Examples: []string{"keep.txt"}}, unread: 1,
		},
		"split index": {
			prepare: func(t *testing.T, top string) { inGit(t, top, "update-index", "--split-index") },
			text:    "rm keep.txt", want: facts.Versions{State: "unknown", Count: 1, Examples: []string{"keep.txt"}}, unread: 1,
		},
		"repository in a temporary place": {
			prepare: func(t *testing.T, top string) {
				away := t.TempDir()
				if err := os.Rename(filepath.Join(top, ".git"), filepath.Join(away, "g")); err != nil {
					t.Fatal(err)
				}
				writeAt(t, filepath.Join(top, ".git"), "gitdir: "+filepath.Join(away, "g")+"\n")
			},
			text: "rm keep.txt", want: facts.Versions{State: "unknown", Count: 1, Examples: []string{"keep.txt"}}, unread: 1,
		},
		"no repository": {
			prepare: func(t *testing.T, top string) {
				if err := os.RemoveAll(filepath.Join(top, ".git")); err != nil {
					t.Fatal(err)
				}
			},
			text: "rm -rf src", want: facts.Versions{State: "none", Count: 0, Examples: none}, unread: 2,
		},
		"moved in by the text": {
			prepare: func(t *testing.T, top string) { writeAt(t, filepath.Join(top, "new"), "x") },
			text:    "mv new src/; rm -rf src", want: facts.Versions{State: "untracked", Count: 1, Examples: []string{"new"}}, unread: 1,
		},
		"made by the text": {text: "echo x > src/c.go; rm -rf src", want: facts.Versions{State: "clean", Count: 0, Examples: none}},
		"a read":           {text: "cat keep.txt", want: facts.Versions{State: "none", Count: 0, Examples: none}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := committedTree(t)
			if tc.prepare != nil {
				tc.prepare(t, top)
			}
			in := treeBuilder(top, facts.OSFS{}).Build(testAsk(tc.text))
			i := slices.IndexFunc(in.Paths, func(p facts.Path) bool { return p.Git.Count > 0 })
			if i < 0 {
				i = len(in.Paths) - 1
			}
			if diff := cmp.Diff(tc.want, in.Paths[i].Git); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.text, diff)
			}
			if got := in.Paths[i].Unread.Count; got != tc.unread {
				t.Errorf("%s: %d unread, want %d", tc.text, got, tc.unread)
			}
		})
	}
}

func treeBuilder(top string, files facts.FS) *Builder {
	return NewBuilder(facts.Layout{
		Workspace: top, Home: testHome, Roots: []facts.Root{{Path: top, Write: true, Zone: "workspace"}},
		Temporary: []string{filepath.ToSlash(os.TempDir())},
	}, files, nil)
}

// TestVersionsByTime holds that an unchanged tree is told from the times of its files.
func TestVersionsByTime(t *testing.T) {
	t.Parallel()
	top := committedTree(t)
	var read []string
	in := treeBuilder(top, counting{facts.OSFS{}, &read}).Build(testAsk("rm -rf src"))
	if in.Paths[0].Git.State != "clean" || slices.Contains(read, filepath.Join(top, "src/a.go")) {
		t.Errorf("%+v, read %v", in.Paths[0].Git, read)
	}
}

// TestVersionsGoToo holds that a repository vouches for nothing that it is deleted with.
func TestVersionsGoToo(t *testing.T) {
	t.Parallel()
	in := treeBuilder(committedTree(t), facts.OSFS{}).Build(testAsk("shopt -s dotglob; rm -rf s*; rm -rf *"))
	if got := in.Paths[0].Git.State; got != "clean" {
		t.Errorf("without the repository: %s, want clean", got)
	}
	if got := in.Paths[1].Git; got.State != "unknown" || got.Count < 6 {
		t.Errorf("with the repository: %+v, want unknown for all files", got)
	}
}

func TestRepositoryOf(t *testing.T) {
	t.Parallel()
	repository, err := repo.RepositoryOf(map[string]string{"src/a": "one", "b": "two", "./c": "three"})
	if err != nil {
		t.Fatal(err)
	}
	files := newMemFS("/home/dev/ws/src/a: one\n/home/dev/ws/b: new\n/home/dev/ws/c: three\n/home/dev/ws/d: x")
	files["/home/dev/ws/.git"] = memNode{name: ".git", mode: os.ModeDir}
	for name, text := range repository {
		files["/home/dev/ws/"+name] = memNode{name: filepath.Base(name), text: text}
	}
	for text, want := range map[string]string{
		"rm src/a": "clean", "rm b": "changed", "rm c": "clean", "rm d": "untracked",
	} {
		in := NewBuilder(testLayout(), files, nil).Build(testAsk(text))
		if got := in.Paths[0].Git.State; got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
