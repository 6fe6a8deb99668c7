package build

import (
	"io/fs"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Until returns a builder that gives up on files far away after t. Facts not known by then are missing
// in its inputs: discard an input that was finished after t.
func (b *Builder) Until(t time.Time) *Builder {
	far, ok := b.Files.(facts.Far)
	if !ok {
		return b
	}
	m := *b.Map
	m.Files = far.Until(t)
	return &Builder{&m, b.table, b.history}
}

// Watched is Until, with a function that reports whether the builder has looked at a file by then, or at the
// history of one that commands can change: other processes of the session write that history, too.
func (b *Builder) Watched(t time.Time) (watched *Builder, looked func() bool) {
	m, first := *b.Until(t).Map, &atomic.Bool{}
	m.Files = watching(m.Files, first)
	watched = &Builder{&m, b.table, b.history}
	if b.history != nil {
		watched.history = watchedHistory{b.history, &m, first}
	}
	return watched, first.Load
}

// watching are files that note the first look at them.
func watching(files facts.FS, looked *atomic.Bool) facts.FS {
	w := watch{files, looked}
	if far, ok := files.(facts.Far); ok {
		return farWatch{w, far}
	}
	return w
}

// watch notes that somebody looks at files.
type watch struct {
	facts.FS
	looked *atomic.Bool
}

func (w watch) Lstat(p string) (fs.FileInfo, error) {
	w.looked.Store(true)
	return w.FS.Lstat(p)
}

func (w watch) ReadLink(p string) (string, error) {
	w.looked.Store(true)
	return w.FS.ReadLink(p)
}

func (w watch) ReadDir(p string) ([]fs.DirEntry, error) {
	w.looked.Store(true)
	return w.FS.ReadDir(p)
}

func (w watch) ReadFile(p string, limit int) ([]byte, bool, error) {
	w.looked.Store(true)
	return w.FS.ReadFile(p, limit)
}

// farWatch is watch for files far away.
type farWatch struct {
	watch
	far facts.Far
}

func (w farWatch) Walk(paths []string) map[string]facts.Node {
	w.looked.Store(true)
	return w.far.Walk(paths)
}

func (w farWatch) Until(t time.Time) facts.FS { return watching(w.far.Until(t), w.looked) }

// watchedHistory notes the first question about a file that commands can change.
type watchedHistory struct {
	facts.History
	places *places.Map
	looked *atomic.Bool
}

func (h watchedHistory) note(p string) {
	dir, _ := disk.Parent(p)
	if h.places.Permission(p) == "write" || h.places.Shared(dir) {
		h.looked.Store(true)
	}
}

func (h watchedHistory) Seen(p string) string {
	h.note(p)
	return h.History.Seen(p)
}

func (h watchedHistory) Downloaded(p string) bool {
	h.note(p)
	return h.History.Downloaded(p)
}

func (h watchedHistory) Labels(p string, below bool) []string {
	if h.note(p); below {
		h.looked.Store(true)
	}
	return h.History.Labels(p, below)
}

// likely lists the subjects of facts that a program needs: words that may be paths, where they would lie.
func likely(prog *shell.Program) []string {
	var paths []string
	add := func(w value.Word, dir shell.Dir) {
		if len(paths) < disk.MaxForeseen && w.Certainty == value.Exact && w.Text != "" && !strings.HasPrefix(w.Text, "-") {
			if p := disk.Absolute(w.Text, dir); p != "" {
				paths = append(paths, p)
			}
		}
	}
	for i := range prog.Commands {
		c := &prog.Commands[i]
		for _, w := range c.Words[min(1, len(c.Words)):] {
			add(w, c.Dir)
		}
		for _, r := range c.Redirects {
			if r.Mode != shell.RedirectDup && r.Mode != shell.RedirectHere {
				add(r.Target, c.OpenedIn(r))
			}
		}
	}
	return paths
}
