// Package places classifies a path: its labels by name, and its zone and permission by the
// configuration.
package places

import (
	"path"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
)

// Map is the places of one configuration, each under its lexical and its real path.
type Map struct {
	Layout    facts.Layout
	Files     facts.FS
	Workspace []string // lexical and real
	Home      []string
	zones     []zone
	Roots     []grant
	Protected []string
	Self      []facts.Place
	Secrets   []string          // places of credentials under their well-known names
	known     map[string]bool   // what lies at, above and on the way to a granted root
	Folds     *disk.Spellings   // nil where names that differ in case are different files
	names     map[string]string // where folds is there: how names of known places are spelled, by their lower case
}

// ViewOf begins a look at the file system.
func (m *Map) ViewOf(files facts.FS, steps int) *disk.View {
	v := disk.NewView(files, steps)
	v.Folds = m.Folds.Again(files)
	return v
}

// grant is a root under one of its spellings.
type grant struct {
	Path string
	root *facts.Root
	wide bool // it holds far more than the work at hand: "/", a system directory, a home
}

// NewMap looks up every place of a layout once, so that it is known under its real path, too.
func NewMap(l facts.Layout, files facts.FS) *Map {
	m := &Map{Layout: l, Files: files}
	m.Folds = disk.NewSpellings(files, l.Workspace, l.Home)
	v := m.ViewOf(files, 0)
	spellings := func(p string) []string {
		if p == "" {
			return nil
		}
		lexical := disk.Clean(p)
		if real, _ := v.Real(lexical, false); real != lexical {
			return []string{lexical, real}
		}
		return []string{lexical}
	}
	m.known = m.waysTo(l.Roots)
	for i := range l.Roots {
		r := &l.Roots[i]
		for _, s := range spellings(r.Path) {
			m.Roots = append(m.Roots, grant{s, r, m.isWide(s, r)})
		}
		for _, p := range r.Protected {
			m.Protected = append(m.Protected, spellings(p)...)
		}
	}
	m.zones = zonesOf(l, spellings)
	for _, p := range l.Self {
		for _, s := range spellings(p.Path) {
			m.Self = append(m.Self, facts.Place{Path: s, Label: p.Label})
		}
	}
	m.Workspace, m.Home = spellings(l.Workspace), spellings(l.Home)
	m.Secrets = slices.Clone(Atlases().secrets)
	for _, home := range m.Home {
		for _, rel := range Atlases().secretsAtHome {
			m.Secrets = append(m.Secrets, disk.Join(home, rel))
		}
	}
	if m.Folds != nil {
		m.names = m.foldable()
	}
	// Deepest first.
	slices.SortStableFunc(m.Roots, func(x, y grant) int { return len(y.Path) - len(x.Path) })
	return m
}

// WorkDir makes the asked working directory absolute. Whether it is there and granted is a fact.
func (m *Map) WorkDir(asked string) string {
	switch {
	case asked == "":
		return m.Layout.Workspace
	case disk.IsAbs(asked):
		return disk.Clean(asked)
	default:
		return path.Join(m.Layout.Workspace, asked)
	}
}

// HomeDir is the home directory, "" for none.
func (m *Map) HomeDir() string {
	if len(m.Home) == 0 {
		return ""
	}
	return m.Home[0]
}
