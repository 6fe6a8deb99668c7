package facts

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
)

// zone is a place with the zone that it and what lies below it is in.
type zone struct{ path, name string }

// zonesOf are the zones of a layout, the deepest first; of equal places the one that was added last: a root
// beats the system's view of it.
func zonesOf(l Layout, spellings func(string) []string) (zones []zone) {
	add := func(name string, places ...string) {
		for _, p := range places {
			zones = append(zones, zone{p, name})
		}
	}
	add("system", systemDirs...)
	add("home", homeParents...)
	add("home", homeNames...)
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

// permission returns what the deepest root around a real path grants.
func (b *Builder) permission(real string) string {
	if real == "" {
		return "none"
	}
	for _, g := range b.roots {
		if !within(real, g.path) || g.root.File && real != g.path {
			continue
		}
		if g.root.Write && !b.isProtected(real) {
			return "write"
		}
		return "read"
	}
	return "none"
}

func (b *Builder) isProtected(p string) bool {
	return slices.ContainsFunc(b.protected, func(dir string) bool { return within(p, dir) })
}

// outside reports whether a path that is spelled below a root leads out of it by a symbolic link.
func (b *Builder) outside(lexical, real string) bool {
	for _, g := range b.roots {
		if !within(lexical, g.path) {
			continue
		}
		for _, other := range b.roots {
			if other.root == g.root && within(real, other.path) {
				return false
			}
		}
		return true
	}
	return false
}

// zoneOf returns the zone of a path with the given labels: self, credential and protected come
// before the deepest place around its real path.
func (b *Builder) zoneOf(lexical, real string, labels bitset) string {
	switch {
	case labels.meets(selfLabels):
		return "self"
	case labels.meets(credentialLabels):
		return "credential"
	case labels.has(labelProtected):
		return "protected"
	}
	p := real
	if p == "" {
		p = lexical
	}
	home := homeOf(p, b.homeDir())
	for _, z := range b.zones {
		if !within(p, z.path) || z.path == "/" && z.name == "system" && p != "/" {
			continue // "/" itself is the system's; an unknown directory in it is nobody's
		}
		if len(home) > len(z.path) {
			return "home"
		}
		return z.name
	}
	return "outside"
}

// shared reports whether a directory is one of the temporary places, where anybody may put files.
func (b *Builder) shared(dir string) bool { return b.zoneOf(dir, "", bitset{}) == "temporary" }

// wideLabels are those of directories that nobody works in as a whole.
var wideLabels = setOf(labelRoot, labelTopLevel, labelHomeRoot)

func (b *Builder) isWide(p string, r *Root) bool {
	var labels bitset
	atlases().labels(&labels, p, b.layout.Home)
	return r.Zone == "context" && labels.meets(wideLabels)
}

// widelyGranted reports whether the nearest root that grants a place is a wide one.
func (b *Builder) widelyGranted(p string) bool {
	for _, g := range b.roots {
		if within(p, g.path) {
			return g.wide
		}
	}
	return false
}

var selfLabels = setOf(labelSelfBinary, labelSelfConfig, labelSelfPolicy, labelSelfAudit, labelSelfKey)

// own adds the labels that come from the layout.
func (b *Builder) own(set *bitset, p string) {
	for _, s := range b.self {
		if within(p, s.Path) {
			for _, l := range []label{labelSelfBinary, labelSelfConfig, labelSelfPolicy, labelSelfAudit, labelSelfKey} {
				if labelNames[l] == s.Label {
					set.add(l)
				}
			}
		}
	}
	if b.isProtected(p) {
		set.add(labelProtected)
	}
	if b.isCritical(p) {
		set.add(labelCriticalName)
	}
	for _, ws := range b.workspace {
		if within(ws, p) {
			set.add(labelWorkspaceRoot)
		}
	}
	for _, g := range b.roots {
		if within(g.path, p) {
			set.add(labelPermissionRoot)
		}
	}
	if slices.Contains(b.home, p) {
		set.add(labelHomeRoot)
	}
}

// granted shows the files that some root grants. It is for reading names before anything is decided,
// so that no answer, not even a refusal, depends on what lies elsewhere.
type granted struct{ b *Builder }

// Granted returns a view of the environment's files that shows the granted roots and what is below
// them. Links are followed as long as they stay there; all else is fs.ErrPermission.
func (b *Builder) Granted() FS { return granted{b} }

// real returns where a path leads, if that is granted. With ofLink a last link is not followed.
func (g granted) real(op, p string, ofLink bool) (string, error) {
	real, _ := g.b.viewOf(fenced{g.b.fs, g.b}, 0).real(g.b.workDir(p), ofLink)
	if g.b.permission(real) == "none" {
		return "", &fs.PathError{Op: op, Path: p, Err: fs.ErrPermission}
	}
	return real, nil
}

func (g granted) Lstat(p string) (fs.FileInfo, error) {
	real, err := g.real("look at", p, true)
	if err != nil {
		return nil, err
	}
	return g.b.fs.Lstat(real)
}

func (g granted) ReadLink(p string) (string, error) {
	real, err := g.real("read link", p, true)
	if err != nil {
		return "", err
	}
	return g.b.fs.ReadLink(real)
}

func (g granted) ReadDir(p string) ([]fs.DirEntry, error) {
	real, err := g.real("list", p, false)
	if err != nil {
		return nil, err
	}
	return g.b.fs.ReadDir(real)
}

func (g granted) ReadFile(p string, limit int) ([]byte, bool, error) {
	if _, err := g.real("read", p, false); err != nil {
		return nil, false, err
	}
	return nil, false, fmt.Errorf("read %s: contents are not shown before a decision: %w", p, fs.ErrPermission)
}

// fenced hides all but granted places and the ways to them, so that a link that passes through some
// other place says nothing about it.
type fenced struct {
	FS
	b *Builder
}

func (f fenced) Lstat(p string) (fs.FileInfo, error) {
	if !f.b.known[p] && f.b.permission(p) == "none" {
		return nil, &fs.PathError{Op: "look at", Path: p, Err: fs.ErrPermission}
	}
	return f.FS.Lstat(p)
}

// waysTo returns every path that has to be looked at to get to some root.
func (b *Builder) waysTo(roots []Root) map[string]bool {
	known := map[string]bool{}
	for i := range roots {
		v := b.viewOf(b.fs, 0)
		v.real(clean(roots[i].Path), false)
		for p := range maps.Keys(v.nodes) {
			known[p] = true
		}
	}
	return known
}
