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

// mayReach reports whether a file of credentials that was not looked at may pass, by names that such files have.
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
