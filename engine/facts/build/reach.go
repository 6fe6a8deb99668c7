package build

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

// maxMatches is how many matches of a glob are looked at one by one.
const maxMatches = 200

// expand finds the matches of a glob below the spot's directory.
func (w *build) expand(s *spot, rest string, ofLink bool) {
	names := strings.Split(strings.Trim(rest, "/"), "/")
	s.all = true
	for _, name := range names {
		s.all = s.all && disk.IsEverything(name)
	}
	found := []string{s.real}
	for i, name := range names {
		here := found
		if found = w.matches(s, found, name); name == "**" && w.globstar && i < len(names)-1 {
			found = append(here, w.directories(s, here)...)
		}
	}
	s.targets = found
	s.node = disk.Node{Exists: len(found) > 0}
	w.labelBoth(s, disk.Join(s.path, rest), disk.Join(s.real, rest))
	if s.all {
		s.labels.Add(term.LabelWildcardAll)
		w.labelBoth(s, s.path, s.real)
	}
	for i, p := range found {
		real, n := w.view.Real(p, ofLink)
		found[i] = real
		w.labelBoth(s, p, real)
		if w.fetched[real] || w.history != nil && w.history.Downloaded(real) {
			s.labels.Add(term.LabelDownloaded)
		}
		if w.Outside(p, real) {
			s.labels.Add(term.LabelSymlinkOut)
		}
		if i == 0 {
			s.node = n
		} else if s.node.Mode.Type() != n.Mode.Type() {
			s.node = disk.Node{Exists: true, Mode: fs.ModeIrregular}
		}
	}
}

// directories lists the directories below others, as ** does.
func (w *build) directories(s *spot, dirs []string) (out []string) {
	for _, dir := range dirs {
		s.whole = w.view.Walk(dir, func(at string, e fs.DirEntry) bool {
			if strings.HasPrefix(e.Name(), ".") && !s.hidden || len(out) == maxMatches {
				return false
			}
			if e.IsDir() {
				out = append(out, at)
			}
			return true
		}) && s.whole && len(out) < maxMatches
	}
	return out
}

func (w *build) matches(s *spot, dirs []string, pattern string) []string {
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	var out []string
	for _, dir := range dirs {
		if !strings.ContainsAny(pattern, "*?[") {
			if p, n := w.view.Real(disk.Join(dir, pattern), true); n.Exists && !slices.Contains(out, p) {
				out = append(out, p)
			}
			continue
		}
		entries, whole := w.view.List(dir)
		s.whole = s.whole && whole
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(pattern, ".") && !s.hidden {
				continue
			}
			if ok, err := path.Match(pattern, e.Name()); err != nil || !ok {
				continue
			}
			if len(out) == maxMatches {
				s.whole = false
				return out
			}
			out = append(out, disk.Join(dir, e.Name()))
		}
	}
	return out
}

// reach adds the entries below a recursive access; with shows, the credentials there are left to exposes.
func (w *build) reach(set *term.Set, s *spot, t call.Touch, shows bool) {
	targets := s.targets
	if s.glob && !s.whole {
		targets = append([]string{s.real}, targets...) // too many matches: it may be any of them
	}
	for _, p := range targets {
		if t.Filter == "" {
			w.containsPlaces(set, p)
			if !shows || !t.Sieve.Chooses() {
				w.containsSecrets(set, p, t.Sieve)
			}
		}
		w.view.Walk(p, func(at string, e fs.DirEntry) bool {
			if t.Filter != "" && !disk.MatchName(t.Filter, e.Name()) {
				return true
			}
			if e.Name() == ".git" && !slices.Contains(w.own, at) {
				set.Add(term.LabelContainsGit)
			}
			var names term.Set
			places.Atlases().Names(&names, at)
			if names.Meets(places.CredentialLabels) && !shows {
				set.Add(term.LabelContainsCredential)
			}
			if (slices.Contains(places.CriticalNames, e.Name()) || names.Has(term.LabelEnvFile)) &&
				w.keeps(at, e.IsDir()) {
				set.Add(term.LabelContainsCriticalName)
			}
			return e.Name() != ".git"
		})
	}
}

// keeps reports whether something with a critical name is neither generated nor the session's own work.
func (w *build) keeps(p string, dir bool) bool {
	return !w.IsGenerated(p, dir) && (w.history == nil || w.history.Seen(p) != "created")
}

