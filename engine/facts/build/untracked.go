package build

import (
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/repo"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// untracked names the files that a git clean deletes, each as a path of its own.
func (w *build) untracked(i int, c *call.Call) {
	if len(c.Sub) == 0 || c.Sub[0] != "clean" || !c.Flags.Has(term.FlagRemovesUntracked) {
		return
	}
	deletes := func(word value.Word) {
		w.place(call.Touch{Word: word, Access: term.Deletes, Source: "argument", Dir: c.Dir, Role: call.Role{Access: term.Deletes, OfLink: true}}, i)
	}
	unknown := value.Word{Raw: "git clean", Certainty: value.Unknown}
	if !c.Dir.Known {
		deletes(unknown)
		return
	}
	start, _ := w.view.Real(disk.Clean(c.Dir.Path), false)
	g := repo.Cleaning{F: w.repos, Ignored: c.Flags.Has(term.FlagAll), Enter: c.Has("d") || len(c.Operands) > 0, Nested: c.Times("f", "force") > 1}
	if !g.Open(start) {
		return // no working tree: git does nothing
	}
	g.Limit(c.Operands, c.Dir.Path)
	whole := w.view.Walk(start, g.Visit)
	for _, p := range g.Found {
		raw := disk.Relative(start, p)
		deletes(value.Word{Text: p, Prefix: p, Raw: raw, Certainty: value.Exact, Quoted: true})
	}
	if !whole || len(g.Found) == repo.UntrackedMost {
		deletes(unknown) // there is more than was looked at
	}
}
