package facts

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// atlas is the compiled placeRows: for each way of naming a place a map from the text of the
// pattern, so that labelling a path costs a few lookups for each of its ancestors.
type atlas struct {
	absolute map[string][]mark // by the whole path
	home     map[string][]mark // by the path below a home directory, "" for the home itself
	name     map[string][]mark // by the last name
	pair     map[string][]mark // by the last two names
	globs    map[string][]mark // by the directory: "/dev", "~/.ssh", "**"

	secrets, secretsAtHome []string // the places of absolute and home whose labels make them credentials
}

// mark is what a pattern gives to the paths that it names.
type mark struct {
	label label
	below bool   // and to everything below them
	not   bool   // takes the label away
	glob  string // of the last name; "" for none

	head, tail string // a glob of the form head*tail is compared without a matcher
	simple     bool
}

func (m *mark) matches(base string) bool {
	if m.simple {
		return len(base) >= len(m.head)+len(m.tail) && strings.HasPrefix(base, m.head) && strings.HasSuffix(base, m.tail)
	}
	ok, err := path.Match(m.glob, base)
	return ok && err == nil
}

var atlases = sync.OnceValue(func() *atlas {
	a := &atlas{absolute: map[string][]mark{}, home: map[string][]mark{}, name: map[string][]mark{}, pair: map[string][]mark{}, globs: map[string][]mark{}}
	for _, r := range placeRows {
		for _, p := range strings.Fields(r.patterns) {
			a.add(p, mark{label: r.label})
		}
	}
	for _, r := range notPlaces {
		for _, p := range strings.Fields(r.patterns) {
			a.add(p, mark{label: r.label, not: true})
		}
	}
	a.secrets, a.secretsAtHome = secrets(a.absolute), secrets(a.home)
	return a
})

// secrets lists the places of a map whose labels are credentials, in a fixed order.
func secrets(places map[string][]mark) []string {
	var out []string
	for p, marks := range places {
		for _, m := range marks {
			if credentialLabels.has(m.label) && !m.not {
				out = append(out, p)
				break
			}
		}
	}
	slices.Sort(out)
	return out
}

func (a *atlas) add(pattern string, m mark) {
	pattern, m.below = strings.CutSuffix(pattern, "/**")
	dir, base := path.Split(pattern)
	if strings.ContainsAny(base, "*?[") && pattern != "**" {
		m.glob = base
		m.head, m.tail, _ = strings.Cut(base, "*")
		m.simple = !strings.ContainsAny(m.head+m.tail, "*?[") && strings.Contains(base, "*")
		dir = strings.TrimSuffix(dir, "/")
		a.globs[dir] = append(a.globs[dir], m)
		return
	}
	if rest, ok := strings.CutPrefix(pattern, "**/"); ok {
		if strings.Contains(rest, "/") {
			a.pair[rest] = append(a.pair[rest], m)
		} else {
			a.name[rest] = append(a.name[rest], m)
		}
		return
	}
	if rest, ok := strings.CutPrefix(pattern, "~"); ok {
		rest = strings.TrimPrefix(rest, "/")
		a.home[rest] = append(a.home[rest], m)
		return
	}
	a.absolute[pattern] = append(a.absolute[pattern], m)
}

// labels adds what the data says of an absolute clean path. home is the child's home directory.
func (a *atlas) labels(into *bitset, p, home string) {
	var gone, found bitset
	set := &found
	root := homeOf(p, home)
	for at := p; ; {
		self := len(at) == len(p)
		a.apply(set, &gone, a.absolute[at], self, "")
		dir, base := parent(at)
		if base != "" {
			a.apply(set, &gone, a.name[base], self, "")
			if i := strings.LastIndexByte(dir, '/'); i >= 0 && len(dir) > 1 {
				a.apply(set, &gone, a.pair[at[i+1:]], self, "")
			}
			a.apply(set, &gone, a.globs[dir], self, base)
			a.apply(set, &gone, a.globs["**"], self, base)
		}
		if root != "" && len(at) >= len(root) {
			rel := strings.TrimPrefix(at[len(root):], "/")
			a.apply(set, &gone, a.home[rel], self, "")
			if rel != "" && base != "" {
				a.homeGlobs(set, &gone, rel, base, self)
			}
		}
		if base == "" {
			break
		}
		at = dir
	}
	stream := found.has(labelStdDevice) || into.has(labelStdDevice) // spelled /dev/stdin, really /proc/PID/fd/0
	if rest, ok := strings.CutPrefix(p, "/proc/"); ok && !stream {
		names := strings.Split(rest, "/")
		self := names[0] == "self" || names[0] == "thread-self"
		for _, name := range names[1:] {
			if slices.Contains(processMemory, name) || !self && slices.Contains(processFiles, name) {
				found.add(labelProcessMemory)
			}
		}
	}
	into.unionWithout(found, gone)
}

// names adds the labels that depend on the last names of a path alone, wherever it lies.
func (a *atlas) names(into *bitset, p string) {
	var gone, found bitset
	set := &found
	dir, base := parent(p)
	a.apply(set, &gone, a.name[base], true, "")
	if i := strings.LastIndexByte(dir, '/'); i >= 0 && len(dir) > 1 {
		a.apply(set, &gone, a.pair[p[i+1:]], true, "")
	}
	a.apply(set, &gone, a.globs["**"], true, base)
	into.unionWithout(found, gone)
}

func (a *atlas) homeGlobs(set, gone *bitset, rel, base string, self bool) {
	dir := "~"
	if i := strings.LastIndexByte(rel, '/'); i >= 0 {
		if rel[:i] != ".ssh" {
			return // the only directory of a home with patterns for names: see TestHomeGlobs
		}
		dir = "~/.ssh"
	}
	a.apply(set, gone, a.globs[dir], self, base)
}

func (a *atlas) apply(set, gone *bitset, marks []mark, self bool, base string) {
	for i := range marks {
		m := &marks[i]
		if !self && !m.below {
			continue
		}
		if m.glob != "" {
			if !m.matches(base) {
				continue
			}
		}
		if m.not {
			gone.add(m.label)
		} else {
			set.add(m.label)
		}
	}
}

// homeOf returns the home directory in or at which p lies, "" for none.
func homeOf(p, home string) string {
	if home != "" && home != "/" && within(p, home) {
		return home
	}
	for _, h := range homeNames {
		if within(p, h) {
			return h
		}
	}
	for _, dir := range homeParents {
		if len(p) > len(dir)+1 && strings.HasPrefix(p, dir) && p[len(dir)] == '/' {
			if i := strings.IndexByte(p[len(dir)+1:], '/'); i >= 0 {
				return p[:len(dir)+1+i]
			}
			return p
		}
	}
	return ""
}

// within reports whether p is dir or lies below it. Both are absolute and clean.
func within(p, dir string) bool {
	if dir == "" || !strings.HasPrefix(p, dir) {
		return false
	}
	return len(p) == len(dir) || p[len(dir)] == '/' || dir[len(dir)-1] == '/'
}

// below reports whether p lies strictly below dir.
func below(p, dir string) bool { return len(p) > len(dir) && within(p, dir) }

// parent splits an absolute clean path; base is "" for a root.
func parent(p string) (dir, base string) {
	i := strings.LastIndexByte(p, '/')
	if i < 0 || i == len(p)-1 {
		return p, ""
	}
	if i == 0 || i == 2 && p[1] == ':' {
		return p[:i+1], p[i+1:]
	}
	return p[:i], p[i+1:]
}
