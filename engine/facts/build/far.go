package build

import (
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Until returns a builder that gives up on files far away after t. Facts not known by then are missing
// in its inputs: discard an input that was finished after t.
func (b *Builder) Until(t time.Time) *Builder {
	far, ok := b.Files.(facts.Far)
	if !ok {
		return b
	}
	m := *b.Map
	m.Files = far.Until(t)
	return &Builder{&m, b.table, b.history}
}

// likely lists the subjects of facts that a program needs: words that may be paths, where they would lie.
func likely(prog *shell.Program) []string {
	var paths []string
	add := func(w value.Word, dir shell.Dir) {
		if len(paths) < disk.MaxForeseen && w.Certainty == value.Exact && w.Text != "" && !strings.HasPrefix(w.Text, "-") {
			if p := disk.Absolute(w.Text, dir); p != "" {
				paths = append(paths, p)
			}
		}
	}
	for i := range prog.Commands {
		c := &prog.Commands[i]
		for _, w := range c.Words[min(1, len(c.Words)):] {
			add(w, c.Dir)
		}
		for _, r := range c.Redirects {
			if r.Mode != shell.RedirectDup && r.Mode != shell.RedirectHere {
				add(r.Target, c.Dir)
			}
		}
	}
	return paths
}
