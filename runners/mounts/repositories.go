package mounts

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// walk looks for repositories below a directory, those that lie higher first. It follows no link and
// enters no place that is granted by itself.
func (p *protector) walk(root string) error {
	queue := []string{root}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		entries, err := list(dir)
		if err == nil {
			_, err = os.Lstat(dir + "/.") // the names may be readable, and nothing behind them
		}
		switch {
		case errors.Is(err, fs.ErrPermission) && dir == root:
			return fmt.Errorf("look for repositories in %s: it cannot be read: chmod u+rx it", root)
		case errors.Is(err, fs.ErrPermission): // its owner can open it again, and commands are the owner
			p.note("%s cannot be read, so it is read-only: chmod u+rx it outside", dir)
			p.keep(dir)
			continue
		case err != nil:
			continue // it is gone
		}
		if p.entries += len(entries) + 1; p.entries > maxEntries {
			return fmt.Errorf("look for repositories in %s: more than %d files: grant less", root,
				maxEntries)
		}
		git := gitDirectory(entries)
		if git {
			p.repository(dir, "")
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			if strings.EqualFold(e.Name(), ".git") {
				p.dotGit(dir, path, e)
			}
			if e.IsDir() && !p.granted(path) && (!git || e.Name() == "modules" || e.Name() == "worktrees") {
				queue = append(queue, path)
			}
		}
		if len(p.repos) > maxRepositories {
			p.note("%s holds more than %d repositories: hooks and configuration of the others can be "+
				"changed until the end of a command", root, maxRepositories)
			return nil
		}
	}
	return nil
}

// list lists a directory, in no order.
func list(dir string) ([]fs.DirEntry, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(-1)
}

// granted reports whether a path is a root by itself.
func (p *protector) granted(path string) bool {
	r, ok := p.rootOf(path)
	return ok && r.Path == path
}

// gitDirectory reports whether git takes a directory with these entries for a repository, under any name.
func gitDirectory(entries []fs.DirEntry) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// dotGit guards an entry called .git.
func (p *protector) dotGit(dir, path string, e fs.DirEntry) {
	p.habits(dir)
	switch {
	case e.IsDir():
		p.repository(path, dir)
	case e.Type().IsRegular(): // it says where the repository is: of a worktree, or a submodule
		p.keep(path)
		p.repos = append(p.repos, path)
		p.hooks(readGitConfig(commonConfig(path), p.home), dir)
	default:
		p.keep(path) // which tells of a link
		p.repos = append(p.repos, path)
	}
}

// repository guards a repository's own directory. Git works on in it: index, references and objects can be
// written. Files that it runs and obeys cannot, and the directory cannot be exchanged as a whole.
func (p *protector) repository(git, tree string) {
	if slices.Contains(p.repos, git) {
		return
	}
	p.repos = append(p.repos, git)
	linked := exists(filepath.Join(git, "commondir")) && exists(filepath.Join(git, "gitdir"))
	config := readGitConfig(filepath.Join(git, "config"), p.home)
	if linked {
		p.keep(filepath.Join(git, "commondir"))
		p.keep(filepath.Join(git, "gitdir"))
		p.keep(filepath.Join(git, "config.worktree"))
		return
	}
	for _, name := range []string{"hooks", "config", "info/attributes", "commondir", "config.worktree"} {
		p.keep(filepath.Join(git, name))
	}
	if config.perTree {
		config.read(filepath.Join(git, "config.worktree"), maxIncludes)
	}
	for _, name := range config.files {
		p.keep(name)
		if !exists(name) {
			p.note("git takes configuration from %s, which is missing: commands can make it", name)
		}
	}
	switch {
	case config.worktree != "":
		tree = expanded(config.worktree, p.home, git)
	case tree == "":
		tree = git
	}
	p.hooks(config, tree)
}

// commonConfig finds the configuration to which a file called .git leads: that of a submodule, or of the
// repository of this worktree.
func commonConfig(dotGit string) string {
	git := pointer(dotGit, "gitdir:", filepath.Dir(dotGit))
	if common := pointer(filepath.Join(git, "commondir"), "", git); common != "" {
		git = common
	}
	return filepath.Join(git, "config")
}

// pointer reads a path out of a small file of git's; "" when there is none.
func pointer(file, prefix, base string) string {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<16 {
		return ""
	}
	text, err := os.ReadFile(file)
	p, ok := strings.CutPrefix(strings.TrimSpace(string(text)), prefix)
	if p = strings.TrimSpace(p); err != nil || !ok || p == "" {
		return ""
	}
	return expanded(p, "", base)
}

// hooks guards the directory from which git takes hooks, where configuration names one.
func (p *protector) hooks(config gitConfig, tree string) {
	files := []string{filepath.Join(p.home, ".gitconfig"), filepath.Join(p.home, ".config/git/config"),
		"/etc/gitconfig"}
	if config.hooks == "" {
		for _, f := range files {
			if c := readGitConfig(f, p.home); c.hooks != "" {
				config.hooks = c.hooks
				break
			}
		}
	}
	if config.hooks == "" {
		return
	}
	dir := expanded(config.hooks, p.home, tree)
	if within(tree, dir) {
		p.note("git takes hooks from %s, where commands write: they can make some", dir)
		return
	}
	p.keep(dir)
	if root, ok := p.rootOf(dir); ok && root.Write && !exists(dir) {
		p.note("git takes hooks from %s, which is missing: commands can make it", dir)
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
