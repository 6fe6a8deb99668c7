package shell

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// filter evaluates programs that turn standard input, or a file, into other text.
func (w *walker) filter(inv *invocation, name string, args []value.Arg) (value.Value, bool) {
	var flags string
	var files []value.Arg
	for _, a := range args {
		if a.Certainty != value.Exact {
			return nil, false
		}
		if len(a.Text) > 1 && a.Text[0] == '-' {
			flags += " " + a.Text
		} else {
			files = append(files, a)
		}
	}
	in, ok := value.Value(nil), false
	switch {
	case name == "tr" || name == "openssl" || name == "tee" || len(files) == 0:
		if s := w.stdin(); s != nil && len(s.text) > 0 {
			in, ok = s.text, true
		}
	default:
		ok = true
		for _, f := range files {
			text, found := w.content(f.Val)
			ok = ok && found
			in = append(in, text...)
		}
	}
	if name == "tee" {
		w.tee(inv, files, in, ok, flags)
		return in, ok
	}
	if !ok {
		return nil, false
	}
	if name == "cat" {
		return in, flags == ""
	}
	text, exact := in.Exact()
	if !exact {
		return nil, false
	}
	out, ok := value.Decode(name, flags, args, files, text)
	return value.Value{{Text: out, Known: true, Decoded: true}}, ok
}

// tee writes its input to files too.
func (w *walker) tee(inv *invocation, files []value.Arg, in value.Value, ok bool, flags string) {
	if !ok {
		in = value.Opaque("", nil)
	}
	for _, f := range files {
		if p, found := w.fileHere(f); found {
			w.write(p, in, []int{inv.idx}, strings.Contains(flags, "a"))
		}
	}
}
