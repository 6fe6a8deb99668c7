// Package repo reads git repositories from their files: remotes, ignored names, and whether git holds the
// content of a file. It never runs git.
package repo

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// Bare returns the path that a file of git's would have in a .git directory, if it lies in another directory
// that git takes for a repository: its configuration and its hooks. "" for all others.
func Bare(v *disk.View, p string) string {
	dir, base := disk.Parent(p)
	rest := base
	if _, last := disk.Parent(dir); last == "hooks" {
		dir, _ = disk.Parent(dir)
		rest = "hooks/" + base
	} else if base != "config" && base != "config.worktree" && base != "commondir" && base != "hooks" {
		return ""
	}
	has := func(name string) bool { return v.Look(disk.Join(dir, name)).Exists }
	// A directory with objects and references alone is one that a file commondir elsewhere may name.
	repository := has("objects") && has("refs") || has("HEAD") && has("commondir")
	if _, last := disk.Parent(dir); last == ".git" || !repository {
		return ""
	}
	return disk.Join(dir, ".git/"+rest)
}

// configBytes is the largest configuration of git that is read.
const configBytes = 1 << 20

// Finder looks for repositories in the files of one request.
type Finder struct {
	files  facts.FS
	view   *disk.View
	home   string               // of the user, "" for none
	trees  map[string]*Cleaning // by its top: what a repository holds
	hashed int                  // bytes that were compared with it
}

// NewFinder makes a Finder for the user with a home directory.
func NewFinder(files facts.FS, v *disk.View, home string) *Finder {
	return &Finder{files: files, view: v, home: home, trees: map[string]*Cleaning{}}
}

// repository is the git repository of a directory, as its files say.
type repository struct {
	Top      string           // of the working tree, real
	Branch   string           // checked out; "" where HEAD names a commit, or cannot be read
	settings []*config.Config // of the machine, the user and the repository; the last value counts
	Unclear  bool             // a part of its configuration is not known
}

// Repository finds the repository around a directory, nil where there is none.
func (f *Finder) Repository(start string) *repository {
	start, _ = f.view.Real(disk.Clean(start), false)
	top, dir := f.gitDir(start)
	if dir == "" {
		return nil
	}
	r := &repository{Top: top}
	head, whole, err := f.files.ReadFile(disk.Join(dir, "HEAD"), ignoreBytes)
	if ref, ok := strings.CutPrefix(string(head), "ref: refs/heads/"); ok && whole && err == nil {
		r.Branch = strings.TrimSpace(ref)
	}
	dir = f.commonDir(dir)
	r.read(f.files, "/etc/gitconfig")
	if f.home != "" {
		r.read(f.files, disk.Join(f.home, ".config/git/config"))
		r.read(f.files, disk.Join(f.home, ".gitconfig"))
	}
	r.read(f.files, disk.Join(dir, "config"))
	return r
}

// commonDir is the directory of the repository of a linked working tree, for the one that is its own.
func (f *Finder) commonDir(dir string) string {
	common, whole, err := f.files.ReadFile(disk.Join(dir, "commondir"), ignoreBytes)
	if err != nil || !whole {
		return dir
	}
	if to := strings.TrimSpace(string(common)); disk.IsAbs(to) {
		return disk.Clean(to)
	}
	return disk.Clean(disk.Join(dir, strings.TrimSpace(string(common))))
}

// gitDir returns the top of the working tree around a real path and its .git directory, "" for none.
func (f *Finder) gitDir(start string) (top, dir string) {
	for top = start; !f.view.Look(disk.Join(top, ".git")).Exists; {
		up, name := disk.Parent(top)
		if name == "" {
			return "", ""
		}
		top = up
	}
	dir = disk.Join(top, ".git")
	// In a linked working tree and in a submodule, .git is a file.
	if content, whole, err := f.files.ReadFile(dir, ignoreBytes); err == nil && whole {
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: "); ok {
			if dir = disk.Clean(to); !disk.IsAbs(to) {
				dir = disk.Clean(disk.Join(top, to))
			}
		}
	}
	return top, dir
}

