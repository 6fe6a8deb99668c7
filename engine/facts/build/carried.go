package build

import (
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// operatorLabels are the operator's labels of the files that a touch reaches: by their places, and as copies.
func (w *build) operatorLabels(s *spot, t call.Touch) []string {
	found := []string{}
	reached := append([]string{s.path, s.real}, s.targets...)
	all := t.Recursive || s.certainty != value.Exact || s.glob && !s.whole
	for _, p := range reached {
		if p == "" || t.Filter != "" && !all {
			continue
		}
		for name := range w.carried {
			if disk.Within(p, name) || all && disk.Within(name, p) {
				found = append(found, w.carried[name]...)
			}
		}
		if w.history != nil {
			found = append(found, w.history.Labels(p, all)...)
		}
		for _, l := range w.Layout.Labels {
			matches := func(pattern string) bool { return w.labels(pattern, p, t, all) }
			if slices.ContainsFunc(l.Patterns, matches) {
				found = append(found, l.Name)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// labels reports whether a pattern matches a path or a directory around it, or with all something below it.
func (w *build) labels(pattern, p string, t call.Touch, all bool) bool {
	names := strings.Split(strings.Trim(pattern, "/"), "/")
	split := func(p string) []string { return strings.FieldsFunc(p, func(r rune) bool { return r == '/' }) }
	if covers(names, split(p)) {
		return true
	}
	if !all || !approaches(names, split(p)) {
		return false
	}
	hit := false
	whole := w.view.Walk(p, func(at string, e fs.DirEntry) bool {
		hit = hit || covers(names, split(at)) && (e.IsDir() || t.Filter == "" || disk.MatchName(t.Filter, e.Name()))
		return !hit
	})
	return hit || !whole
}

// covers reports whether a pattern matches a path or a directory around it.
func covers(pattern, names []string) bool {
	switch {
	case len(pattern) == 0:
		return true
	case pattern[0] == "**":
		for i := range len(names) + 1 {
			if covers(pattern[1:], names[i:]) {
				return true
			}
		}
		return false
	case len(names) == 0:
		return false
	}
	return disk.MatchName(pattern[0], names[0]) && covers(pattern[1:], names[1:])
}

// approaches reports whether something below a path may match a pattern.
func approaches(pattern, names []string) bool {
	if len(pattern) == 0 || len(names) == 0 || pattern[0] == "**" {
		return true
	}
	return disk.MatchName(pattern[0], names[0]) && approaches(pattern[1:], names[1:])
}
