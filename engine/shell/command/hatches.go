package command

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// hatch is a way in which the language of a program runs shell text.
type hatch struct {
	open string // what stands before it
	end  string // what ends it; "" for the end of a line that begins with open
}

var (
	bang      = []hatch{{open: "!"}}
	editor    = []hatch{{open: "!"}, {open: "silent !"}, {open: "sil !"}, {open: "r !"}, {open: "r!"}, {open: "w !"}, {`system("`, `"`}, {"system('", "'"}, {`os.execute("`, `"`}, {"os.execute('", "'"}, {open: "terminal "}}
	shellCall = []hatch{{"$(shell ", ")"}}
)

// hatches lists them by program. They are looked for in the arguments and on a known standard input.
var hatches = map[string][]hatch{
	"vim": editor, "vi": editor, "nvim": editor, "ex": editor, "view": editor, "gvim": editor, "vimdiff": editor, "rvim": editor,
	"ed": bang, "red": bang, "less": bang, "more": bang, "ftp": bang, "sftp": {{open: "!"}, {"ProxyCommand=", "\n"}}, "telnet": bang, "dc": bang, "lftp": bang, "smbclient": bang, "nmap": bang, "mutt": bang, "ipython": bang, "hg": {{"=!", "\n"}},
	"gdb": {{open: "shell "}, {open: "!"}, {`system("`, `"`}}, "lldb": {{open: "shell "}, {open: "platform shell "}, {open: "!"}},
	"psql": {{open: `\!`}}, "mysql": {{open: `\!`}, {open: "system "}}, "mariadb": {{open: `\!`}, {open: "system "}}, "sqlite3": {{open: ".shell "}, {open: ".system "}},
	"m4": {{"syscmd(`", "')"}, {"syscmd([", "])"}, {"syscmd(", ")"}}, "slsh": {{`system("`, `"`}, {"system('", "'"}}, "rpm": {{"%(", ")"}, {`os.execute("`, `"`}}, "rpmbuild": {{"%(", ")"}}, "rpmspec": {{"%(", ")"}}, "make": shellCall, "gmake": shellCall,
	"tmux":   {{`run-shell "`, `"`}, {"run-shell '", "'"}, {`run "`, `"`}, {"run '", "'"}},
	"fzf":    {{"execute(", ")"}, {"execute-silent(", ")"}, {"become(", ")"}, {"reload(", ")"}},
	"ranger": {{open: "shell "}}, "weechat": {{open: "/exec "}}, "screen": {{open: "exec "}},
	"gh": bang, "strace": {{open: "|"}}, "erl": {{`os:cmd("`, `"`}}, "racket": {{`(system "`, `"`}}, "guile": {{`(system "`, `"`}}, "sbcl": {{`:command "`, `"`}}, "ghc": {{`system "`, `"`}, {`callCommand "`, `"`}},
	"ocaml": {{`Sys.command "`, `"`}}, "emacs": {{`(shell-command "`, `"`}, {`(shell-command-to-string "`, `"`}, {`(call-process-shell-command "`, `"`}}, "octave": {{`system("`, `"`}}, "gnuplot": {{`system("`, `"`}, {open: "!"}}, "maxima": {{`system("`, `"`}}, "swipl": {{`shell("`, `"`}},
	"glab": bang, "xdg-user-dir": {{"};", "#"}},
	"jj": {{`pager="`, `"`}}, "cargo": {{`wrapper="`, `"`}, {`linker="`, `"`}, {`runner="`, `"`}},
}

// find returns the shell text in a line.
func (e hatch) find(line string) (string, bool) {
	if e.end == "" {
		return strings.CutPrefix(strings.TrimLeft(line, ":+ \t"), e.open)
	}
	_, rest, found := strings.Cut(line, e.open)
	if !found {
		return "", false
	}
	if e.end == ")" {
		return balanced(rest), true
	}
	text, _, _ := strings.Cut(rest, e.end)
	return text, true
}

// balanced returns the text up to the bracket that closes one opened before it.
func balanced(text string) string {
	depth := 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			if depth == 0 {
				return text[:i]
			}
			depth--
		}
	}
	return text
}

// sedScripts are the scripts of a sed command line.
func sedScripts(args []value.Arg) []string {
	options, scripts := 0, []string(nil)
	for i, a := range args {
		switch {
		case (a.Text == "-e" || a.Text == "--expression") && i+1 < len(args):
			scripts = append(scripts, args[i+1].Prefix)
			options++
		case strings.HasPrefix(a.Prefix, "--expression="):
			scripts = append(scripts, a.Prefix[len("--expression="):])
			options++
		case a.Text == "-f" || strings.HasPrefix(a.Text, "--file"):
			options++
		}
	}
	if options > 0 {
		return scripts
	}
	if i := slices.IndexFunc(args, func(a value.Arg) bool { return !strings.HasPrefix(a.Text, "-") }); i >= 0 {
		return []string{args[i].Prefix}
	}
	return nil
}

// sedCommand reads one command of a sed script: the shell text that it runs, if any, and
// what follows it.
func sedCommand(script string) (run, rest string) {
	script = strings.TrimLeft(script, " \t;\n{}!,$+~0123456789IM")
	if script == "" {
		return "", ""
	}
	switch c := script[0]; c {
	case '/', '\\':
		delimiter := byte('/')
		if c == '\\' {
			if len(script) < 2 {
				return "", ""
			}
			script, delimiter = script[1:], script[1]
		}
		_, rest = value.SedPart(script[1:], delimiter)
		return "", rest
	case 's', 'y':
		if len(script) < 2 {
			return "", ""
		}
		_, rest = value.SedPart(script[2:], script[1])
		replacement, rest := value.SedPart(rest, script[1])
		flags := len(rest) - len(strings.TrimLeft(rest, "gpiImMe0123456789"))
		if c == 's' && strings.Contains(rest[:flags], "e") {
			return strings.ReplaceAll(replacement, `\`, ""), rest[flags:]
		}
		return "", rest[flags:]
	case 'e':
		line, rest, _ := strings.Cut(script[1:], "\n")
		return strings.TrimSpace(line), rest
	case 'a', 'i', 'c', 'r', 'R', 'w', 'W', 'b', 't', 'T', ':', '#':
		_, rest, _ = strings.Cut(script, "\n")
		if end := strings.IndexByte(script, ';'); end >= 0 && strings.IndexByte("btT", c) >= 0 {
			rest = script[end:]
		}
		return "", rest
	default:
		return "", script[1:]
	}
}

// Escapes returns the shell text in a source of that program's language: an argument, or its standard input.
func Escapes(name, source string, step value.Meter) []Run {
	var l line
	for _, e := range hatches[name] {
		if !strings.Contains(source, e.open) || !step(1+len(source)/bytesPerStep) {
			continue
		}
		for _, text := range strings.Split(source, "\n") {
			if text, ok := e.find(text); ok {
				l.shell(value.Known(text), strings.TrimSpace(name+" "+strings.Trim(e.open, " \"'([`$%")))
			}
		}
	}
	return l.list
}

// SedCommands returns the shell texts that the command e and the flag e of s run.
func SedCommands(args []value.Arg, step value.Meter) []string {
	var out []string
	for _, script := range sedScripts(args) {
		for len(script) > 0 && step(1) {
			command, rest := sedCommand(script)
			if command != "" {
				out = append(out, command)
			}
			script = rest
		}
	}
	return out
}

// bytesPerStep is how much text is looked through for one step.
const bytesPerStep = 64
