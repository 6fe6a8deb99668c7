package docker

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/mounts"
)

// view is the part of this machine that a container shows.
type view struct {
	binds     []mounts.Mount // in the order in which they are made
	workspace mounts.Mount
	roots     []facts.Root // at their real paths
	guarded   mounts.Protection
}

// view plans the mounts of this machine's files: the granted places at the same paths, then the protected
// places on top of them, then the operator's own mounts.
func (o Options) view(e *Engine, l facts.Layout) (view, error) {
	guard := o.guard(e, l)
	places, err := mounts.Resolve(l.Roots)
	if err != nil {
		return view{}, err
	}
	for _, r := range l.Roots {
		if err := refuse(guard, r.Path, places[r.Path].Path, r.Write); err != nil {
			return view{}, err
		}
	}
	v := view{}
	at := map[string]mounts.Mount{}
	for _, r := range l.Roots {
		at[r.Path] = mounts.Mount{Source: places[r.Path].Path, Target: r.Path, Write: r.Write}
	}
	if err := o.protect(&v, at, l, places); err != nil {
		return view{}, err
	}
	if err := o.additional(at, guard); err != nil {
		return view{}, err
	}
	v.workspace = at[l.Workspace]
	for _, target := range slices.Sorted(maps.Keys(at)) { // an outer target comes before an inner one
		if err := free(target); err != nil {
			return view{}, err
		}
		if m := at[target]; !utf8.ValidString(m.Source + m.Target) {
			// The engine's protocol would turn the name into that of another file.
			return view{}, fmt.Errorf("mount %q: its name is not UTF-8, and the engine takes no other: rename it",
				m.Source)
		}
		v.binds = append(v.binds, at[target])
	}
	return v, nil
}

// protect mounts the protected places within granted ones on themselves: read-only, or only so that they
// cannot be renamed.
func (o Options) protect(v *view, at map[string]mounts.Mount, l facts.Layout,
	places map[string]mounts.Place) error {
	self := slices.Concat(l.Self, []facts.Place{{Path: o.State}, {Path: o.Supervisor}})
	self = slices.DeleteFunc(self, func(p facts.Place) bool { return p.Path == "" })
	var err error
	v.roots = moved(l.Roots, places)
	if v.guarded, err = mounts.Protect(v.roots, l.Home, self); err != nil {
		return err
	}
	for _, g := range v.guarded.Guarded {
		for _, r := range l.Roots { // one place may be granted by more than one path
			real := places[r.Path].Path
			rest, below := strings.CutPrefix(g.Path, strings.TrimSuffix(real, "/")+"/")
			if !below || !r.Write {
				continue
			}
			target := path.Join(r.Path, rest)
			if _, granted := at[target]; !granted {
				at[target] = mounts.Mount{Source: g.Path, Target: target, Write: g.Write}
			}
		}
	}
	return nil
}

// moved returns roots at their real paths, with the protected places in them.
func moved(roots []facts.Root, places map[string]mounts.Place) []facts.Root {
	out := slices.Clone(roots)
	for i, r := range roots {
		out[i].Path, out[i].Protected = places[r.Path].Path, nil
		for _, p := range r.Protected {
			if rest, below := strings.CutPrefix(p, strings.TrimSuffix(r.Path, "/")+"/"); below {
				p = filepath.Join(out[i].Path, rest)
			}
			out[i].Protected = append(out[i].Protected, p)
		}
	}
	return out
}

// additional adds the mounts that the operator names one by one.
func (o Options) additional(at map[string]mounts.Mount, guard mounts.Guard) error {
	for _, m := range o.Mounts {
		target, source := path.Clean(m.Target), real(m.Source)
		if !m.Given {
			if err := refuse(guard, m.Source, source, m.Write); err != nil {
				return fmt.Errorf("docker.mounts: %w", err)
			}
		}
		if _, taken := at[target]; taken {
			return fmt.Errorf("docker.mounts: %s is mounted already: remove one of the two", target)
		}
		if missing := missingIn(at, target); missing != "" {
			return fmt.Errorf(
				"docker.mounts: mount at %s: %s does not exist, and the engine would make it, as root's: create it, or "+
					"choose a place that is not granted", target, missing)
		}
		at[target] = mounts.Mount{Source: source, Target: target, Write: m.Write}
	}
	return nil
}

// missingIn returns the place of this machine under a mount target, if it lies in a place that is shown
// already and does not exist.
func missingIn(at map[string]mounts.Mount, target string) string {
	for dir := path.Dir(target); dir != "/"; dir = path.Dir(dir) {
		around, ok := at[dir]
		if !ok {
			continue
		}
		if place := filepath.Join(around.Source, strings.TrimPrefix(target, dir)); !exists(place) {
			return place
		}
		return ""
	}
	return ""
}

// guard knows the places of this machine that must not be shown.
func (o Options) guard(e *Engine, l facts.Layout) mounts.Guard {
	g := mounts.Guard{Home: o.Home, Own: []string{o.State}}
	if socket, ok := strings.CutPrefix(e.at.host, "unix://"); ok {
		g.Sockets = []string{socket, real(socket)}
	}
	for _, own := range l.Self {
		if slices.Contains([]string{"self_audit", "self_key", "self_socket"}, own.Label) {
			g.Own = append(g.Own, own.Path)
		}
	}
	return g
}

// refuse asks the guard about a place as it is written and as it is.
func refuse(g mounts.Guard, place, real string, write bool) error {
	if err := g.Refuse(place, write); err != nil {
		return err
	}
	return g.Refuse(real, write)
}

// real resolves the links of a path that the operator wrote, as far as it exists.
func real(place string) string {
	if r, err := filepath.EvalSymlinks(place); err == nil {
		return r
	}
	return place
}

// free refuses targets that would hide places that every container needs.
func free(target string) error {
	own := path.Dir(program)
	needed := target == "/" || target == own || strings.HasPrefix(target, own+"/")
	for _, dir := range []string{"/proc", "/sys", "/dev"} {
		needed = needed || target == dir || strings.HasPrefix(target, dir+"/")
	}
	if needed || slices.Contains([]string{"/bin", "/sbin", "/lib", "/lib64", "/usr", "/etc", "/run", "/usr/bin",
		"/usr/lib", home}, target) {
		return fmt.Errorf("mount at %s: the container needs that place for itself: choose another", target)
	}
	return nil
}
