package facts

import (
	"bytes"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/config"
)

// configBytes is the largest configuration of git that is read.
const configBytes = 1 << 20

// repository is the git repository of a directory, as its files say.
type repository struct {
	top      string           // of the working tree, real
	branch   string           // checked out; "" where HEAD names a commit, or cannot be read
	settings []*config.Config // of the machine, the user and the repository; the last value counts
	unclear  bool             // a part of its configuration is not known
}

// repository finds the repository around a directory, nil where there is none.
func (w *build) repository(start string) *repository {
	start, _ = w.view.real(clean(start), false)
	top, dir := w.gitDir(start)
	if dir == "" {
		return nil
	}
	r := &repository{top: top}
	head, whole, err := w.fs.ReadFile(join(dir, "HEAD"), ignoreBytes)
	if ref, ok := strings.CutPrefix(string(head), "ref: refs/heads/"); ok && whole && err == nil {
		r.branch = strings.TrimSpace(ref)
	}
	dir = w.commonDir(dir)
	r.read(w.fs, "/etc/gitconfig")
	if home := w.homeDir(); home != "" {
		r.read(w.fs, join(home, ".config/git/config"))
		r.read(w.fs, join(home, ".gitconfig"))
	}
	r.read(w.fs, join(dir, "config"))
	return r
}

// commonDir is the directory of the repository of a linked working tree, for the one that is its own.
func (w *build) commonDir(dir string) string {
	common, whole, err := w.fs.ReadFile(join(dir, "commondir"), ignoreBytes)
	if err != nil || !whole {
		return dir
	}
	if to := strings.TrimSpace(string(common)); isAbs(to) {
		return clean(to)
	}
	return clean(join(dir, strings.TrimSpace(string(common))))
}

// gitDir returns the top of the working tree around a real path and its .git directory, "" for none.
func (w *build) gitDir(start string) (top, dir string) {
	for top = start; !w.view.look(join(top, ".git")).exists; {
		up, name := parent(top)
		if name == "" {
			return "", ""
		}
		top = up
	}
	dir = join(top, ".git")
	// In a linked working tree and in a submodule, .git is a file.
	if content, whole, err := w.fs.ReadFile(dir, ignoreBytes); err == nil && whole {
		if to, ok := strings.CutPrefix(strings.TrimSpace(string(content)), "gitdir: "); ok {
			if dir = clean(to); !isAbs(to) {
				dir = clean(join(top, to))
			}
		}
	}
	return top, dir
}

func (r *repository) read(files FS, file string) {
	content, whole, err := files.ReadFile(file, configBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	c := config.New()
	if err != nil || !whole || config.NewDecoder(bytes.NewReader(content)).Decode(c) != nil {
		r.unclear = true
		return
	}
	r.unclear = r.unclear || c.Section("include").Option("path") != "" || len(c.Section("includeIf").Subsections) > 0
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

func (r *repository) last(section, name, key string) string {
	list := r.all(section, name, key)
	if len(list) == 0 {
		return ""
	}
	return list[len(list)-1]
}

// upstream is the branch that the checked out one follows, "REMOTE/BRANCH"; "" for none.
func (r *repository) upstream() string {
	remote, merge := r.last("branch", r.branch, "remote"), r.last("branch", r.branch, "merge")
	branch, ok := strings.CutPrefix(merge, "refs/heads/")
	if r.branch == "" || remote == "" || !ok {
		return ""
	}
	return remote + "/" + branch
}

// remotes are the names of all remotes.
func (r *repository) remotes() []string {
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

// urls are the addresses of a remote, for a fetch or a push (git-config(1), remote.NAME.pushurl). A name that
// is none of a remote is an address.
func (r *repository) urls(remote string, push bool) []string {
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

// remoteFor is the remote that a command without one takes (git-push(1), git-fetch(1)).
func (r *repository) remoteFor(push bool) string {
	var named []string
	if push {
		named = append(named, r.last("branch", r.branch, "pushRemote"), r.last("remote", "", "pushDefault"))
	}
	for _, name := range append(named, r.last("branch", r.branch, "remote")) {
		if name != "" {
			return name
		}
	}
	return "origin"
}

// submodules are the addresses of the submodules, from the repository's settings and from .gitmodules.
func (r *repository) submodules(files FS) []string {
	var list []string
	modules := &repository{}
	modules.read(files, join(r.top, ".gitmodules"))
	r.unclear = r.unclear || modules.unclear
	for _, c := range append(modules.settings, r.settings...) {
		for _, s := range c.Section("submodule").Subsections {
			if url := s.Option("url"); url != "" && !strings.HasPrefix(url, ".") && !slices.Contains(list, url) {
				list = append(list, url)
			}
		}
	}
	return list
}
