package ledger

import (
	"errors"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// The work after a command is bounded: a directory that it made is searched for files no
// further than this.
const (
	maxWalk  = 5000
	maxDepth = 32
)

var _ facts.History = (*Ledger)(nil)

// Note is one run between its beginning and its end.
type Note struct {
	l      *Ledger
	in     *facts.Input
	absent map[string]bool // paths that would be written and were not there
	dirs   map[string]bool // paths that would be written and were directories
}

// Begin looks at the files that a request would write, right before it runs. Call End when it
// has ended, also in the background. files is the environment's view; with none the facts
// about the paths count. in must not change in between.
func (l *Ledger) Begin(in *facts.Input, files facts.FS) *Note {
	n := &Note{l: l, in: in, absent: map[string]bool{}, dirs: map[string]bool{}}
	if l == nil || in == nil {
		return n
	}
	for i := range in.Paths {
		p := &in.Paths[i]
		if p.Access != "write" || !usable(p) {
			continue
		}
		if files == nil {
			n.absent[p.Real], n.dirs[p.Real] = !p.Exists, p.Type == "dir"
			continue
		}
		info, err := files.Lstat(p.Real)
		n.absent[p.Real] = errors.Is(err, fs.ErrNotExist)
		n.dirs[p.Real] = err == nil && info.IsDir()
	}
	return n
}

// End notes the effects of the run. An exit status of -1 stands for a run that never began.
//
// Files that were to be read count as read after status 0 and 1, the latter being the status
// of grep that finds nothing and of diff that finds a difference; after any other status it is not
// known how far the command came. A file that is written counts as created only if it was not
// there before. Removed files are forgotten; moved files keep their entries. The output files of a
// command that took data from the network, or from a downloaded file, count as downloaded,
// whatever the status.
//
// The error says that the notes did not reach the disk; they count in this process anyway.
func (n *Note) End(files facts.FS, exitCode int) error {
	if n.l == nil || n.in == nil || files == nil || exitCode < 0 {
		return nil
	}
	err := n.renames(files)
	var read, created, gone, downloaded []string
	tainted := n.tainted()
	for i := range n.in.Paths {
		p := &n.in.Paths[i]
		if !usable(p) || n.neverRuns(p) {
			continue
		}
		_, statErr := files.Lstat(p.Real)
		switch p.Access {
		case "read":
			if exitCode <= 1 && n.showsContent(p) {
				read = append(read, regular(files, p)...)
			}
		case "write":
			if statErr != nil {
				continue
			}
			if n.absent[p.Real] {
				created = append(created, n.made(files, p.Real)...)
			}
			if p.Command >= 0 && p.Command < len(tainted) && tainted[p.Command] {
				downloaded = append(downloaded, p.Real)
			}
		case "delete":
			if errors.Is(statErr, fs.ErrNotExist) {
				gone = append(gone, p.Real)
			}
		}
	}
	// What is gone comes first: another command of the same text may have made it anew.
	err = errors.Join(err, n.l.Forget(gone...), n.l.Read(read...), n.l.Created(created...))
	err = errors.Join(err, n.l.Download(downloaded...))
	for file, labels := range facts.Carried(n.in) {
		if _, statErr := files.Lstat(file); statErr == nil {
			err = errors.Join(err, n.l.Label(file, labels))
		}
	}
	return err
}

// usable reports whether a path is known well enough to note something about it.
func usable(p *facts.Path) bool {
	return p.Certainty == "exact" && p.Real != "" && filepath.IsAbs(p.Real)
}

// neverRuns reports a path of a command in a function that nothing calls.
func (n *Note) neverRuns(p *facts.Path) bool {
	c := n.command(p)
	return c != nil && slices.Contains(c.Flags, "never_called")
}

func (n *Note) command(p *facts.Path) *facts.Command {
	if p.Command < 0 || p.Command >= len(n.in.Commands) {
		return nil
	}
	return &n.in.Commands[p.Command]
}

// showsContent tells the commands that show the content of a file from those that only read
// its name, its size or its mode.
func (n *Note) showsContent(p *facts.Path) bool {
	c := n.command(p)
	if c == nil {
		return !p.Recursive
	}
	switch c.Name {
	case "ls", "stat", "test", "[", "[[", "du", "df", "find", "tree", "readlink", "realpath", "basename",
		"dirname",
		"which", "type", "cd", "pushd", "touch", "chmod", "chown", "chgrp", "rm", "rmdir", "unlink", "ln":
		return false
	}
	return !p.Recursive // a search shows the lines that match, not the files
}

// regular are the regular files that a path names; of a pattern in its last element, those
// that match.
func regular(files facts.FS, p *facts.Path) []string {
	if info, err := files.Lstat(p.Real); err == nil {
		if info.Mode().IsRegular() {
			return []string{p.Real}
		}
		return nil
	}
	dir, pattern := path.Split(p.Real)
	if !p.Glob || !strings.ContainsAny(pattern, "*?[") {
		return nil
	}
	names, err := files.ReadDir(path.Clean(dir))
	if err != nil {
		return nil
	}
	var out []string
	for _, e := range names[:min(len(names), maxWalk)] {
		hidden := strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(pattern, ".")
		if ok, err := path.Match(pattern, e.Name()); err == nil && ok && !hidden && e.Type().IsRegular() {
			out = append(out, path.Join(dir, e.Name()))
		}
	}
	return out
}

// made is a path that was not there before, with everything in it; except for files that this
// very text moved there, which are older than that.
func (n *Note) made(files facts.FS, top string) []string {
	out := []string{top}
	moved := n.destinations()
	if moved[top] {
		return nil
	}
	type dir struct {
		path  string
		depth int
	}
	queue := []dir{{top, 0}}
	for len(queue) > 0 && len(out) < maxWalk {
		d := queue[0]
		queue = queue[1:]
		entries, err := files.ReadDir(d.path)
		if err != nil { // a file
			continue
		}
		for _, e := range entries {
			p := path.Join(d.path, e.Name())
			if moved[p] || len(out) >= maxWalk {
				continue
			}
			out = append(out, p)
			if e.IsDir() && d.depth < maxDepth {
				queue = append(queue, dir{p, d.depth + 1})
			}
		}
	}
	return out
}

// move is a rename that a command makes.
type move struct{ from, to string }

// moves are the renames in the text: the paths that mv takes away and the one it writes.
func (n *Note) moves() []move {
	var out []move
	for c := range n.in.Commands {
		cmd := &n.in.Commands[c]
		if cmd.Name != "mv" && cmd.Subcommand != "mv" {
			continue
		}
		var from []string
		to := ""
		for i := range n.in.Paths {
			p := &n.in.Paths[i]
			switch {
			case p.Command != c || !usable(p):
			case p.Access == "delete":
				from = append(from, p.Real)
			case p.Access == "write":
				to = p.Real
			}
		}
		for _, f := range from {
			switch {
			case to == "" || f == to:
			case n.dirs[to] || len(from) > 1:
				out = append(out, move{f, path.Join(to, path.Base(f))})
			default:
				out = append(out, move{f, to})
			}
		}
	}
	return out
}

// destinations are the paths to which the text moves something.
func (n *Note) destinations() map[string]bool {
	out := map[string]bool{}
	for _, m := range n.moves() {
		out[m.to] = true
	}
	return out
}

// renames moves the entry of a moved path to its new name.
func (n *Note) renames(files facts.FS) error {
	var err error
	for _, m := range n.moves() {
		_, fromErr := files.Lstat(m.from)
		_, toErr := files.Lstat(m.to)
		if errors.Is(fromErr, fs.ErrNotExist) && toErr == nil {
			err = errors.Join(err, n.l.Rename(m.from, m.to))
		}
	}
	return err
}

// tainted reports, for each command, whether data from the network reaches it: its own, that
// of a downloaded file, or that of a command whose output it reads.
func (n *Note) tainted() []bool {
	own := make([]bool, len(n.in.Commands))
	for i := range n.in.Commands {
		own[i] = slices.Contains(n.in.Commands[i].Flags, "downloads")
	}
	for i := range n.in.Paths {
		p := &n.in.Paths[i]
		if p.Access == "read" && p.Command >= 0 && p.Command < len(own) && usable(p) && n.l.Downloaded(p.Real) {
			own[p.Command] = true
		}
	}
	out := make([]bool, len(own))
	for i := range n.in.Commands {
		out[i] = own[i]
		for _, j := range n.in.Commands[i].Inputs { // already those through others
			out[i] = out[i] || j >= 0 && j < len(own) && own[j]
		}
	}
	return out
}
