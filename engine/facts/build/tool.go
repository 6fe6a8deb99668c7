package build

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// tool adds the path that a file tool touches. Its text is the name itself: nothing in it is expanded.
func (w *build) tool(t facts.Touch) {
	i := slices.Index(term.AccessNames[:], t.Access)
	if i < 0 { // an access that is not known is taken for the worst
		t.Access, t.Recursive = "delete", true
		i = slices.Index(term.AccessNames[:], t.Access)
	}
	w.place(call.Touch{
		Word:      w.toolWord(t),
		Access:    1 << i,
		Source:    "tool",
		Role:      call.Role{OfLink: t.Access == "delete"},
		Recursive: t.Recursive,
		Size:      t.Size,
	}, -1)
}

// toolWord is the absolute path of a touch. A text that cannot be the name of a file, or cannot be told in an
// input, is a place that is not known.
func (w *build) toolWord(t facts.Touch) value.Word {
	p := t.Path
	word := value.Word{Raw: strings.ToValidUTF8(p, "\uFFFD"), Quoted: true, Certainty: value.Unknown}
	if p == "" || strings.Contains(p, "\x00") || !utf8.ValidString(p) {
		return word
	}
	if !disk.IsAbs(p) {
		if w.Layout.Workspace == "" {
			return word
		}
		p = disk.Join(w.Layout.Workspace, p)
	}
	if t.Access == "delete" && strings.Trim(p, "/") != "" {
		p = strings.TrimRight(p, "/") // of a link the link itself goes, however it is spelled
	}
	word.Text, word.Prefix, word.Certainty = p, p, value.Exact
	return word
}
