package build

import (
	"io/fs"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
)

// loss is the result of a delete.
type loss struct {
	unread   facts.Unread
	versions facts.Versions
}

func noLoss() loss {
	return loss{facts.Unread{Examples: []string{}}, facts.Versions{State: "none", Examples: []string{}}}
}

func (l *loss) note(state string) {
	if slices.Index(facts.GitStates, state) > slices.Index(facts.GitStates, l.versions.State) {
		l.versions.State = state
	}
}

// loses looks at the files that a delete would remove, except those that this text writes and those that are
// generated. Directories and links lose nothing, and neither does a file with content that git holds.
func (w *build) loses(s *spot, t call.Touch) loss {
	l := noLoss()
	file := func(p string, g *repo.Cleaning) {
		if w.written[p] || w.IsGenerated(p, false) {
			return
		}
		seen := "none"
		if w.history != nil {
			seen = w.history.Seen(p)
		}
		if seen == "created" {
			return
		}
		state := w.repos.GitState(p, g)
		if l.note(state); state == "clean" {
			return
		}
		if state != "none" {
			l.versions.Count++
			l.versions.Examples = example(l.versions.Examples, disk.Relative(s.real, p))
		}
		if seen == "none" {
			l.unread.Count++
			l.unread.Examples = example(l.unread.Examples, disk.Relative(s.real, p))
		}
	}
	whole := s.whole
	var targets []string
	for _, p := range s.targets {
		targets = append(targets, w.before(p))
		for _, m := range w.moved {
			if t.Recursive && disk.Below(m.To, p) {
				targets = append(targets, m.From)
			}
		}
	}
	for _, p := range targets {
		n := w.view.Look(p)
		if t.Filter == "" && n.Mode.IsRegular() && n.Exists {
			file(p, w.repos.Committed(p, targets, w.Shared))
			continue
		}
		if !t.Recursive || !n.Mode.IsDir() || w.IsGenerated(p, true) {
			continue
		}
		g := w.repos.Committed(p, targets, w.Shared)
		whole = w.view.Walk(p, func(at string, e fs.DirEntry) bool {
			if e.IsDir() { // a repository's own files are not read one by one: contains_git tells of them
				return e.Name() != ".git" && !w.IsGenerated(at, true)
			}
			if e.Type().IsRegular() && (t.Filter == "" || disk.MatchName(t.Filter, e.Name())) {
				file(at, g)
			}
			return false
		}) && whole
	}
	if !whole {
		l.unread.Count++ // a file that was not looked at counts as unread
		if l.versions.State != "none" {
			l.note("unknown")
			l.versions.Count++
		}
	}
	return l
}

func example(list []string, name string) []string {
	if len(list) < 3 {
		list = append(list, name)
	}
	return list
}
