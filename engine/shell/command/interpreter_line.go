package command

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Interpretation is the command line of an interpreter, read.
type Interpretation struct {
	Run              // the program; with File and Module the words behind it follow in Args
	Before   []Run   // what runs before it
	Inspects bool    // when the program ends, standard input is read as one, too
	Options  Options // of a shell
}

// Options are those of a shell that matter to its program.
type Options struct {
	RC          *value.Arg // a file that it runs first if it is interactive
	Command     bool       // the program is a word
	Interactive bool
	Login       bool
	Traced      bool // it may print what it runs
	Nounset     bool
	Errexit     bool
	Unclear     bool // an option changes how the program reads
}

// Shell reports an interpreter of shell text.
func (p Interpreter) Shell() bool { return p.runs.Shell }

// Read reads a command line of p, which was called by name.
func (p Interpreter) Read(name string, args []value.Arg) Interpretation {
	switch {
	case len(args) == 1 && p.informs(args[0].Text):
		return Interpretation{Run: Run{Kind: Nothing}}
	case p.runs.Shell:
		return p.readShell(name, args)
	case p.Verb:
		return p.readVerb(name, args)
	default:
		return p.readProgram(name, args)
	}
}

// informs reports an option that makes an interpreter tell about itself and end. For tclsh every option is a
// word of the program on its input, and to some interpreters -version is several letters.
func (p Interpreter) informs(option string) bool {
	lang := p.Language
	switch option {
	case "--version", "--help":
		return lang != "tcl"
	case "-version":
		return !p.Input
	case "-v":
		return slices.Contains([]string{"node", "perl", "ruby", "php", "lua", "powershell"}, lang)
	case "-V", "-VV":
		return lang == "python"
	case "-h":
		return slices.Contains([]string{"node", "perl", "ruby", "php", "python"}, lang)
	default:
		return false
	}
}

// readProgram reads the command line of an interpreter that is no shell.
func (p Interpreter) readProgram(name string, args []value.Arg) Interpretation {
	out := Interpretation{Run: Run{Kind: Nothing, Lang: p.Language}}
	var code []value.Value
	var sets value.Value // variables of awk -v, as program text
	finds, i := false, 0
	for ; i < len(args); i++ {
		text := args[i].Text
		if text == "-" || len(text) < 2 || text[0] != '-' || args[i].Certainty == value.Unknown {
			break
		}
		if text == "--" {
			i++
			break
		}
		out.Inspects = out.Inspects || p.inspects(text)
		finds = finds || p.finds(text)
		o := p.option(args[i:])
		switch {
		case o.kind == "module":
			rest := args[i+1:]
			if o.words == 0 {
				rest = append([]value.Arg{o.value}, rest...)
			}
			return p.pythonModule(name, rest, out)
		case o.kind == "code":
			code = append(code, o.value.Val)
			out.Via = name + " " + o.name
		case o.kind == "script":
			out.Kind, out.Args = File, []value.Arg{o.value}
			return out
		}
		if p.Language == "awk" && (o.name == "-v" || o.name == "--assign") {
			sets = slices.Concat(sets, awkVariable(o.value))
		}
		if o.kind == "library" || o.kind == "execute" {
			out.Before = append(out.Before, p.preload(name, o)...)
		}
		if name, _, _ := strings.Cut(o.value.Text, "="); p.Language == "php" && phpFiles[name] {
			file := o.value.Cut(len(name)+1, o.value.Text[len(name)+1:])
			out.Before = append(out.Before, Run{Kind: File, Lang: p.Language, Args: []value.Arg{file}})
		}
		i += o.words
	}
	args = args[min(i, len(args)):]
	switch {
	case len(code) > 0:
		out.Kind, out.Text = Text, lines(code)
	case p.Language == "awk" && len(args) > 0:
		for _, a := range args[1:] { // an operand may assign, too: awk '{ print > f }' f=out.txt data
			sets = slices.Concat(sets, awkVariable(a))
		}
		out.Kind, out.Text, out.Via = Text, slices.Concat(sets, args[0].Val), name
	case len(args) > 0 && !p.Edits && args[0].Text != "-" && args[0].Text != "/dev/stdin":
		out.Kind, out.Args = File, args
	case p.Input:
		out.Kind, out.Via, out.Given = Input, name, finds
	}
	return out
}

// finds reports an option with which p needs no program: it finds one, or tells something.
func (p Interpreter) finds(option string) bool {
	return slices.ContainsFunc(strings.Split(p.Finds, ", "), func(name string) bool {
		begin, more := strings.CutSuffix(name, "*")
		return name != "" && (option == name || more && strings.HasPrefix(option, begin))
	})
}

// lines is the text whose lines are these.
func lines(texts []value.Value) value.Value {
	v := texts[0]
	for _, more := range texts[1:] {
		v = slices.Concat(v, value.Known("\n"), more)
	}
	return v
}

