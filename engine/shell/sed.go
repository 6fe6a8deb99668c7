package shell

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// sedInPlace works out what sed -i makes of files whose content is known, by substitutions that need no more
// than plain text, the dot, and the anchors. It reports whether all is known.
func (w *walker) sedInPlace(inv *invocation) bool {
	var scripts []string
	var files []value.Arg
	args := inv.args[1:]
	inPlace := false
	for i := 0; i < len(args); i++ {
		text, ok := args[i].Val.Exact()
		switch {
		case !ok || args[i].Glob:
			return false
		case text == "-i":
			inPlace = true
		case text == "-e" && i+1 < len(args):
			i++
			scripts = append(scripts, args[i].Text)
		case strings.HasPrefix(text, "-"):
			return false
		default:
			files = append(files, args[i])
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = []string{files[0].Text}, files[1:]
	}
	if !inPlace {
		return false
	}
	for _, f := range files {
		abs, ok := w.pathOf(f)
		if ok && w.absent(abs) {
			continue
		}
		content, found := w.contentOf(abs)
		text, exact := content.Exact()
		if !ok || !found || !exact || !w.step(1+len(scripts)*len(text)/bytesPerStep) {
			return false
		}
		for _, s := range scripts {
			if text, ok = value.Substituted(s, text); !ok {
				return false
			}
		}
		w.write(abs, value.Value{{Text: text, Known: true, Inputs: content.Inputs()}}, []int{inv.idx}, false)
	}
	return true
}
