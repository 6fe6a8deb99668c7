package shell

import (
	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// printf formats known arguments. With -v it assigns instead of printing.
func (w *walker) printf(args []value.Arg) (value.Value, bool) {
	options, rest := command.Getopt(args, "v", nil)
	target, assigns := options["-v"]
	variable := target.Text
	if len(rest) == 0 || len(options) > 1 || !assigns && len(options) > 0 {
		return nil, false
	}
	v, ok := value.Format(rest[0], rest[1:], w.ctx.st.sh)
	if !assigns {
		return v, ok
	}
	if !ok || w.ctx.st.sh { // -v is an error to some shells
		v = value.Opaque("$"+variable, value.Inputs(args))
	}
	w.subscript(variable)
	if target.Certainty != value.Exact {
		w.forget()
		return value.Known(""), true
	}
	w.assign(variable, v)
	return value.Known(""), true
}
