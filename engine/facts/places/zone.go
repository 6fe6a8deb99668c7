package places

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

// zone is a place with the zone that it and what lies below it is in.
type zone struct{ path, name string }

// zonesOf are the zones of a layout, the deepest first; of equal places the one that was added last: a root
// beats the system's view of it.
func zonesOf(l facts.Layout, spellings func(string) []string) (zones []zone) {
	add := func(name string, places ...string) {
		for _, p := range places {
			zones = append(zones, zone{p, name})
		}
	}
	add("system", systemDirs...)
	add("home", HomeParents...)
	add("home", HomeNames...)
	add("home", spellings(l.Home)...)
	for _, dir := range l.Temporary {
		add("temporary", spellings(dir)...)
	}
	add("temporary", spellings("/dev/shm")...) // memory that everybody may write to, whatever the operator lists
	for _, r := range l.Roots {
		add(r.Zone, spellings(r.Path)...)
	}
	add("workspace", spellings(l.Workspace)...)
	slices.Reverse(zones)
	slices.SortStableFunc(zones, func(x, y zone) int { return len(y.path) - len(x.path) })
	return zones
}

// Permission returns the grant of the deepest root around a real path.
func (m *Map) Permission(real string) string {
	if real == "" {
		return "none"
	}
	for _, g := range m.Roots {
		if !disk.Within(real, g.Path) || g.root.File && real != g.Path {
			continue
		}
		if g.root.Write && !m.IsProtected(real) {
			return "write"
		}
		return "read"
	}
	return "none"
}

// IsProtected reports a place that stays read-only.
func (m *Map) IsProtected(p string) bool {
	return slices.ContainsFunc(m.Protected, func(dir string) bool { return disk.Within(p, dir) })
}

// Outside reports whether a path that is spelled below a root leads out of it by a symbolic link.
func (m *Map) Outside(lexical, real string) bool {
	for _, g := range m.Roots {
		if !disk.Within(lexical, g.Path) {
			continue
		}
		for _, other := range m.Roots {
			if other.root == g.root && disk.Within(real, other.Path) {
				return false
			}
		}
		return true
	}
	return false
}

// ZoneOf returns the zone of a path with the given labels: self, credential and protected come
// before the deepest place around its real path.
func (m *Map) ZoneOf(lexical, real string, labels term.Set) string {
	switch {
	case labels.Meets(selfLabels):
		return "self"
	case labels.Meets(CredentialLabels):
		return "credential"
	case labels.Has(term.LabelProtected):
		return "protected"
	}
	p := real
	if p == "" {
		p = lexical
	}
	home := homeOf(p, m.HomeDir())
	for _, z := range m.zones {
		if !disk.Within(p, z.path) || z.path == "/" && z.name == "system" && p != "/" {
			continue // "/" itself is the system's; an unknown directory in it is nobody's
		}
		if len(home) > len(z.path) {
			return "home"
		}
		return z.name
	}
	return "outside"
}

// Shared reports whether a directory is one of the temporary places, where anybody may put files.
func (m *Map) Shared(dir string) bool { return m.ZoneOf(dir, "", term.Set{}) == "temporary" }

// wideLabels are those of directories that nobody works in as a whole.
var wideLabels = term.SetOf(term.LabelRoot, term.LabelTopLevel, term.LabelHomeRoot)

func (m *Map) isWide(p string, r *facts.Root) bool {
	var labels term.Set
	Atlases().Labels(&labels, p, m.Layout.Home)
	return r.Zone == "context" && labels.Meets(wideLabels)
}

// WidelyGranted reports whether the nearest root that grants a place is a wide one.
func (m *Map) WidelyGranted(p string) bool {
	for _, g := range m.Roots {
		if disk.Within(p, g.Path) {
			return g.wide
		}
	}
	return false
}

var ownLabels = []term.Label{
	term.LabelSelfBinary, term.LabelSelfConfig, term.LabelSelfPolicy, term.LabelSelfAudit, term.LabelSelfKey,
	term.LabelSelfSocket,
}

var selfLabels = term.SetOf(ownLabels...)

// Own adds the labels that come from the layout.
func (m *Map) Own(set *term.Set, p string) {
	for _, s := range m.Self {
		if disk.Within(p, s.Path) {
			for _, l := range ownLabels {
				if term.LabelNames[l] == s.Label {
					set.Add(l)
				}
			}
		}
	}
	if m.IsProtected(p) {
		set.Add(term.LabelProtected)
	}
	if m.isCritical(p) {
		set.Add(term.LabelCriticalName)
	}
	for _, ws := range m.Workspace {
		if disk.Within(ws, p) {
			set.Add(term.LabelWorkspaceRoot)
		}
	}
	for _, g := range m.Roots {
		if disk.Within(g.Path, p) {
			set.Add(term.LabelPermissionRoot)
		}
	}
	if slices.Contains(m.Home, p) {
		set.Add(term.LabelHomeRoot)
	}
}

// granted shows the files that some root grants. It is for reading names before anything is decided,
// so that no answer, not even a refusal, depends on what lies elsewhere.
type granted struct{ m *Map }

// Granted returns a view of the environment's files that shows the granted roots and what is below
// them. Links are followed as long as they stay there; all else is fs.ErrPermission.
func (m *Map) Granted() facts.FS { return granted{m} }

// real returns where a path leads, if that is granted. With ofLink a last link is not followed.
func (g granted) real(op, p string, ofLink bool) (string, error) {
	real, _ := g.m.ViewOf(fenced{g.m.Files, g.m}, 0).Real(g.m.WorkDir(p), ofLink)
	if g.m.Permission(real) == "none" {
		return "", &fs.PathError{Op: op, Path: p, Err: fs.ErrPermission}
	}
	return real, nil
}

func (g granted) Lstat(p string) (fs.FileInfo, error) {
	real, err := g.real("look at", p, true)
	if err != nil {
		return nil, err
	}
	return g.m.Files.Lstat(real)
}

func (g granted) ReadLink(p string) (string, error) {
	real, err := g.real("read link", p, true)
	if err != nil {
		return "", err
	}
	return g.m.Files.ReadLink(real)
}

func (g granted) ReadDir(p string) ([]fs.DirEntry, error) {
	real, err := g.real("list", p, false)
	if err != nil {
		return nil, err
	}
	return g.m.Files.ReadDir(real)
}

// ReadFile shows ignore files alone: they say which files a search names.
func (g granted) ReadFile(p string, limit int) ([]byte, bool, error) {
	real, err := g.real("read", p, false)
	if err != nil {
		return nil, false, err
	}
	if slices.Contains(repo.IgnoreFiles, path.Base(real)) {
		return g.m.Files.ReadFile(real, limit)
	}
	return nil, false, fmt.Errorf("read %s: contents are not shown before a decision: %w", p, fs.ErrPermission)
}

// fenced hides all but granted places and the ways to them, so that a link that passes through some
// other place says nothing about it.
type fenced struct {
	facts.FS
	m *Map
}

func (f fenced) Lstat(p string) (fs.FileInfo, error) {
	if !f.m.known[p] && f.m.Permission(p) == "none" {
		return nil, &fs.PathError{Op: "look at", Path: p, Err: fs.ErrPermission}
	}
	return f.FS.Lstat(p)
}

// waysTo returns every path that has to be looked at to get to some root.
func (m *Map) waysTo(roots []facts.Root) map[string]bool {
	known := map[string]bool{}
	for i := range roots {
		v := m.ViewOf(m.Files, 0)
		v.Real(disk.Clean(roots[i].Path), false)
		for p := range maps.Keys(v.Nodes) {
			known[p] = true
		}
	}
	return known
}
