package call

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Sieve says which files below a place a recursive read reaches. Nil reaches all.
type Sieve struct {
	Rules   []pick // the last that matches a file decides
	Open    bool   // a file that no pick names is reached although others are named
	Depth   int    // how many names below the place, 0 for any
	Visible bool   // hidden entries are passed over
	Ignores bool   // and so are those that the ignore files of a repository name
	Tracked bool   // only files that git tracks

	Alternatives bool // of find: with -o no single name holds for all
}

// pick lets files in, or keeps them out, by the name or by the path from the place that is read.
type pick struct {
	glob string
	In   bool
	path bool // glob is held against the path as it is spelled, and * stands for slashes, too
	dir  bool // directories are kept out, with all below them
}

// Matches reports whether a pick names a file.
func (p pick) Matches(spelled, name string) bool {
	if !p.path {
		return disk.MatchName(p.glob, name)
	}
	flat := strings.NewReplacer("/", "\x01")
	return disk.MatchName(flat.Replace(p.glob), flat.Replace(spelled))
}

// keepOut adds the values of options that keep files out, with all below them where dir is set.
func (s *Sieve) keepOut(glob value.Word, dir bool) {
	if glob.Certainty != value.Exact || glob.Text == "" {
		return // the excluded files are not known
	}
	text, anchored := strings.CutPrefix(strings.TrimPrefix(strings.TrimSuffix(glob.Text, "/"), "./"), "/")
	if !strings.Contains(text, "/") && !anchored {
		s.Rules = append(s.Rules, pick{glob: text, dir: dir})
		return
	}
	s.Rules = append(s.Rules, pick{glob: "*/" + strings.TrimPrefix(text, "**/"), path: true, dir: dir})
}

// letIn adds a value of an option that names the files to be reached.
func (s *Sieve) letIn(glob value.Word) {
	if glob.Certainty != value.Exact {
		glob.Text = "*"
	}
	s.Rules = append(s.Rules, pick{glob: path.Base(glob.Text), In: true})
}

// Chooses reports whether only files with some names are reached.
func (s *Sieve) Chooses() bool {
	return s != nil && !s.Open && slices.ContainsFunc(s.Rules, func(p pick) bool { return p.In })
}

// Deep reports whether a read goes as deep as a file below root lies.
func (s *Sieve) Deep(at, root string) bool {
	return s == nil || s.Depth == 0 || strings.Count(strings.Trim(strings.TrimPrefix(at, root), "/"), "/") < s.Depth
}

// Enters reports whether the read goes into a directory.
func (s *Sieve) Enters(at, root, spelled string) bool {
	if s == nil {
		return true
	}
	rel := strings.TrimPrefix(strings.TrimPrefix(at, root), "/")
	if s.Depth > 0 && strings.Count(rel, "/")+1 >= s.Depth || s.Visible && strings.HasPrefix(path.Base(at), ".") {
		return false
	}
	for _, r := range s.Rules {
		if r.dir && r.Matches(disk.Join(spelled, rel), path.Base(at)) {
			return false
		}
	}
	return true
}

// sift gives the recursive reads of a command a sieve.
func (c *Call) sift(s *Sieve) {
	for i := range c.Touches {
		if t := &c.Touches[i]; t.Recursive && t.Access&term.Reads != 0 {
			t.Sieve = s
		}
	}
}

// sifted reads the options by which a command excludes files from its search, archive or copy.
func (c *Call) sifted() *Sieve {
	s := &Sieve{Open: c.Cmd.Name == "rsync" || c.Cmd.Name == "grsync"}
	open := c.Times("u", "unrestricted")
	fd := strings.HasPrefix(c.Cmd.Name, "fd")
	switch c.Cmd.Name {
	case "rg", "ripgrep":
		s.Visible = open < 2 && !c.Has("hidden", ".")
		s.Ignores = open == 0 && !c.Has("no-ignore", "no-ignore-vcs")
	case "ag":
		s.Visible = open == 0 && !c.Has("hidden")
		s.Ignores = open == 0 && !c.Has("skip-vcs-ignores", "U")
	case "fd", "fdfind":
		s.Visible = open == 0 && !c.Has("hidden", "H")
		s.Ignores = open == 0 && !c.Has("no-ignore", "no-ignore-vcs", "I")
	case "ugrep":
		s.Visible = !c.Has("hidden", ".")
	}
	for _, o := range c.Options {
		if !o.Given {
			continue
		}
		switch o.Full {
		case "--include", "-i":
			s.letIn(o.Value)
		case "--exclude", "-x":
			s.keepOut(o.Value, !strings.HasSuffix(c.Cmd.Name, "grep"))
		case "--exclude-dir", "--ignore-dir", "--ignore":
			s.keepOut(o.Value, true)
		case "-E":
			if fd {
				s.keepOut(o.Value, true)
			}
		case "-g", "--glob", "--iglob":
			if out, not := strings.CutPrefix(o.Value.Text, "!"); not {
				o.Value.Text = out
				s.keepOut(o.Value, true)
			} else {
				s.letIn(o.Value)
			}
		case "-t", "--type":
			if !fd && o.Value.Text != "all" {
				s.letIn(Exact("*." + o.Value.Text)) // no type takes in files of credentials
			}
		case "--max-depth", "-d":
			s.Depth, _ = strconv.Atoi(o.Value.Text)
		}
	}
	return s
}
