package shell

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/command"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Programs that run a command which they are handed in an option, a variable or a line of
// their own language. The command is walked as if the shell ran it here; what else the
// program does is not this package's business.

// holders lists the options whose value is a command, by program.
var holders = map[string][]string{
	"rsync": {"-e", "--rsh", "--rsync-path"}, "sftp": {"-S"}, "scp": {"-S"},
	"tar": {"-I", "-F", "--to-command", "--use-compress-program", "--info-script", "--new-volume-script", "--rsh-command", "--checkpoint-action=exec"}, "bsdtar": {"--use-compress-program"}, "cpio": {"--rsh-command"},
	"zip": {"-TT", "--unzip-command"}, "sort": {"--compress-program"}, "split": {"--filter"}, "make": {"SHELL"}, "gmake": {"SHELL"},
	"yt-dlp": {"--exec", "--exec-before-download"}, "youtube-dl": {"--exec"}, "tcpdump": {"-z"}, "wget": {"--use-askpass"}, "rg": {"--pre", "--hostname-bin"}, "openvpn": {"--up", "--down", "--route-up", "--ipchange", "--tls-verify", "--client-connect", "--auth-user-pass-verify"},
	"aria2c":  {"--on-download-complete", "--on-download-start", "--on-download-error", "--on-download-stop", "--on-download-pause", "--on-bt-download-complete"},
	"dmsetup": {"--exec"}, "socket": {"-p"}, "stap": {"-c"}, "bpftrace": {"-c"}, "watchman-make": {"--run"}, "nix-shell": {"--run", "--command"}, "fly": {"-C"}, "flyctl": {"-C"},
	"man": {"-P", "--pager", "-H", "--html"}, "journalctl": {"--pager"}, "fzf": {"--preview"}, "sk": {"--preview"}, "restic": {"--password-command"}, "borg": {"--rsh"}, "hyperfine": {"--prepare", "-p", "--setup", "-s", "--cleanup", "-c", "--conclude"},
	"latexmk": {"-pdflatex", "-latex", "-lualatex", "-xelatex", "-bibtex", "-dvipdf"}, "perlbug": {"-e"}, "perlthanks": {"-e"}, "gem": {"-e", "--editor"}, "forge": {"--use"},
	"check_ssl_cert": {"--grep-bin", "--curl-bin", "--openssl", "--file-bin", "--dig-bin", "--nmap-bin"}, "gtester": {"-q"}, "check_by_ssh": {"-C"}, "git-annex": {"-c"},
	"svn": {"--diff-cmd", "--editor-cmd", "--diff3-cmd"}, "npm": {"--script-shell"}, "bazel": {"--run_under"}, "go": {"-exec", "-toolexec", "-vettool"}, "az": {"--scripts"}, "tmux": {"-c"}, "cargo": {"-x"}, "gcloud": {"--command"},
	"git": {"--upload-pack", "--receive-pack", "--extcmd"}, "dpkg": {"--pre-invoke", "--post-invoke"}, "lynx": {"-editor"}, "w3m": {"-pager"}, "mutt": {"-e"},
	"certbot": {"--pre-hook", "--post-hook", "--deploy-hook", "--renew-hook", "--manual-auth-hook"}, "sshfs": {"-ossh_command"},
}

// commandVariables hold a command that some program runs. Most are run with more arguments.
var commandVariables = command.Names("PAGER GIT_PAGER MANPAGER SYSTEMD_PAGER PSQL_PAGER DELTA_PAGER BAT_PAGER GH_PAGER AWS_PAGER EDITOR VISUAL GIT_EDITOR GIT_SEQUENCE_EDITOR" +
	" SYSTEMD_EDITOR SUDO_EDITOR KUBE_EDITOR FCEDIT HGEDITOR SVN_EDITOR GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS" +
	" RSYNC_RSH CVS_RSH SVN_SSH FZF_DEFAULT_COMMAND BORG_PASSCOMMAND RESTIC_PASSWORD_COMMAND BROWSER LESSOPEN LESSCLOSE")

// optionVariables name files that an interpreter, or git, loads before its work.
var optionVariables = map[string]string{
	"NODE_OPTIONS": "node", "RUBYOPT": "ruby", "PERL5OPT": "perl", "PYTHONSTARTUP": "python",
	"GIT_CONFIG_GLOBAL": "git", "GIT_CONFIG_SYSTEM": "git", "GIT_CONFIG": "git",
}

// held walks the commands that an invocation hands to the program it starts.
func (w *walker) held(inv *invocation, name string) {
	w.heldVariables(inv, inv.assigns)
	w.heldOptions(inv, name)
	for _, e := range hatches[name] {
		w.escaped(inv, name, e)
	}
}

// heldVariables walks the commands that variables hold for the programs that read them.
func (w *walker) heldVariables(inv *invocation, assigns []value.Assign) {
	for _, a := range assigns {
		switch {
		case strings.HasPrefix(a.Name, "BASH_FUNC_"):
			w.aside(inv, a.Value.Value().After(len("()")), a.Name)
		case a.Name == "BASH_ALIASES":
			w.aside(inv, a.Value.Value(), a.Name)
		}
		if inv.prefix {
			w.prompt(a.Name, a.Value.Value())
		}
		if lang := optionVariables[a.Name]; lang != "" {
			w.heldFiles(inv, a, lang)
		}
		if commandVariables[a.Name] || a.Name == "PROMPT_COMMAND" {
			v := a.Value.Value()
			w.aside(inv, v.After(len(a.Value.Prefix)-len(strings.TrimLeft(a.Value.Prefix, "|-! "))), a.Name)
		}
	}
}

