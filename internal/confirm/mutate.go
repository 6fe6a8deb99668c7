package confirm

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Mutate makes a program that runs one of the seeds' commands, spelled by composed operators. The same seed
// and index make the same program.
func Mutate(seed, index uint64, seeds [][]string) Program {
	m := &mutator{r: rand.New(rand.NewPCG(seed, index^0x5eed))}
	words := seeds[m.r.IntN(len(seeds))]
	text := m.simple(words, 2)
	for range m.r.IntN(3) {
		op := statements[m.r.IntN(len(statements))]
		m.ops = append(m.ops, op.name)
		text = op.rewrite(m, text)
	}
	p := Program{Text: text, From: "mutator", Ops: m.ops}
	if m.r.IntN(4) == 0 {
		p.Mode = 1 + m.r.IntN(200)
	}
	return p
}

type mutator struct {
	r     *rand.Rand
	setup []string
	ops   []string
	fresh int
}

func (m *mutator) one(list ...string) string { return list[m.r.IntN(len(list))] }

func (m *mutator) name() string {
	m.fresh++
	return m.one("v", "p", "d", "tmp", "X") + strconv.Itoa(m.fresh)
}

func (m *mutator) before(format string, args ...any) {
	m.setup = append(m.setup, fmt.Sprintf(format, args...))
}

// simple spells a command: its words, and carriers before them.
func (m *mutator) simple(words []string, depth int) string {
	m.setup = nil
	out := make([]string, len(words))
	for i, w := range words {
		if m.r.IntN(2) == 0 {
			out[i] = m.plain(w)
		} else {
			out[i] = m.word(w, depth)
		}
	}
	if m.r.IntN(6) == 0 {
		m.ops = append(m.ops, "carrier")
		out = append([]string{m.one("env", "command", "nice", "timeout 5", "nohup", "xargs", "exec",
			"env -i PATH=/usr/bin", "env A=b", "stdbuf -o0",
			"builtin command", "setsid -w", "time", "env -u A", "exec -a q", "xargs -r", "nice -n 3",
			"command -p")}, out...)
	}
	return strings.Join(append(m.setup, strings.Join(out, " ")), m.one("\n", "\n", "; "))
}

func (m *mutator) plain(v string) string {
	if v != "" && strings.Trim(v,
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:@%") == "" {
		return v
	}
	return quote(v)
}

// word is a source word whose value is v, if bash does as the operators mean.
func (m *mutator) word(v string, depth int) string {
	if depth <= 0 {
		return m.plain(v)
	}
	if len(v) > 2 && m.r.IntN(6) == 0 {
		m.ops = append(m.ops, "split word")
		at := 1 + m.r.IntN(len(v)-1)
		return m.word(v[:at], depth-1) + m.word(v[at:], depth-1)
	}
	op := words[m.r.IntN(len(words))]
	m.ops = append(m.ops, op.name)
	return op.spell(m, v, func(v string) string { return m.word(v, depth-1) })
}

// wordOp spells a value; in spells a value that it uses itself.
type wordOp struct {
	name  string
	spell func(m *mutator, v string, in func(string) string) string
}

// assigned makes an operator of statements that set $N to the value; %[1]s is the name, %[2]s the value as a
// word.
func assigned(name, format string) wordOp {
	return wordOp{name, func(m *mutator, v string, in func(string) string) string {
		n, w := m.name(), in(v)
		m.before(format, n, w)
		return m.one(`"$`+n+`"`, `"${`+n+`}"`, `"$`+n+`"`, `$`+n)
	}}
}

// printed makes an operator of a command that prints the value.
func printed(name string, body func(m *mutator, v string, in func(string) string) string) wordOp {
	return wordOp{name, func(m *mutator, v string, in func(string) string) string {
		b := body(m, v, in)
		if m.r.IntN(6) == 0 && !strings.ContainsAny(b, "`\\\"") {
			return "\"`" + b + "`\""
		}
		return `"$(` + b + `)"`
	}}
}

// expanded makes an operator of a variable with another value and an expansion that restores it.
func expanded(name string, make func(m *mutator, v string) (value, expansion string)) wordOp {
	return wordOp{name, func(m *mutator, v string, in func(string) string) string {
		value, expansion := make(m, v)
		n := m.name()
		m.before("%s=%s", n, in(value))
		return `"${` + strings.ReplaceAll(expansion, "$N", n) + `}"`
	}}
}