func (r *repository) read(files facts.FS, file string) {
	content, whole, err := files.ReadFile(file, configBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	c := config.New()
	if err != nil || !whole || config.NewDecoder(bytes.NewReader(content)).Decode(c) != nil {
		r.Unclear = true
		return
	}
	r.Unclear = r.Unclear || c.Section("include").Option("path") != "" || len(c.Section("includeIf").Subsections) > 0
	r.settings = append(r.settings, c)
}

// all returns the values of a setting, of the user's first.
func (r *repository) all(section, name, key string) []string {
	var list []string
	for _, c := range r.settings {
		if name == "" {
			list = append(list, c.Section(section).OptionAll(key)...)
		} else if s := c.Section(section); s.HasSubsection(name) {
			list = append(list, s.Subsection(name).OptionAll(key)...)
		}
	}
	return list
}

// Last returns the value of a setting that counts, "" for none.
func (r *repository) Last(section, name, key string) string {
	list := r.all(section, name, key)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// Upstream is the branch that the checked out one follows, "REMOTE/BRANCH"; "" for none.
func (r *repository) Upstream() string {
	remote, merge := r.Last("branch", r.Branch, "remote"), r.Last("branch", r.Branch, "merge")
	branch, ok := strings.CutPrefix(merge, "refs/heads/")
	if r.Branch == "" || remote == "" || !ok {
		return ""
	}
	return remote + "/" + branch
}

// Remotes are the names of all remotes.
func (r *repository) Remotes() []string {
	var list []string
	for _, c := range r.settings {
		for _, s := range c.Section("remote").Subsections {
			if !slices.Contains(list, s.Name) {
				list = append(list, s.Name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// URLs are the addresses of a remote, for a fetch or a push (git-config(1), remote.NAME.pushurl). A name that
// is none of a remote is an address.
func (r *repository) URLs(remote string, push bool) []string {
	list := r.all("remote", remote, "url")
	if push {
		if own := r.all("remote", remote, "pushurl"); len(own) > 0 {
			list = own
		}
	}
	if len(list) == 0 {
		list = []string{remote}
	}
	out := make([]string, len(list))
	for i, url := range list {
		out[i] = r.instead(url, push)
	}
	return out
}

// instead rewrites an address as url.BASE.insteadOf says: of all that fit, the longest.
func (r *repository) instead(url string, push bool) string {
	longest, base := 0, ""
	for _, key := range []string{"insteadOf", "pushInsteadOf"} {
		if key == "pushInsteadOf" && !push {
			continue
		}
		for _, c := range r.settings {
			for _, s := range c.Section("url").Subsections {
				for _, from := range s.OptionAll(key) {
					if strings.HasPrefix(url, from) && len(from) > longest {
						longest, base = len(from), s.Name
					}
				}
			}
		}
	}
	if longest == 0 {
		return url
	}
	return base + url[longest:]
}

// RemoteFor is the remote that a command without one takes (git-push(1), git-fetch(1)).
func (r *repository) RemoteFor(push bool) string {
	var named []string
	if push {
		named = append(named, r.Last("branch", r.Branch, "pushRemote"), r.Last("remote", "", "pushDefault"))
	}
	for _, name := range append(named, r.Last("branch", r.Branch, "remote")) {
		if name != "" {
			return name
		}
	}
	return "origin"
}

// Submodules are the addresses of the submodules, from the repository's settings and from .gitmodules.
func (r *repository) Submodules(files facts.FS) []string {
	var list []string
	modules := &repository{}
	modules.read(files, disk.Join(r.Top, ".gitmodules"))
	r.Unclear = r.Unclear || modules.Unclear
	for _, c := range append(modules.settings, r.settings...) {
		for _, s := range c.Section("submodule").Subsections {
			if url := s.Option("url"); url != "" && !strings.HasPrefix(url, ".") && !slices.Contains(list, url) {
				list = append(list, url)
			}
		}
	}
	return list
}