// containsPlaces compares a directory with the places of the layout, which need no look.
func (w *build) containsPlaces(set *term.Set, p string) {
	contains := func(l term.Label, places ...string) {
		for _, q := range places {
			if disk.Below(q, p) {
				set.Add(l)
			}
		}
	}
	contains(term.LabelContainsWorkspace, w.Workspace...)
	contains(term.LabelContainsProtected, w.Protected...)
	contains(term.LabelContainsHome, w.Home...)
	for _, q := range slices.Concat(places.HomeParents, places.HomeNames) {
		if disk.Below(q, p) && w.view.Look(q).Exists {
			set.Add(term.LabelContainsHome)
		}
	}
	for _, g := range w.Roots {
		contains(term.LabelContainsPermissionRoot, g.Path)
	}
	for _, self := range w.Self {
		contains(term.LabelContainsSelf, self.Path)
	}
	for _, ws := range w.Workspace {
		if git := disk.Join(ws, ".git"); disk.Below(git, p) && w.view.Look(git).Exists {
			set.Add(term.LabelContainsGit)
		}
	}
}

// containsSecrets compares a directory with the places of credentials that have well-known names.
func (w *build) containsSecrets(set *term.Set, p string, s *call.Sieve) {
	for _, q := range w.Secrets {
		if disk.Below(q, p) && s.Deep(q, p) && w.view.Look(q).Exists {
			set.Add(term.LabelContainsCredential)
			break
		}
	}
}

// generated reports whether all that a spot names is generated.
func (w *build) generated(s *spot) bool {
	if len(s.targets) == 0 || !s.whole {
		return false
	}
	for _, p := range s.targets {
		if !w.IsGenerated(p, w.view.Look(p).Mode.IsDir()) {
			return false
		}
	}
	return true
}

// readMost is how many directory entries one Build may read to find out whether credentials lie below
// the places that are read as a whole.
const readMost = 40000

// mayReach reports whether a file of credentials that was not looked at may pass, by names that such files
// have.
func (w *build) mayReach(t call.Touch) bool {
	return slices.ContainsFunc(commands.Words("secret-names"), func(name string) bool {
		return (t.Filter == "" || disk.MatchName(t.Filter, name)) && w.reaches(t.Sieve, "/"+name, "", "")
	})
}

// reaches reports whether a file below root, which the text spells as spelled, passes.
func (w *build) reaches(s *call.Sieve, at, root, spelled string) bool {
	if s == nil {
		return true
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(at, root), "/")
	named, chosen, decided := false, false, false
	for _, r := range s.Rules {
		named = named || r.In
		if r.Matches(disk.Join(spelled, rel), path.Base(at)) {
			chosen, decided = r.In, true
		}
	}
	if !decided && named && !s.Open || decided && !chosen {
		return false
	}
	if !s.Deep(at, root) {
		return false
	}
	if s.Visible && !chosen && (strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.")) {
		return false
	}
	if !s.Ignores && !s.Tracked || chosen && !s.Tracked {
		return true
	}
	dir, _ := disk.Parent(at)
	g := repo.Cleaning{F: w.repos}
	if !g.Open(dir) {
		return true
	}
	if s.Tracked && g.Tracked != nil {
		_, ok := g.Tracked[at]
		return ok
	}
	return !s.Ignores || !g.Rules.Match(g.Parts(at), false)
}

// exposes labels a place that is read as a whole by the credentials that the read reaches. What tools
// make and install by themselves is not looked through, unless the place is itself of that kind.
func (w *build) exposes(set *term.Set, p, spelled string, t call.Touch) {
	budget := w.view.Steps
	w.view.Steps = w.exposed
	if w.ZoneOf(p, p, term.Set{}) == "system" {
		w.view.Steps = min(w.exposed, readSteps) // credentials there have known names
	}
	given := w.view.Steps
	output := w.IsGenerated(p, true)
	whole := w.view.Walk(p, func(at string, e fs.DirEntry) bool {
		if set.Has(term.LabelContainsCredential) {
			return false
		}
		var names term.Set
		places.Atlases().Names(&names, at)
		secret := names.Meets(places.CredentialLabels) || names.Has(term.LabelEnvFile)
		if secret && !e.IsDir() && !w.made(at) &&
			(t.Filter == "" || disk.MatchName(t.Filter, e.Name())) && w.reaches(t.Sieve, at, p, spelled) {
			set.Add(term.LabelContainsCredential)
		}
		return e.IsDir() && e.Name() != ".git" && (output || !w.IsGenerated(at, true)) &&
			t.Sieve.Enters(at, p, spelled)
	})
	w.exposed, w.view.Steps = w.exposed-given+max(0, w.view.Steps), budget
	if !whole && !output && !set.Has(term.LabelContainsCredential) && w.mayReach(t) {
		set.Add(term.LabelContainsUnseen)
	}
}

// made reports whether the session or this text has made a file.
func (w *build) made(p string) bool {
	return w.written[p] || w.history != nil && w.history.Seen(p) == "created"
}

// exposesAll looks below everything that a word stands for.
func (w *build) exposesAll(set *term.Set, s *spot, t call.Touch) {
	for _, p := range s.targets {
		spelled := t.Word.Text
		if s.glob {
			spelled = p
		}
		w.exposes(set, p, spelled, t)
	}
	if s.glob && !s.whole {
		set.Add(term.LabelContainsUnseen)
	}
}