// heldFiles looks through files of this text that the options in a variable name.
func (w *walker) heldFiles(inv *invocation, a value.Assign, lang string) {
	separates := func(r rune) bool { return strings.ContainsRune(" \t=:", r) }
	for _, word := range strings.FieldsFunc(a.Value.Text, separates) {
		abs, ok := absolute(w.ctx.st.here(), strings.TrimPrefix(word, "-r"))
		f := w.ctx.st.files[abs]
		switch {
		case !ok || len(f.content) == 0:
		case lang == "git":
			for _, text := range gitCommands(f.content.Text(), nil) {
				w.aside(inv, value.Known(text), a.Name)
			}
		default:
			w.runInline(inv, Code{Language: lang, From: CodeFile}, f.content, a.Name)
		}
	}
}

// heldOptions walks the commands that options hold.
func (w *walker) heldOptions(inv *invocation, name string) {
	args := inv.args[min(1, len(inv.args)):]
	for _, option := range holders[name] {
		for i, a := range args {
			if a.Text == option && i+1 < len(args) {
				w.aside(inv, args[i+1].Val, name+" "+option)
			} else if len(a.Prefix) > len(option) && strings.HasPrefix(a.Prefix, option) && (a.Prefix[len(option)] == '=' || len(option) == 2) {
				rest := a.Val.After(len(option))
				w.aside(inv, rest.After(len(rest.Prefix())-len(strings.TrimLeft(rest.Prefix(), "=|!"))), name+" "+option)
			}
		}
	}
}

// aside walks a command that another program runs, as far as it is known. What is not known
// of it stays without a mark: it is an argument like others.
func (w *walker) aside(inv *invocation, v value.Value, via string) {
	if hasCode(v) && strings.TrimSpace(v.Text()) != "" {
		w.perhaps(func() {
			w.reparse(inv.idx, w.holes.Source(v), via, func(c *context) {
				c.st, c.in = w.child("sh"), nil
				c.st.whole = false // the program may have set variables
				if name, _, _ := strings.Cut(via, " "); name == "split" {
					c.st.vars["FILE"] = variable{val: splitName(inv.args[1:])}
				}
			})
		})
	}
}

// splitName is the name of a piece that split writes: its second operand, or x, and a suffix.
func splitName(args []value.Arg) value.Value {
	_, operands := command.Getopt(args, "abClnt", nil)
	prefix := value.Known("x")
	if len(operands) > 1 {
		prefix = operands[1].Val
	}
	return append(slices.Clone(prefix), value.Piece{Text: "aa", Data: true})
}

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
	"tmux": {{`run-shell "`, `"`}, {"run-shell '", "'"}}, "fzf": {{"execute(", ")"}, {"execute-silent(", ")"}, {"become(", ")"}, {"reload(", ")"}}, "ranger": {{open: "shell "}}, "weechat": {{open: "/exec "}}, "screen": {{open: "exec "}},
	"gh": bang, "strace": {{open: "|"}}, "erl": {{`os:cmd("`, `"`}}, "racket": {{`(system "`, `"`}}, "guile": {{`(system "`, `"`}}, "sbcl": {{`:command "`, `"`}}, "ghc": {{`system "`, `"`}, {`callCommand "`, `"`}},
	"ocaml": {{`Sys.command "`, `"`}}, "emacs": {{`(shell-command "`, `"`}, {`(shell-command-to-string "`, `"`}, {`(call-process-shell-command "`, `"`}}, "octave": {{`system("`, `"`}}, "gnuplot": {{`system("`, `"`}, {open: "!"}}, "maxima": {{`system("`, `"`}}, "swipl": {{`shell("`, `"`}},
	"jj": {{`pager="`, `"`}}, "cargo": {{`wrapper="`, `"`}, {`linker="`, `"`}, {`runner="`, `"`}},
}

// escaped walks the shell text behind e.open wherever the program is told of it.
func (w *walker) escaped(inv *invocation, name string, e hatch) {
	sources := make([]string, 0, len(inv.args))
	for _, a := range inv.args[min(1, len(inv.args)):] {
		sources = append(sources, a.Prefix)
	}
	if in := w.stdin(); in != nil && in.from != CodeNone {
		sources = append(sources, in.text.Prefix())
	}
	for _, source := range sources {
		if !strings.Contains(source, e.open) || !w.step(1+len(source)/bytesPerStep) {
			continue
		}
		for _, line := range strings.Split(source, "\n") {
			if text, ok := e.find(line); ok && w.budget == "" {
				w.aside(inv, value.Known(text), strings.TrimSpace(name+" "+strings.Trim(e.open, " \"'([`$%")))
			}
		}
	}
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

// sed walks what the command e and the flag e of s run.
func (w *walker) sed(inv *invocation) {
	for _, script := range sedScripts(inv.args[1:]) {
		for len(script) > 0 && w.step(1) {
			command, rest := sedCommand(script)
			if command != "" {
				w.aside(inv, value.Known(command), "sed e")
			}
			script = rest
		}
	}
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