func mid(v string) int { return len(v) / 2 }

func reversed(v string) string {
	b := []byte(v)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return string(b)
}

func rot13(v string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, v)
}

func echoOf(m *mutator, w string) string {
	return m.one("echo "+w, "printf %s "+w, `printf '%s\n' `+w, "cat <<< "+w, "printf -- '%s' "+w)
}

// statementOp rewrites a whole text.
type statementOp struct {
	name    string
	rewrite func(m *mutator, text string) string
}

func wrap(name string, formats ...string) statementOp {
	return statementOp{name, func(m *mutator, text string) string {
		return strings.ReplaceAll(m.one(formats...), "%T", text)
	}}
}

// handed makes an operator that hands the text over as one word; %W is the word.
func handed(name string, formats ...string) statementOp {
	return statementOp{name, func(m *mutator, text string) string {
		m.setup = nil
		w := quote(text)
		if m.r.IntN(3) == 0 && len(text) < 400 {
			w = m.word(text, 1)
		}
		body := strings.ReplaceAll(m.one(formats...), "%W", w)
		return strings.Join(append(m.setup, body), "\n")
	}}
}

var statements = []statementOp{
	handed("eval", "eval %W", "eval eval \\'\\' %W", "builtin eval %W", "eval -- %W"),
	handed("bash -c", "bash -c %W", "bash -ec %W a b", "bash -o pipefail -c %W", "env bash -c %W",
		"bash +x -c %W x"),
	handed("sh -c", "sh -c %W", "dash -c %W", "/bin/sh -c %W", "sh -ec %W"),
	handed("text to bash", "echo %W | bash", "printf %s %W | bash -s", "bash <<< %W", "cat <<< %W | sh",
		"bash < <(printf '%s\\n' %W)",
		"printf '%s\\n' %W | bash -s -- a b", "bash /dev/stdin <<< %W"),
	handed("source substitution", "source <(echo %W)", ". /dev/stdin <<< %W", "bash <(printf %s %W)",
		"source /dev/stdin <<< %W"),
	handed("script file", "echo %W > x.sh; bash x.sh", "printf '%s\\n' %W > x.sh; chmod +x x.sh; ./x.sh",
		"echo %W > x.sh; . ./x.sh", "cat <<< %W > build/x.sh; sh build/x.sh",
		"exec 3> x.sh; echo %W >&3; bash x.sh", "echo %W | tee x.sh > /dev/null; bash x.sh"),
	handed("xargs shell", "echo x | xargs -I{} bash -c %W", "printf 'a\\n' | xargs -n1 sh -c %W z",
		"find src -maxdepth 0 -exec bash -c %W \\;"),
	handed("trap text", "trap %W EXIT", "trap %W USR1; kill -USR1 $$", "trap %W 0; exit",
		"trap -- %W ERR; false", "trap %W DEBUG; :"),
	handed("text in variable", "t=%W; eval \"$t\"", "t=%W\nbash -c \"$t\"", "set -- %W; eval \"$1\"",
		"export t=%W; bash -c 'eval \"$t\"'", "t=(%W); eval \"${t[@]}\""),
	wrap("here-document to bash", "bash <<'EOT'\n%T\nEOT", "bash -s <<\"EOT\"\n%T\nEOT",
		"sh <<'EOT'\n%T\nEOT", "cat <<'EOT' | bash\n%T\nEOT", "bash 3<<'EOT' /dev/fd/3\n%T\nEOT",
		"cat > x.sh <<'EOT'\n%T\nEOT\nbash x.sh"),
	wrap("function", "fn() {\n%T\n}\nfn", "function fn {\n%T\n}\nfn a b",
		"fn() { :; }\nfn() {\n%T\n}\nfn", "fn() (\n%T\n)\nfn", "g() { fn; }\nfn() {\n%T\n}\ng"),
	wrap("function in the way", "fn() { return; }\nfn\n%T", "cd() { :; }\ncd src\n%T",
		"tool() { command tool wrapped \"$@\"; }\n%T", "fn() { local d=other; }\nd=x\nfn\n%T",
		"echo() { tool echo; }\n%T", "fn() { cd src; }\nfn\n%T"),
	wrap("if", "if true; then\n%T\nfi", "if false; then :; else\n%T\nfi",
		"if tool c; then\n%T\nelse\n:\nfi", "if [ -d build ]; then\n%T\nfi",
		"if ! cd nosuch 2>/dev/null; then\n%T\nfi"),
	wrap("case", "case x in y) ;; *)\n%T\n;; esac", "case build in b*)\n%T\n;; esac",
		"case a in a) ;& b)\n%T\n;; esac", "case $HOME in /home/*)\n%T\n;; esac"),
	wrap("loop", "for i in 1; do\n%T\ndone", "for i in a b; do\n%T\ndone",
		"while true; do\n%T\nbreak\ndone", "until false; do\n%T\nbreak\ndone",
		"for ((k=0; k<1; k++)); do\n%T\ndone",
		"while read -r l; do\n%T\ndone < requirements.txt", "echo z | while read z; do\n%T\ndone"),
	wrap("subshell", "(\n%T\n)", "{\n%T\n}", "( ( :; %T\n) )", "x=$(\n%T\n)", "(cd src)\n%T", "! {\n%T\n}"),
	wrap("and-or", "true && {\n%T\n}", "false || {\n%T\n}", "[ -e build ] && {\n%T\n}",
		"tool a || tool b && {\n%T\n}", "! true || {\n%T\n}", "shopt -q login_shell || {\n%T\n}",
		"x=$(false) || {\n%T\n}"),
	wrap("directory", "cd src; cd ..\n%T", "cd src\n%T", "cd nosuch\n%T", "cd nosuch || {\n%T\n}",
		"pushd src > /dev/null\n%T\npopd", "cd build/sub && cd - > /dev/null\n%T", "mkdir -p n1 && cd n1\n%T",
		"cd link\n%T", "cd -P link; cd ..\n%T", "CDPATH=$HOME; cd app\n%T", "cd README.md\n%T",
		"cd ~\n%T", "(cd /tmp)\n%T", "cd src extra\n%T", "cd \"$nosuch\"\n%T", "cd build | cat\n%T",
		"cd /tmp &\nwait\n%T", "OLDPWD=/tmp\ncd - >/dev/null\n%T"),
	wrap("redirected", "{\n%T\n} > out.log", "{\n%T\n} 2>&1 | cat", "exec > all.log\n%T",
		"{\n%T\n} <<< in", "{\n%T\n} < /dev/null >> README.md", "{\n%T\n} > /dev/null 2>&1"),
	wrap("here-document before", "cat <<E > h.txt\nx $HOME\nE\n%T", "cat <<'E'\n%T\nE\n%T",
		": <<E\nfoo\\\nE\nE\n%T", "cat <<-E\n\tx\n\tE\n%T", "cat <<A; cat <<B\na\nA\nb\nB\n%T",
		"tool <<E\n${x:-y} `echo q`\nE\n%T"),
	wrap("options of the shell", "set -e\n%T", "set -u\n%T", "set -f\n%T", "set -euo pipefail\n%T",
		"set -o posix\n%T", "shopt -s nullglob extglob\n%T", "shopt -s lastpipe\n%T",
		"set -e; false || true\n%T", "shopt -s nocasematch\n%T",
		"set +B\n%T", "set -k\n%T", "shopt -s patsub_replacement\n%T", "set -- a b\n%T",
		"set -e\nfalse\n%T", "shopt -s xpg_echo\n%T"),
	wrap("separator", "IFS=:\n%T", "IFS=\n%T", "IFS=,\n%T\nunset IFS", "IFS=x\n%T",
		"OLD=$IFS; IFS=/; IFS=$OLD\n%T"),
	wrap("alias", "shopt -s expand_aliases\nalias zz='echo '\n%T",
		"shopt -s expand_aliases\nalias tool='tool aliased'\n%T", "alias tool=false\n%T", "unalias -a\n%T"),
	wrap("background", "{\n%T\n} &\nwait", "{\n%T\n} & wait $!", "coproc {\n%T\n}\nwait", "sleep 1 &\n%T"),
	wrap("comment", "# note\n%T # end", "%T\n# end", ": # it's\n%T", "true;%T", "%T;", "\n\n  %T  \n"),
	wrap("shifted", "set -- x y z\nshift\n%T", "fn() { shift\n%T\n}\nfn a b c", "set --\n%T",
		"while [ $# -gt 0 ]; do shift; done\n%T"),
	wrap("ends early", "%T\nexit\ntool no", "fn() { %T\nreturn\ntool no; }\nfn", "( exit 3 )\n%T",
		"false\n%T", "for i in 1 2; do\n%T\ncontinue\ntool no\ndone"),
}
