package walk

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/inline"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// inlineCall turns one finding in a program of another language into a command, or walks
// the shell text that it runs.
func (w *walker) inlineCall(inv *invocation, code shell.Code, call inline.Call, via string) {
	change := func(x *context) {
		if call.Dir != nil {
			st := *x.st
			st.place(shell.Dir{})
			if p, ok := absolute(x.st.dir, call.Dir.Text); ok && call.Dir.Exact {
				st.place(shell.Dir{Path: p, Known: true})
			}
			x.st = &st
		}
	}
	args := make([]value.Arg, len(call.Args))
	for i, a := range call.Args {
		args[i] = w.inlineArg(a)
	}
	switch call.Kind {
	case inline.Shell:
		if len(args) == 0 {
			w.dynamicInline(inv, code, shell.MarkDynamicProgram)
			return
		}
		w.inlineShell(inv, code, call, args[0], via, change)
	case inline.Exec, inline.Spawn:
		if len(args) == 0 || !call.Args[0].Exact {
			w.dynamicInline(inv, code, shell.MarkDynamicProgram)
			return
		}
		w.inner(inv, args, via, change)
	case inline.SocketShell:
		w.mark(inv.idx, shell.MarkSocketShell)
	case inline.Socket:
		w.mark(inv.idx, shell.MarkSocket)
	case inline.ForkBomb:
		w.mark(inv.idx, shell.MarkForkBomb)
	case inline.Dynamic:
		w.dynamicInline(inv, code, shell.MarkDynamicCode)
	case inline.Decode:
		if code.From != shell.CodeFile {
			w.mark(inv.idx, shell.MarkDecodes)
		}
	default:
		if code.From == shell.CodeFile && !slices.ContainsFunc(args, func(a value.Arg) bool { return a.Prefix != "" }) {
			return // a script that opens its arguments: nothing to point at
		}
		if call.Kind == inline.Read && call.Recursive {
			for _, a := range call.Args {
				w.inner(inv, w.treeRead(a), via, change)
			}
			return
		}
		if words := synthesized(call); len(words) > 0 {
			for i := range args {
				if call.Kind != inline.Signal { // a process may be -1
					args[i] = guard(args[i])
				}
			}
			w.inner(inv, slices.Concat(words, args), via, change)
		}
	}
}

// dynamicInline notes program text that runs unknown code or programs. In a script file that is
// ordinary and says nothing; in text that was written for this one command it does.
func (w *walker) dynamicInline(inv *invocation, code shell.Code, mark shell.Mark) {
	if code.From != shell.CodeFile && code.Language != "awk" {
		w.mark(inv.idx, mark)
	}
}

// inlineShell walks shell text that a program runs.
func (w *walker) inlineShell(inv *invocation, code shell.Code, call inline.Call, text value.Arg, via string, change func(*context)) {
	if text.Certainty == value.Unknown {
		// awk '{system($0)}' runs the lines of its input.
		if in := w.stdin(); code.Language == "awk" && in != nil && hasCode(in.text) {
			w.aside(inv, in.text, via)
		} else if code.Language == "awk" && code.From == shell.CodeArgument {
			w.mark(inv.idx, shell.MarkDynamicProgram)
		}
		w.dynamicInline(inv, code, shell.MarkDynamicProgram)
		return
	}
	read := false
	w.perhaps(func() {
		read = w.reparse(inv.idx, w.holes.Source(text.Val), via, func(x *context) {
			x.st = w.child("sh")
			x.st.whole = false // the program may have set variables
			change(x)
		})
	})
	if !read || text.Certainty != value.Exact {
		w.dynamicInline(inv, code, shell.MarkDynamicProgram)
	}
}

// inlineArg makes a word of an argument that a program passes: no shell expands it.
func (w *walker) inlineArg(a inline.Arg) value.Arg {
	if a.Exact {
		return value.NewArg(value.Value{{Text: a.Text, Known: true, Quoted: true}}, "")
	}
	if a.Glob {
		if home, ok := w.ctx.st.lookupVar("HOME").val.Exact(); ok && strings.HasPrefix(a.Text, "~/") {
			a.Text = home + a.Text[1:]
		}
		return value.NewArg(value.Value{{Text: a.Text, Known: true, Glob: true}}, "")
	}
	return value.NewArg(value.Value{{Text: a.Text, Known: true, Quoted: true}, {Text: "…", Quoted: true}}, "")
}

// treeRead is the command that reads all files below a place, or those with the last name of a pattern.
func (w *walker) treeRead(a inline.Arg) []value.Arg {
	words := []value.Arg{value.Literal("grep"), value.Literal("-r")}
	if i := strings.LastIndexByte(a.Text, '/'); a.Glob && i >= 0 {
		if name := a.Text[i+1:]; name != "*" && name != "**" {
			words = append(words, value.Literal("--include="+name))
		}
		a.Text = a.Text[:max(i, 1)]
		a.Glob = strings.ContainsAny(a.Text, "*?[")
		a.Exact = !a.Glob
		if home, ok := w.ctx.st.lookupVar("HOME").val.Exact(); ok && (a.Text == "~" || strings.HasPrefix(a.Text, "~/")) {
			a.Text = home + a.Text[1:]
		}
	}
	return append(words, value.Literal(""), guard(w.inlineArg(a)))
}

// guard keeps a path that begins with a dash from reading as an option.
func guard(a value.Arg) value.Arg {
	if len(a.Text) > 0 && a.Text[0] == '-' {
		return value.NewArg(append(value.Value{{Text: "./", Known: true, Quoted: true}}, a.Val...), "")
	}
	return a
}

// synthesized is the command with the effect of a call. It is empty for calls that no
// command stands for.
func synthesized(call inline.Call) []value.Arg {
	var words []string
	switch call.Kind {
	case inline.Delete:
		words = []string{"rm"}
		if call.Recursive {
			words = []string{"rm", "-r"}
		}
	case inline.Write:
		words = []string{"tee"}
	case inline.Append:
		words = []string{"tee", "-a"}
	case inline.Read:
		words = []string{"cat"}
	case inline.Rename:
		words = []string{"mv"}
	case inline.Chmod:
		words = []string{"chmod", call.Mode}
		if call.Mode == "" {
			words = []string{"chmod"}
		}
	case inline.Chown:
		words = []string{"chown", "--from=:"}
	case inline.Link:
		words = []string{"ln", "-s"}
	case inline.Mkdir:
		words = []string{"mkdir", "-p"}
	case inline.Network:
		words = []string{"curl"}
	case inline.Upload:
		words = []string{"curl", "-T", "-"}
	case inline.Listen:
		words = []string{"nc", "-l"}
	case inline.Signal:
		words = []string{"kill", "-s", call.Mode, "--"}
		if call.Mode == "" {
			words = []string{"kill", "--"}
		}
	case inline.Env:
		words = []string{"env"}
	default:
		return nil
	}
	args := make([]value.Arg, len(words))
	for i, s := range words {
		args[i] = value.Literal(s)
	}
	return args
}
