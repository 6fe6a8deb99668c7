package facts

import (
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing/format/gitignore"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// maxMatches is how many matches of a glob are looked at one by one.
const maxMatches = 200

// splitGlob cuts an absolute path at the first name with a glob character.
func splitGlob(abs string) (dir, rest string) {
	i := strings.IndexAny(abs, "*?[")
	if i < 0 {
		return abs, ""
	}
	cutAt := strings.LastIndexByte(abs[:i], '/')
	dir = abs[:cutAt]
	if dir == "" || dir[len(dir)-1] == ':' {
		dir += "/"
	}
	return dir, abs[cutAt+1:]
}

// expand finds the matches of a glob below the spot's directory.
func (w *build) expand(s *spot, rest string, ofLink bool) {
	names := strings.Split(strings.Trim(rest, "/"), "/")
	s.all = true
	for _, name := range names {
		s.all = s.all && isEverything(name)
	}
	found := []string{s.real}
	for i, name := range names {
		here := found
		if found = w.matches(s, found, name); name == "**" && w.globstar && i < len(names)-1 {
			found = append(here, w.directories(s, here)...)
		}
	}
	s.targets = found
	s.node = node{exists: len(found) > 0}
	w.labelBoth(s, join(s.path, rest), join(s.real, rest))
	if s.all {
		s.labels.add(labelWildcardAll)
		w.labelBoth(s, s.path, s.real)
	}
	for i, p := range found {
		real, n := w.view.real(p, ofLink)
		found[i] = real
		w.labelBoth(s, p, real)
		if w.fetched[real] || w.history != nil && w.history.Downloaded(real) {
			s.labels.add(labelDownloaded)
		}
		if w.outside(p, real) {
			s.labels.add(labelSymlinkOut)
		}
		if i == 0 {
			s.node = n
		} else if s.node.mode.Type() != n.mode.Type() {
			s.node = node{exists: true, mode: fs.ModeIrregular}
		}
	}
}

// directories lists the directories below others, as ** does.
func (w *build) directories(s *spot, dirs []string) (out []string) {
	for _, dir := range dirs {
		s.whole = w.walk(dir, func(at string, e fs.DirEntry) bool {
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

// isEverything reports whether a name pattern stands for all entries, or all hidden ones.
func isEverything(name string) bool {
	switch name {
	case "*", "**", ".*", "?*", "*.*", ".[!.]*", ".[^.]*", ".??*", "..?*":
		return true
	}
	return false
}

func (w *build) matches(s *spot, dirs []string, pattern string) []string {
	pattern = strings.ReplaceAll(pattern, "[!", "[^")
	var out []string
	for _, dir := range dirs {
		if !strings.ContainsAny(pattern, "*?[") {
			if p, n := w.view.real(join(dir, pattern), true); n.exists && !slices.Contains(out, p) {
				out = append(out, p)
			}
			continue
		}
		entries, whole := w.view.list(dir)
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
			out = append(out, join(dir, e.Name()))
		}
	}
	return out
}

// reach adds the entries below a recursive access; with shows, the credentials there are left to exposes.
func (w *build) reach(set *bitset, s *spot, t touch, shows bool) {
	targets := s.targets
	if s.glob && !s.whole {
		targets = append([]string{s.real}, targets...) // too many matches: it may be any of them
	}
	for _, p := range targets {
		if t.filter == "" {
			w.containsPlaces(set, p)
			if !shows || !t.sieve.chooses() {
				w.containsSecrets(set, p, t.sieve)
			}
		}
		w.walk(p, func(at string, e fs.DirEntry) bool {
			if t.filter != "" && !matchName(t.filter, e.Name()) {
				return true
			}
			if e.Name() == ".git" {
				set.add(labelContainsGit)
			}
			var names bitset
			atlases().names(&names, at)
			if names.meets(credentialLabels) && !shows {
				set.add(labelContainsCredential)
			}
			if (slices.Contains(criticalNames, e.Name()) || names.has(labelEnvFile)) && w.keeps(at, e.IsDir()) {
				set.add(labelContainsCriticalName)
			}
			return e.Name() != ".git"
		})
	}
}

// keeps reports whether something with a critical name is neither generated nor the session's own work.
func (w *build) keeps(p string, dir bool) bool {
	return !w.isGenerated(p, dir) && (w.history == nil || w.history.Seen(p) != "created")
}

// containsPlaces compares a directory with the places of the layout, which need no look.
func (w *build) containsPlaces(set *bitset, p string) {
	contains := func(l label, places ...string) {
		for _, q := range places {
			if below(q, p) {
				set.add(l)
			}
		}
	}
	contains(labelContainsWorkspace, w.workspace...)
	contains(labelContainsProtected, w.protected...)
	contains(labelContainsHome, w.home...)
	for _, q := range slices.Concat(homeParents, homeNames) {
		if below(q, p) && w.view.look(q).exists {
			set.add(labelContainsHome)
		}
	}
	for _, g := range w.roots {
		contains(labelContainsPermissionRoot, g.path)
	}
	for _, self := range w.self {
		contains(labelContainsSelf, self.Path)
	}
	for _, ws := range w.workspace {
		if git := join(ws, ".git"); below(git, p) && w.view.look(git).exists {
			set.add(labelContainsGit)
		}
	}
}

// containsSecrets compares a directory with the places of credentials that have well-known names.
func (w *build) containsSecrets(set *bitset, p string, s *sieve) {
	for _, q := range w.secrets {
		if below(q, p) && s.deep(q, p) && w.view.look(q).exists {
			set.add(labelContainsCredential)
			break
		}
	}
}

// walk visits what lies below a real directory, nearest first, links not followed, until visit
// refuses a directory or the budget is spent. It reports whether everything was visited.
func (w *build) walk(root string, visit func(at string, e fs.DirEntry) (descend bool)) bool {
	if !w.view.look(root).mode.IsDir() {
		return true
	}
	queue := []string{root}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		entries, whole := w.view.list(dir)
		for _, e := range entries {
			at := join(dir, e.Name())
			if visit(at, e) && e.IsDir() {
				queue = append(queue, at)
			}
		}
		if !whole {
			return false
		}
	}
	return true
}

// relative names a file for the reader: relative to the path, or by its own name when it is the path.
func relative(root, p string) string {
	if rest := strings.TrimPrefix(p[min(len(root), len(p)):], "/"); within(p, root) && rest != "" {
		return rest
	}
	return path.Base(p)
}

func matchName(pattern, name string) bool {
	ok, err := path.Match(strings.ReplaceAll(pattern, "[!", "[^"), name)
	return ok || err != nil // a pattern that cannot be read may match everything
}

// generated reports whether all that a spot names is generated.
func (w *build) generated(s *spot) bool {
	if len(s.targets) == 0 || !s.whole {
		return false
	}
	for _, p := range s.targets {
		if !w.isGenerated(p, w.view.look(p).mode.IsDir()) {
			return false
		}
	}
	return true
}

// isGenerated matches a real path with the operator's patterns. Only the names below the deepest
// root around it count, so that a checkout below a directory called "build" is not generated as a
// whole. A pattern is matched (path.Match) with every name of the path, so that what lies below a
// matching directory is generated, too; one that ends in "/" only with directories; one that holds
// another "/" with the path relative to the root and all that lies below it.
func (b *Builder) isGenerated(p string, dir bool) bool {
	root := b.rootOf(p)
	if root == "" {
		return false
	}
	names := strings.Split(strings.TrimPrefix(p[len(root):], "/"), "/")
	for _, pattern := range b.layout.Generated {
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

// readMost is how many directory entries one Build may read to find out whether credentials lie below
// the places that are read as a whole.
const readMost = 40000

// sieve says which files below a place a recursive read reaches. Nil reaches all.
type sieve struct {
	rules   []pick // the last that matches a file decides
	open    bool   // a file that no pick names is reached although others are named
	depth   int    // how many names below the place, 0 for any
	visible bool   // hidden entries are passed over
	ignores bool   // and so are those that the ignore files of a repository name
	tracked bool   // only files that git tracks

	alternatives bool // of find: with -o no single name holds for all
}

// pick lets files in, or keeps them out, by the name or by the path from the place that is read.
type pick struct {
	glob string
	in   bool
	path bool // glob is held against the path as it is spelled, and * stands for slashes, too
	dir  bool // directories are kept out, with all below them
}

func (p pick) matches(spelled, name string) bool {
	if !p.path {
		return matchName(p.glob, name)
	}
	flat := strings.NewReplacer("/", "\x01")
	return matchName(flat.Replace(p.glob), flat.Replace(spelled))
}

// keepOut adds the values of options that keep files out, with all below them where dir is set.
func (s *sieve) keepOut(glob value.Word, dir bool) {
	if glob.Certainty != value.Exact || glob.Text == "" {
		return // the excluded files are not known
	}
	text, anchored := strings.CutPrefix(strings.TrimPrefix(strings.TrimSuffix(glob.Text, "/"), "./"), "/")
	if !strings.Contains(text, "/") && !anchored {
		s.rules = append(s.rules, pick{glob: text, dir: dir})
		return
	}
	s.rules = append(s.rules, pick{glob: "*/" + strings.TrimPrefix(text, "**/"), path: true, dir: dir})
}

// letIn adds a value of an option that names the files to be reached.
func (s *sieve) letIn(glob value.Word) {
	if glob.Certainty != value.Exact {
		glob.Text = "*"
	}
	s.rules = append(s.rules, pick{glob: path.Base(glob.Text), in: true})
}

// chooses reports whether only files with some names are reached.
func (s *sieve) chooses() bool {
	return s != nil && !s.open && slices.ContainsFunc(s.rules, func(p pick) bool { return p.in })
}

// deep reports whether a read goes as deep as a file below root lies.
func (s *sieve) deep(at, root string) bool {
	return s == nil || s.depth == 0 || strings.Count(strings.Trim(strings.TrimPrefix(at, root), "/"), "/") < s.depth
}

// mayReach reports whether a file of credentials that was not looked at may pass, by names that such files
// have.
func (w *build) mayReach(t touch) bool {
	return slices.ContainsFunc(secretNames, func(name string) bool {
		return (t.filter == "" || matchName(t.filter, name)) && w.reaches(t.sieve, "/"+name, "", "")
	})
}

// secretNames are names that files of credentials have most often.
var secretNames = []string{".env", ".env.local", ".netrc", "credentials", "id_rsa", "id_ed25519", "x.env", "config.json", "hosts.yml"}

// reaches reports whether a file below root, which the text spells as spelled, passes.
func (w *build) reaches(s *sieve, at, root, spelled string) bool {
	if s == nil {
		return true
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(at, root), "/")
	named, chosen, decided := false, false, false
	for _, r := range s.rules {
		named = named || r.in
		if r.matches(join(spelled, rel), path.Base(at)) {
			chosen, decided = r.in, true
		}
	}
	if !decided && named && !s.open || decided && !chosen {
		return false
	}
	if !s.deep(at, root) {
		return false
	}
	if s.visible && !chosen && (strings.HasPrefix(rel, ".") || strings.Contains(rel, "/.")) {
		return false
	}
	if !s.ignores && !s.tracked || chosen && !s.tracked {
		return true
	}
	dir, _ := parent(at)
	g := cleaning{w: w}
	if !g.open(dir) {
		return true
	}
	if s.tracked && g.tracked != nil {
		_, ok := g.tracked[at]
		return ok
	}
	return !s.ignores || !gitignore.NewMatcher(g.rules).Match(g.parts(at), false)
}

// enters reports whether the read goes into a directory.
func (s *sieve) enters(at, root, spelled string) bool {
	if s == nil {
		return true
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(at, root), "/")
	if s.depth > 0 && strings.Count(rel, "/")+1 >= s.depth || s.visible && strings.HasPrefix(path.Base(at), ".") {
		return false
	}
	for _, r := range s.rules {
		if r.dir && r.matches(join(spelled, rel), path.Base(at)) {
			return false
		}
	}
	return true
}

// exposes labels a place that is read as a whole by the credentials that the read reaches. What tools
// make and install by themselves is not looked through, unless the place is itself of that kind.
func (w *build) exposes(set *bitset, p, spelled string, t touch) {
	budget := w.view.steps
	w.view.steps = w.exposed
	if w.zoneOf(p, p, bitset{}) == "system" {
		w.view.steps = min(w.exposed, readSteps) // credentials there have known names
	}
	given := w.view.steps
	output := w.isGenerated(p, true)
	whole := w.walk(p, func(at string, e fs.DirEntry) bool {
		if set.has(labelContainsCredential) {
			return false
		}
		var names bitset
		atlases().names(&names, at)
		if (names.meets(credentialLabels) || names.has(labelEnvFile)) && !e.IsDir() && !w.made(at) &&
			(t.filter == "" || matchName(t.filter, e.Name())) && w.reaches(t.sieve, at, p, spelled) {
			set.add(labelContainsCredential)
		}
		return e.IsDir() && e.Name() != ".git" && (output || !w.isGenerated(at, true)) && t.sieve.enters(at, p, spelled)
	})
	w.exposed, w.view.steps = w.exposed-given+max(0, w.view.steps), budget
	if !whole && !output && !set.has(labelContainsCredential) && w.mayReach(t) {
		set.add(labelContainsUnseen)
	}
}

// made reports whether the session or this text has made a file.
func (w *build) made(p string) bool {
	return w.written[p] || w.history != nil && w.history.Seen(p) == "created"
}

// exposesAll looks below everything that a word stands for.
func (w *build) exposesAll(set *bitset, s *spot, t touch) {
	for _, p := range s.targets {
		spelled := t.word.Text
		if s.glob {
			spelled = p
		}
		w.exposes(set, p, spelled, t)
	}
	if s.glob && !s.whole {
		set.add(labelContainsUnseen)
	}
}

// sift gives the recursive reads of a command a sieve.
func (c *call) sift(s *sieve) {
	for i := range c.touches {
		if t := &c.touches[i]; t.recursive && t.access&reads != 0 {
			t.sieve = s
		}
	}
}

// sifted reads the options by which a command excludes files from its search, archive or copy.
func (c *call) sifted() *sieve {
	s := &sieve{open: c.cmd.Name == "rsync" || c.cmd.Name == "grsync"}
	open := c.times("u", "unrestricted")
	fd := strings.HasPrefix(c.cmd.Name, "fd")
	switch c.cmd.Name {
	case "rg", "ripgrep":
		s.visible = open < 2 && !c.has("hidden", ".")
		s.ignores = open == 0 && !c.has("no-ignore", "no-ignore-vcs")
	case "ag":
		s.visible = open == 0 && !c.has("hidden")
		s.ignores = open == 0 && !c.has("skip-vcs-ignores", "U")
	case "fd", "fdfind":
		s.visible = open == 0 && !c.has("hidden", "H")
		s.ignores = open == 0 && !c.has("no-ignore", "no-ignore-vcs", "I")
	case "ugrep":
		s.visible = !c.has("hidden", ".")
	}
	for _, o := range c.options {
		if !o.given {
			continue
		}
		switch o.full {
		case "--include", "-i":
			s.letIn(o.value)
		case "--exclude", "-x":
			s.keepOut(o.value, !strings.HasSuffix(c.cmd.Name, "grep"))
		case "--exclude-dir", "--ignore-dir", "--ignore":
			s.keepOut(o.value, true)
		case "-E":
			if fd {
				s.keepOut(o.value, true)
			}
		case "-g", "--glob", "--iglob":
			if out, not := strings.CutPrefix(o.value.Text, "!"); not {
				o.value.Text = out
				s.keepOut(o.value, true)
			} else {
				s.letIn(o.value)
			}
		case "-t", "--type":
			if !fd && o.value.Text != "all" {
				s.letIn(exact("*." + o.value.Text)) // no type takes in files of credentials
			}
		case "--max-depth", "-d":
			s.depth, _ = strconv.Atoi(o.value.Text)
		}
	}
	return s
}
