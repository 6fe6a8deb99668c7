package boundary

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/obeyed"
	"github.com/sallyport-dev/sallyport/runners/changes"
)

// gitFiles are the files of a repository's directory by which git starts programs, or takes configuration and
// hooks from elsewhere.
var gitFiles = []string{"config", "config.worktree", "commondir", "hooks"}

// gitDirs hold others of such files. A link may stand in the place of one.
var gitDirs = []string{"info", "rebase-merge"}

// todo is the list of an interactive rebase, which may hold commands.
const todo = "rebase-merge/git-rebase-todo"

// isRepository reports whether git may take a directory with these entries for a repository, or for the
// common directory of one. Its name does not matter: git looks for the entries in each directory above the
// current one.
func isRepository(entries []fs.DirEntry) bool {
	return repositoryOf(func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	})
}

func repositoryOf(has func(name string) bool) bool {
	return has("objects") && has("refs") || has("HEAD") && has("commondir")
}

// around notes the repositories around a file, and reports whether their examination covers it.
func (b *Boundary) around(p string, known map[string]bool) (some bool) {
	for dir := filepath.Dir(p); b.inside(dir); {
		is, looked := known[dir]
		if !looked {
			is = b.isRepositoryAt(dir)
			known[dir] = is
		}
		some = some || is
		dir = filepath.Dir(dir)
	}
	return some && gitPart(p, known)
}

// isRepositoryAt is isRepository for a directory. In a place for the repository of a submodule, git keeps
// hooks and configuration that were there before it.
func (b *Boundary) isRepositoryAt(dir string) bool {
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
	return repositoryOf(has) || ofSubmodule(dir) && (has("hooks") || has("config"))
}

// ofSubmodule reports a directory in the place for the repositories of submodules.
func ofSubmodule(dir string) bool { return strings.Contains(filepath.ToSlash(dir), "/.git/modules/") }

// gitPart reports a file that its repository's examination covers: not one of a working tree around a .git.
func gitPart(p string, known map[string]bool) bool {
	return known[filepath.Dir(p)] || known[filepath.Dir(filepath.Dir(p))]
}

// repository names the files of a repository's directory by which git starts programs that nobody configured
// before.
func (b *Boundary) repository(dir string, found func(p string)) {
	for _, name := range gitFiles {
		p := filepath.Join(dir, name)
		info, err := os.Lstat(p)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			found(p)
		case name == "hooks":
			b.hooks(p, found)
		case name == "commondir":
			if !b.linked(dir) {
				found(p)
			}
		default:
			text, err := read(p, maxImage)
			if err != nil || b.plain(dir, string(text), b.before[p].content) != string(text) {
				found(p)
			}
		}
	}
	for _, name := range gitDirs {
		p := filepath.Join(dir, name)
		if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			found(p)
		}
	}
	if p := filepath.Join(dir, "info", "attributes"); b.exists(p) {
		found(p)
	}
	if p := filepath.Join(dir, filepath.FromSlash(todo)); b.exists(p) {
		if text, err := read(p, maxImage); err != nil || executes(string(text)) {
			found(p)
		}
	}
}

func (b *Boundary) exists(p string) bool {
	_, ok := b.imageOf(p)
	return ok
}

// hooks names the files of a directory that git runs as hooks: not its own samples, nor files that cannot be
// executed.
func (b *Boundary) hooks(dir string, found func(p string)) {
	for _, e := range changes.List(dir) {
		info, err := e.Info()
		if err != nil || e.IsDir() || strings.HasSuffix(e.Name(), ".sample") {
			continue
		}
		if info.Mode()&fs.ModeSymlink != 0 || info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			found(filepath.Join(dir, e.Name()))
		}
	}
}

// linked reports whether the directory of a linked working tree takes configuration and hooks from a
// repository below the roots, which is examined by itself (gitrepository-layout(5)).
func (b *Boundary) linked(dir string) bool {
	text, err := read(filepath.Join(dir, "commondir"), maxImage)
	to := strings.TrimSuffix(string(text), "\n")
	if err != nil || to == "" {
		return false
	}
	if !filepath.IsAbs(to) {
		to = filepath.Join(dir, to)
	}
	real, err := filepath.EvalSymlinks(to)
	return err == nil && filepath.Dir(dir) == filepath.Join(real, "worktrees") && b.isRepositoryAt(real)
}

// plain returns the lines of a configuration that start no program and lead to no other file: their settings
// are of obeyed.PlainGit, in the form that git itself writes, or stood in the earlier version. dir is that
// of the repository.
func (b *Boundary) plain(dir, text string, before []byte) string {
	known := map[[2]string]bool{}
	section := ""
	for line := range strings.SplitSeq(string(before), "\n") {
		if strings.HasPrefix(line, "[") {
			section = line
		}
		known[[2]string{section, line}] = !strings.HasSuffix(line, `\`)
	}
	var out strings.Builder
	section = ""
	for line := range strings.SplitAfterSeq(text, "\n") {
		bare := strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(bare, "[") {
			section = bare
		}
		tree, is := strings.CutPrefix(bare, "\tworktree = ")
		is = is && section == "[core]" && plainValue(tree) && !filepath.IsAbs(tree) &&
			b.inside(filepath.Join(dir, tree))
		if is || known[[2]string{section, bare}] || plainLine(section, bare) {
			out.WriteString(line)
		}
	}
	return out.String()
}

// inside reports a path below the roots.
func (b *Boundary) inside(p string) bool {
	return slices.ContainsFunc(b.roots, func(r string) bool { return changes.Within(p, r) })
}

// plainLine reports a line of a configuration that starts no program, below the heading of its section.
func plainLine(section, line string) bool {
	if line == "" {
		return true
	}
	name, sub, ok := heading(section)
	if !ok || line == section {
		return ok
	}
	key, value, ok := strings.Cut(strings.TrimPrefix(line, "\t"), " = ")
	return ok && plainValue(value) && obeyed.PlainGit(name, sub, key, value)
}

// plainValue reports a value that git writes and reads without quotes.
func plainValue(v string) bool {
	return !strings.ContainsAny(v, "\\\"#;\r\t") && strings.Trim(v, " ") == v
}

// heading takes a heading apart: [section] or [section "subsection"].
func heading(line string) (name string, sub bool, ok bool) {
	inner, ok := strings.CutPrefix(line, "[")
	inner, closed := strings.CutSuffix(inner, "]")
	name, rest, sub := strings.Cut(inner, ` "`)
	if !ok || !closed || name == "" || strings.Trim(name, letters) != "" {
		return "", false, false
	}
	quoted, closed := strings.CutSuffix(rest, `"`)
	return name, sub, !sub || closed && !strings.ContainsAny(quoted, `"\`)
}

const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

// executes reports a list of an interactive rebase that runs commands (git-rebase(1), exec).
func executes(todo string) bool {
	for line := range strings.Lines(todo) {
		word, _, _ := strings.Cut(strings.TrimLeft(line, " \t"), " ")
		word, _, _ = strings.Cut(strings.TrimSpace(word), "\t")
		if word == "exec" || word == "x" {
			return true
		}
	}
	return false
}
