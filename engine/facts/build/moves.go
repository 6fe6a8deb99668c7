package build

import (
	"io/fs"
	"path"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// before is the place of a file before the text moved it there: a file that was not read under its old
// name is not known under the new one.
func (w *build) before(p string) string { return disk.Origin(w.moved, p) }

// moves notes the new names of moved files: later commands of the text may delete it under these.
func (w *build) moves(from []*spot, made []*spot) {
	if len(made) != 1 || made[0].certainty != value.Exact || made[0].glob || made[0].real == "" {
		return
	}
	to := made[0]
	for _, s := range from {
		for _, p := range s.targets {
			at := to.real
			if to.node.Mode.IsDir() {
				at = disk.Join(at, path.Base(p))
			}
			w.moved = append(w.moved, disk.Renamed{From: w.before(p), To: at})
			w.view.Carry(p, at)
		}
	}
}

// copies lets later commands of the text see the links that a copy takes along.
func (w *build) copies(c *call.Call, sources []call.Touch, made []*spot) {
	keeps := c.Has("a", "archive", "d", "P", "no-dereference", "R", "r", "recursive", "l", "links")
	keeps = keeps && !c.Has("L", "dereference")
	if len(made) != 1 || made[0].certainty != value.Exact || made[0].glob || made[0].real == "" || !keeps {
		return
	}
	for _, t := range sources {
		abs := disk.Absolute(t.Word.Text, t.Dir)
		if t.Word.Certainty != value.Exact || t.Word.Glob || abs == "" {
			continue
		}
		from, _ := w.view.Real(abs, true)
		base, at := path.Base(t.Word.Text), made[0].real
		slash := c.Cmd.Name == "rsync" && strings.HasSuffix(t.Word.Text, "/")
		whole := slash || base == "." || strings.HasSuffix(t.Word.Text, "/.")
		if made[0].node.Mode.IsDir() && !whole {
			at = disk.Join(at, base)
		}
		w.view.Carry(from, at)
	}
}

// links lets later commands of the text see the links that ln makes: a file that they reach through one lies
// elsewhere. A hard link is seen as one, too: both names lead to the same file.
func (w *build) links(c *call.Call, targets []call.Touch, made []*spot) {
	if len(made) != 1 || made[0].certainty != value.Exact || made[0].glob || made[0].real == "" {
		return
	}
	symbolic, as := c.Has("s", "symbolic", "symbolic-link"), made[0]
	dir, there := w.view.Real(as.path, c.Has("n", "no-dereference") || c.Has("T", "no-target-directory"))
	for _, t := range targets {
		lost := t.Word.Certainty != value.Exact || t.Word.Glob
		at, taken := as.real, as.node
		if there.Exists && there.Mode.IsDir() {
			if lost {
				continue // its name is not known, either
			}
			at = disk.Join(dir, path.Base(t.Word.Text))
			taken = w.view.Look(at)
		}
		if t.Word.Text == "" || taken.Exists && !c.Has("f", "force") && c.Cmd.Name == "ln" {
			continue // ln fails
		}
		target := t.Word.Text
		if !symbolic || c.Has("r", "relative") {
			target = disk.Absolute(target, c.Dir)
		}
		if target != "" {
			w.view.Make(at, disk.Node{Exists: true, Mode: fs.ModeSymlink | 0o777, Link: target, Lost: lost})
		}
	}
}
