package places

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/obeyed"
)

// CriticalNames belong to a project and are no part of its files: its history, its secrets, the state
// of the agents that work in it. Files that tools make again by themselves (caches, build output, installed
// packages) is none of them.
var CriticalNames = []string{".git", ".hg", ".svn", ".env", ".massgen", "massgen_logs"}

// isCritical reports whether a real path has such a name, or the one of an environment file, below its
// granted root: a workspace that lies in somebody's .massgen is an ordinary one.
func (m *Map) isCritical(p string) bool {
	root := m.rootOf(p)
	if root == "" {
		return false
	}
	rest := strings.TrimPrefix(p[len(root):], "/")
	for name := range strings.SplitSeq(rest, "/") {
		if slices.Contains(CriticalNames, name) {
			return !m.IsGenerated(p, false)
		}
	}
	return isEnvFile(p) && !m.IsGenerated(p, false)
}

// Secret reports a path whose name makes it a file of credentials, or an environment file.
func Secret(p string) bool {
	var names term.Set
	Atlases().Names(&names, p)
	return names.Has(term.LabelEnvFile) || names.Meets(CredentialLabels)
}

func isEnvFile(p string) bool {
	var names term.Set
	Atlases().Names(&names, p)
	return names.Has(term.LabelEnvFile)
}

// rootOf returns the deepest granted root that a path lies below, "" for none.
func (m *Map) rootOf(p string) string {
	for _, g := range m.Roots {
		if disk.Below(p, g.Path) {
			return g.Path
		}
	}
	return ""
}

// Folded spells a path that is not there as the place that it would be taken for: where case does not
// matter, a new .BASHRC is read by every shell.
func (m *Map) Folded(p string) string {
	if m.Folds == nil {
		return p
	}
	names := strings.Split(p, "/")
	for i, name := range names {
		if known, ok := m.names[strings.ToLower(name)]; ok {
			names[i] = known
		}
	}
	return strings.Join(names, "/")
}

// foldable are the names of the places that the builder knows, by their lower case. Of two that differ
// in case only, the last stands for both.
func (m *Map) foldable() map[string]string {
	names := map[string]string{}
	add := func(p string) {
		for name := range strings.SplitSeq(p, "/") {
			if name != "" && !strings.ContainsAny(name, "*?[~") {
				names[strings.ToLower(name)] = name
			}
		}
	}
	for _, r := range placeRows() {
		for _, p := range r.patterns {
			add(p)
		}
	}
	for _, g := range obeyed.Groups() {
		for _, f := range g.Files {
			for p := range strings.FieldsSeq(f.Patterns) {
				add(p)
			}
		}
	}
	for _, p := range slices.Concat(CriticalNames, m.Protected) {
		add(p)
	}
	for _, p := range m.Self {
		add(p.Path)
	}
	return names
}

// IsGenerated matches a real path with the operator's patterns. Only the names below the deepest
// root around it count, so that a checkout below a directory called "build" is not generated as a
// whole. A pattern is matched (path.Match) with every name of the path, so that what lies below a
// matching directory is generated, too; one that ends in "/" only with directories; one that holds
// another "/" with the path relative to the root and all that lies below it.
func (m *Map) IsGenerated(p string, dir bool) bool {
	root := m.rootOf(p)
	if root == "" {
		return false
	}
	names := strings.Split(strings.TrimPrefix(p[len(root):], "/"), "/")
	for _, pattern := range m.Layout.Generated {
		bare, dirsOnly := strings.CutSuffix(pattern, "/")
		for i, name := range names {
			if dirsOnly && i == len(names)-1 && !dir {
				continue
			}
			if strings.Contains(bare, "/") {
				name = strings.Join(names[:i+1], "/")
			}
			if ok, err := path.Match(strings.TrimPrefix(bare, "/"), name); err == nil && ok {
				return true
			}
		}
	}
	return false
}