// inspects reports a word with the option after which standard input is code, too.
func (p Interpreter) inspects(text string) bool {
	letters, _, _ := strings.Cut(strings.TrimLeft(text, "-"), "=")
	if strings.HasPrefix(text, "--") {
		return p.Inspect == "i" && letters == "interactive"
	}
	if end := strings.IndexAny(letters, "ceEpmMI"); end >= 0 {
		letters = letters[:end]
	}
	return p.Inspect != "" && strings.Contains(letters, p.Inspect)
}

// awkVariable is what NAME=VALUE sets, as program text.
func awkVariable(a value.Arg) value.Value {
	name, text, found := strings.Cut(a.Text, "=")
	if !found || a.Certainty != value.Exact || !value.IsName(name) {
		return nil
	}
	return value.Known("BEGIN{" + name + "=\"" + strings.ReplaceAll(strings.ReplaceAll(text, `"`, `\"`), "\n", `\n`) + "\"}\n")
}

// phpFiles are settings that name a file to run before or after the program.
var phpFiles = Names("auto_prepend_file auto_append_file")

// preload is the code that an option of p runs before the program: a file or a module, or with Perl the words
// behind -M, which are code: use NAME …;
func (p Interpreter) preload(name string, o optionUse) []Run {
	via := name + " " + o.name
	text := o.value.Text
	if p.Language == "perl" {
		var out []Run
		if text, ok := o.value.Val.Exact(); ok && strings.ContainsAny(text, ";({") {
			out = append(out, Run{Kind: Text, Lang: p.Language, Text: value.Known("use " + text + ";"), Via: via})
		}
		module, _, _ := strings.Cut(text, "=")
		return append(out, Run{Kind: Module, Lang: p.Language, Args: []value.Arg{value.Literal(module)}, Via: via})
	}
	// A name without a path is a library of the interpreter's.
	library := strings.IndexByte("./", (text + "x")[0]) < 0 && o.value.Certainty == value.Exact &&
		!(p.Language == "awk" && strings.HasSuffix(text, ".awk")) && loadsModules[p.Language]
	kind := File
	if library {
		kind = Module
	}
	return []Run{{Kind: kind, Lang: p.Language, Args: []value.Arg{o.value}, Via: via}}
}

// loadsModules are the languages in which the name of a library can stand for a file to load.
var loadsModules = Names("node ruby lua awk")

// pythonModule reads python -m NAME.
func (p Interpreter) pythonModule(name string, args []value.Arg, out Interpretation) Interpretation {
	if len(args) == 0 {
		return out
	}
	module, rest := args[0].Text, args[1:]
	out.Via = name + " -m " + module
	switch module {
	case "timeit":
		options, operands := Getopt(rest, "nrsu", []string{"--setup", "--number", "--repeat", "--unit"})
		var texts []value.Value
		if s, ok := Option(options, "-s", "--setup"); ok {
			texts = append(texts, s.Val)
		}
		for _, a := range operands {
			texts = append(texts, a.Val)
		}
		if len(texts) > 0 {
			out.Kind, out.Text = Text, lines(texts)
		}
	case "code":
		out.Kind, out.Via = Input, name
	case "pdb", "cProfile", "profile", "trace", "runpy", "coverage":
		if _, operands := Getopt(rest, "cosm", nil); len(operands) > 0 && path.Ext(operands[0].Text) == ".py" {
			out.Kind, out.Args = File, operands
		}
		out.Inspects = out.Inspects || module == "pdb"
		if texts := debuggerCommands(rest); module == "pdb" && len(texts) > 0 {
			if out.Kind == File {
				out.Before = append(out.Before, Run{Kind: File, Lang: p.Language, Args: out.Args[:1]})
			}
			out.Kind, out.Text = Text, lines(texts)
		}
	default:
		out.Kind, out.Args = Module, args
	}
	return out
}

// debuggerCommands are the values of pdb's option -c: statements, of which some need "!" in front.
func debuggerCommands(args []value.Arg) (texts []value.Value) {
	for i, a := range args {
		switch {
		case a.Text == "-c" && i+1 < len(args):
			a = args[i+1]
		case strings.HasPrefix(a.Text, "-c") && len(a.Text) > 2:
			a = a.Cut(2, a.Text[2:])
		default:
			continue
		}
		texts = append(texts, a.Val.After(len(a.Text)-len(strings.TrimLeft(a.Text, "! "))))
	}
	return texts
}

// readVerb reads deno eval TEXT, deno run FILE and bun run FILE.
func (p Interpreter) readVerb(name string, args []value.Arg) Interpretation {
	out := Interpretation{Run: Run{Kind: Nothing, Lang: p.Language}}
	if len(args) == 0 {
		out.Kind = Session
		return out
	}
	switch args[0].Text {
	case "eval":
		if _, rest := Getopt(args[1:], "", []string{"--ext"}); len(rest) > 0 {
			out.Kind, out.Text, out.Via = Text, rest[0].Val, name+" eval"
		}
	case "run":
		if _, rest := Getopt(args[1:], "", []string{"--config"}); len(rest) > 0 && strings.Contains(rest[0].Text, ".") {
			out.Kind, out.Args = File, rest
		}
	default:
		if strings.HasPrefix(args[0].Text, "-") || strings.Contains(args[0].Text, ".") {
			return p.readProgram(name, args)
		}
	}
	return out
}
