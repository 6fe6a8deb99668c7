package confirm

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
)

// Generate makes a program of the grammar. The same seed and index make the same program.
func Generate(seed, index uint64) Program {
	g := &grammar{r: rand.New(rand.NewPCG(seed, index))}
	g.sh = g.r.IntN(25) == 0
	n := 2 + g.r.IntN(6)
	lines := make([]string, 0, n+9)
	if g.r.IntN(4) > 0 {
		for _, v := range strings.Fields("a b c d x dir f OUT") {
			if g.r.IntN(3) > 0 {
				lines = append(lines, v+"="+g.literal())
			}
		}
		lines = []string{strings.Join(lines, "; ")}
	}
	for range n {
		lines = append(lines, g.statement(2))
	}
	lines = append(lines, "tool end "+g.dquoted(g.variable())+" "+g.word(1))
	p := Program{Text: strings.Join(lines, "\n"), Sh: g.sh, From: "generator", Ops: g.used}
	if g.r.IntN(3) == 0 {
		p.Mode = 1 + g.r.IntN(200)
	}
	return p
}

type grammar struct {
	r      *rand.Rand
	sh     bool
	inFunc bool
	used   []string // the productions
	fresh  int
}

func (g *grammar) one(list ...string) string { return list[g.r.IntN(len(list))] }

func (g *grammar) note(name string) {
	for _, n := range g.used {
		if n == name {
			return
		}
	}
	g.used = append(g.used, name)
}

func (g *grammar) variable() string { return g.one("a", "b", "c", "d", "x", "dir", "f", "OUT") }

func (g *grammar) literal() string {
	return g.one("build", "src", "x", "a-b", "'a b'", "~/precious", "../precious", "-rf", "--all",
		"README.md", "a/b/c.txt",
		`"q r"`, "v1.2.3", "k=v", "/tmp/t", "build/sub", "12", "7", "0", "foo:bar", "a,b", "Abc", "xyzzy",
		"..", ".", `a\ b`,
		"''", "/home/dev/app/src", "a.b.c", "%s", "é", "x*y", "A_B")
}

func (g *grammar) pattern() string {
	return g.one("*", "?", "b*", "*.txt", "a", "*/", "/*", "*.", ".*", "[a-m]*", "x", "build", "*b", "~",
		"[!a]*", "b?i*", "."+"*", "/", "'*'", `\*`, "o")
}

func (g *grammar) number() string {
	return g.one("0", "1", "2", "3", "-1", "5", "10", "a", "x+1", "010", "0x1f", "2**3")
}

func (g *grammar) dquoted(v string) string { return `"$` + v + `"` }

// word is any word; depth bounds substitutions.
func (g *grammar) word(depth int) string {
	v := g.variable()
	k := g.r.IntN(30)
	if depth <= 0 && k >= 22 {
		k = g.r.IntN(8)
	}
	switch k {
	case 0, 1, 2, 3:
		return g.literal()
	case 4, 5:
		return g.dquoted(v)
	case 6:
		return "$" + v
	case 7:
		return g.literal() + g.dquoted(v)
	case 8:
		return `"${` + v + `}/` + g.one("x", "sub", "..", "a.o") + `"`
	case 9, 10, 11:
		return g.quoteMaybe(g.expansion(v, depth))
	case 12:
		g.note("positional")
		return g.one(`"$1"`, `$2`, `"$@"`, `"$*"`, `$@`, `$*`, `$#`, `"${@:2}"`, `"${1:-none}"`,
			`"${*:1:2}"`, `"${!#}"`, `$?`, `"$0"`)
	case 13:
		g.note("braces")
		return g.one("{a,b}", "x{1..3}", "build/{a,b}.o", "{a,b}{c,d}", "{3..1}", "{a..e..2}", "p{,q}",
			`{"$a",y}`, "{01..03}", "{x}", "{a,{b,c}}")
	case 14:
		g.note("glob")
		return g.one("*.md", "build/*", "src/*.py", "*", "b*d", "[bs]*", "build/*.o", "nosuch*", "*/",
			".*", "s?c", "*/*.txt", "~/p*")
	case 15:
		g.note("ansi-c")
		return g.one(`$'a\tb'`, `$'\x41\x42'`, `$'\101'`, `$'a\nb'`, `$'\u00e9'`, `$'it\'s'`, `$'\e'`,
			`$'a\0b'`, `$'\x{41}'`, `$'\cA'`, `$'\1012'`, `$'\U41'`, `$'\"\?'`)
	case 16:
		g.note("tilde")
		return g.one("~", "~/x", `~/"x y"`, "~dev/x", "~+", "~-", "a:~/b", "x=~/y", `"~"`)
	case 17, 18, 19:
		g.note("array-use")
		return g.one(`"${arr[0]}"`, `"${arr[@]}"`, `"${arr[*]}"`, `${arr[1]}`, `${#arr[@]}`,
			`"${arr[-1]}"`, `"${arr[@]:1}"`, `"${!arr[@]}"`,
			`"${arr[@]/a/b}"`, `"${arr[@]#?}"`, `"$arr"`, `"pre${arr[@]}post"`, `"${m[k]}"`,
			`"${arr[i]}"`, `"${arr[@]:0:2}"`, `"${arr[@]^}"`, `"${arr[i++]}"`, `"${arr[n=1]:-x}"`, `"${#arr[i++]}"`)
	case 20, 21:
		g.note("arithmetic")
		return "$((" + g.arith(2) + "))"
	default:
		return g.substitution(depth - 1)
	}
}

func (g *grammar) quoteMaybe(s string) string {
	if g.r.IntN(3) > 0 {
		return `"` + s + `"`
	}
	return s
}

func (g *grammar) expansion(v string, depth int) string {
	w, p := g.one("build", "$HOME", "x y", "$b", "", "../precious", "'q'", `"$a"`, "a*"), g.pattern()
	form := g.one(":-", "-", ":=", "=", ":+", "+", "#", "##", "%", "%%", "/", "//", "/#", "/%", "^", "^^",
		",", ",,", "sub", "sub2", "len",
		"ind", "@Q", "@U", "@E", "@L", "names")
	g.note("${" + form + "}")
	switch form {
	case ":-", "-", ":=", "=", ":+", "+":
		return "${" + v + form + w + "}"
	case "#", "##", "%", "%%":
		return "${" + v + form + p + "}"
	case "/", "//", "/#", "/%":
		r := g.one("/"+g.one("Z", "&", "$b", "", `\&`, "[&]", "a/b", "'s'", "~"), "", "/")
		return "${" + v + form + strings.ReplaceAll(p, "/", `\/`) + r + "}"
	case "^", "^^", ",", ",,":
		return "${" + v + form + g.one("", "", "[a-m]", "?") + "}"
	case "sub":
		return "${" + v + ":" + g.one("1", "0", " -2", "2", "9", "$i", "i+1", "i++") + "}"
	case "sub2":
		return "${" + v + ":" + g.one("0", "1", " -3", "2") + ":" + g.one("1", "2", "-1", "3", "0") + "}"
	case "len":
		return "${#" + v + "}"
	case "ind":
		return "${!" + g.one("ref", "a", "b") + "}"
	case "names":
		return g.one("${!a*}", `${!OU@}`)
	}
	return "${" + v + form + "}"
}

func (g *grammar) arith(depth int) string {
	if depth == 0 || g.r.IntN(3) == 0 {
		return g.one(g.number(), "i", "n", "$i", "i++", "(n+=2)", "--i", "(n=4)", "${#a}", "arr[0]",
			"arr[i++]", "$((i++))", "${n:=3}", "$n", "$(tool $i $n >/dev/null; echo 1)")
	}
	a, b := g.arith(depth-1), g.arith(depth-1)
	switch g.r.IntN(5) {
	case 0:
		return a + " ? " + b + " : " + g.number()
	case 1:
		return "(" + a + ") " + g.one("<", ">", "==", "!=", "<=", "&&", "||") + " " + b
	}
	return a + " " + g.one("+", "-", "*", "/", "%", "<<", "&", "|", "^", ",") + " " + b
}

// substitution is $( ), `…`, or $(<file).
func (g *grammar) substitution(depth int) string {
	g.note("substitution")
	body := g.one("echo "+g.word(depth), "printf '%s' "+g.word(depth), "say "+g.literal(), "say1 x",
		"cat requirements.txt",
		"head -1 requirements.txt", "tail -n 1 words.txt", "echo "+g.literal()+" | tr a-z A-Z",
		"echo "+g.literal()+" | sed 's/a/b/'",
		"basename "+g.word(0), "dirname "+g.word(0), "seq 3",
		"echo "+g.dquoted(g.variable())+" | cut -d/ -f1", "printf '%s\\n' b a c | sort",
		"< README.md", "false", "pwd", "cd src && pwd", "printf '%03d' 7", "printf '%b' 'a\\tb'",
		"echo -n "+g.word(0), "echo -e 'x\\ty'",
		"printf '%s-' a b c", "echo "+g.word(0)+" | rev", "tr -d '\\n' < requirements.txt",
		"wc -l < requirements.txt", "mktemp",
		"printf '%q' 'a b'", "echo a b c | awk '{print $2}'", "ls build", "realpath src",
		"echo aGVsbG8= | base64 -d", "printf '%x' 255",
		"expr 1 + 2", "printf '%5s|' ab", "printf '%.2s' abc", "printf '%c' xyz",
		"nl words.txt | head -1", "tac requirements.txt",
		"a=inner; echo $a", "shift; echo $1", "exit 3", "echo one; echo two", "IFS=,; echo \"$*\"",
		"date +%Y")
	if g.r.IntN(5) == 0 && !strings.ContainsAny(body, "`\\") {
		return g.quoteMaybe("`" + body + "`")
	}
	return g.quoteMaybe("$(" + body + ")")
}

func (g *grammar) command(depth int) string {
	parts := []string{g.one("tool", "tool", "tool", "tool run", "git status", "cmake", "rm -f", "npm run")}
	for range 1 + g.r.IntN(3) {
		parts = append(parts, g.word(depth))
	}
	switch g.r.IntN(12) {
	case 0:
		g.note("redirect")
		parts = append(parts, g.one(">out.txt", ">> README.md", "2>/dev/null", "> build/$a",
			`>"${OUT:-log}"`, "&> all.log", "2>&1", "< README.md", ">| src/o", "3> three >&3", "<> rw",
			"> ~/o.txt", ">&2", ">out{1,2}"))
	case 1:
		g.note("here-string")
		parts = append(parts, "<<<"+g.word(0))
	case 2:
		g.note("prefix assignment")
		parts = append([]string{g.variable() + "=" + g.word(0)}, parts...)
	case 3:
		parts = append([]string{g.one("env", "command", "nice", "timeout 5", "env A=1", "nohup",
			"exec -a z", "builtin command", "time", "!")}, parts...)
		g.note("carrier")
	}
	return strings.Join(parts, " ")
}

func (g *grammar) condition(depth int) string {
	v := g.variable()
	return g.one("true", "false", "tool check", "[ -n "+g.dquoted(v)+" ]", "[ -z \"$"+v+"\" ]",
		"[[ $"+v+" == "+g.pattern()+" ]]", "[ -d build ]", "[ -f nosuch ]",
		"[ \"$"+v+"\" = build ]", "[[ -e src && $"+v+" ]]", "(( "+g.arith(1)+" ))", "test -d "+g.word(0),
		"! true", "grep -q flask requirements.txt", "[[ $"+v+" =~ ^b ]]",
		"[ $# -gt 0 ]", "cd src", "mkdir new", "read -r "+v, "[ 1 -eq "+g.one("1", "2")+" ]",
		"[[ -v "+v+" ]]", "shopt -q extglob", "tool maybe "+g.word(depth-1))
}

func (g *grammar) block(depth int) string {
	lines := make([]string, 1+g.r.IntN(2))
	for i := range lines {
		lines[i] = g.statement(depth - 1)
	}
	return strings.Join(lines, "\n  ")
}

func (g *grammar) value(depth int) string { return g.word(depth) }

func (g *grammar) name() string {
	g.fresh++
	return "f" + strconv.Itoa(g.fresh)
}

// statement is one statement, or several on a line.
func (g *grammar) statement(depth int) string {
	if depth <= 0 {
		return g.simple(depth)
	}
	switch g.r.IntN(26) {
	case 0:
		g.note("if")
		return "if " + g.condition(depth) + "; then\n  " + g.block(depth) + g.one("",
			"\nelse\n  "+g.block(depth), "\nelif "+g.condition(depth)+"; then\n  "+g.block(depth)) + "\nfi"
	case 1:
		g.note("case")
		return "case " + g.word(0) + " in\n  " + g.pattern() + ") " + g.block(depth) + g.one("\n  ;;",
			"\n  ;&", "\n  ;;&") + "\n  " + g.one("a|b", "build", "*[0-9]*", "x", `"$a"`) + ") " +
			g.block(depth) + "\n  ;;\n  *) " + g.block(depth) + "\n  ;;\nesac"
	case 2:
		g.note("for")
		return "for " + g.variable() + " in " + g.one("a b c", "src/*.py", "$(cat requirements.txt)",
			`"$@"`, "{1..3}", "$x", `"${arr[@]}"`, g.word(1)+" "+g.word(1), "$(seq 2)") +
			"; do\n  " + g.block(depth) + g.one("", "", "\n  break", "\n  continue",
			"\n  [ $a = b ] && continue") + "\ndone" + g.one("", "", " > loop.out", " | cat")
	case 3:
		g.note("for arithmetic")
		return "for ((j=0; j<" + g.one("2", "3", "n%3") + "; j++)); do\n  " + g.block(depth) + "\ndone"
	case 4:
		g.note("while read")
		v := g.variable()
		return g.one("", "cat requirements.txt | ", "printf 'p q\\nr\\n' | ") + "while " + g.one("",
			"IFS= ", "IFS=, ", "IFS=: ") + "read " + g.one("", "-r ") + v + g.one("", "", " rest") +
			"; do\n  " +
			g.block(depth) + "\ndone" + g.one(" < requirements.txt", " < words.txt", " <<< "+g.word(0),
			" <<E\none two\n$a three\nE", " < <(echo sub)")
	case 5:
		g.note("while count")
		k := "k" + g.name()
		return k + "=0\nwhile [ $" + k + " -lt " + g.one("2", "3") + " ]; do\n  " + k + "=$((" + k +
			"+1))\n  " + g.block(depth) + "\ndone"
	case 6, 7:
		g.note("and-or")
		return g.one(g.simple(depth), g.condition(depth)) + g.one(" && ", " || ") + g.simple(depth) +
			g.one("", " && "+g.simple(depth), " || "+g.simple(depth))
	case 8:
		g.note("pipeline")
		return g.simple(depth) + " | " + g.one("cat", g.simple(depth),
			"while read l; do tool got \"$l\"; done", "{ read x; tool $x; }", "tee log.txt", "xargs tool",
			"sort")
	case 9:
		g.note("subshell")
		return "(" + g.block(depth) + "\n)"
	case 10:
		g.note("group")
		return "{ " + g.block(depth) + "\n}" + g.one("", " > grp.out", " 2>&1", " <<< in")
	case 11, 12:
		g.note("function")
		f := g.name()
		was := g.inFunc
		g.inFunc = true
		body := g.block(depth)
		g.inFunc = was
		return f + "() {\n  " + g.one("", "local a="+g.word(0)+"\n  ", "local b\n  ", "declare c=1\n  ") +
			body + g.one("", "\n  return", "\n  return 1", "\n  echo out") + "\n}\n" + f + " " +
			g.word(0) + g.one("", " "+g.word(0)) + g.one("", "", " > fn.out", " || "+g.simple(depth))
	case 13:
		g.note("here-document")
		tag := g.one("E", "'E'", `"E"`, "EOF", `\E`)
		end := strings.Trim(tag, `'"\`)
		return g.one("cat", "tool", "tool x", "bash", "cat > doc.txt", "sh", "cat | tool", "read -r a") +
			" <<" + g.one("", "-") + tag + "\n" +
			g.one("tool here $a", "line ${b:-z}", "echo x\ntool $((1+1))", "\ttool tab",
				"tool '$c' \"$d\"", `tool a\`+"\nb", "tool \\$x `echo y`") + "\n" + end
	case 14:
		g.note("eval")
		return "eval " + g.one(quote(g.simple(1)), `"`+"tool \\$a $b"+`"`, "tool "+g.word(1), `"$x=1"`,
			quote(g.block(1)))
	case 15:
		g.note("shell -c")
		return g.one("bash", "sh", "bash -e", "bash -x") + " -c " + quote(g.block(1)) + g.one("",
			" z "+g.word(0)+" w", " "+g.literal())
	case 16:
		g.note("trap")
		return "trap " + quote(g.simple(0)) + " " + g.one("EXIT", "EXIT", "INT", "ERR", "0",
			"USR1; kill -USR1 $$", "RETURN", "DEBUG")
	}
	return g.simple(depth)
}

// simple is one simple command, an assignment, or a builtin.
func (g *grammar) simple(depth int) string {
	v := g.variable()
	switch g.r.IntN(34) {
	case 0, 1, 2, 3, 4:
		g.note("assignment")
		return v + "=" + g.value(depth)
	case 5:
		g.note("assignment")
		return v + "+=" + g.value(depth)
	case 6:
		g.note("array")
		return g.one("arr=("+g.word(depth)+" "+g.word(0)+")", "arr+=("+g.word(0)+")", "arr[1]="+g.word(0),
			"declare -A m=([k]="+g.word(0)+" [z]=1)", "arr=(*.md)", "unset 'arr[0]'", "arr=($a)",
			"declare -a arr=(1 2 3)", "arr[i+1]=q")
	case 7, 8:
		g.note("cd")
		return g.one("cd src", "cd ..", "cd build/sub", "cd nosuch", "cd -", "cd", "cd ~",
			"cd "+g.word(0), "cd link", "pushd src >/dev/null", "popd >/dev/null", "cd /tmp",
			"cd -P link", "mkdir -p new/dir && cd new/dir", "cd src || exit 1", "cd build && tool in build")
	case 9:
		g.note("read")
		return g.one("read "+v, "read -r a b", "IFS=: read -r x y", "read -ra arr", "read -d : a",
			"read -n 2 b", "IFS= read -r c") + " <<< " + g.word(0)
	case 10:
		g.note("printf -v")
		return "printf -v " + v + " " + g.one("%s "+g.word(0), "'%s/%s' a b", "%d 12", "'%s' "+g.word(0),
			"%q "+g.word(0), "'%05.1f' 2", "%b 'x\\ty'", "'%s' 1 2 3")
	case 11:
		g.note("declare")
		return g.one("declare ", "export ", "readonly r1=", "typeset ", "declare -i n=", "declare -u u=",
			"declare -l l=", "export -n ", "declare -g ", "declare -x ") + v + g.one("", "="+g.word(0),
			"="+g.literal())
	case 12:
		g.note("set")
		return g.one("set -- "+g.word(depth)+" "+g.word(0), "shift", "set -e", "set -u", "set -f",
			"set +f", "set -o pipefail", "set -- ", "shift 2", "set -euo pipefail", "set a b c",
			"set -- \"$@\" more", "set -o posix", "set +e")
	case 13:
		g.note("IFS")
		return g.one("IFS=:", "IFS=,", "IFS=$'\\n'", "unset IFS", "IFS=", "IFS=/ ")
	case 14:
		g.note("unset")
		return "unset " + v
	case 15:
		g.note("let")
		return g.one("let i="+g.one("1", "2", "'i+1'"), "((i++))", "let n=i++ i=$n", "arr[i++]=$i",
			"((arr[i++]++))", "(( n = "+g.arith(2)+" ))",
			"i=$((i+1))", "let 'n=3'", "((a=5))")
	case 16:
		g.note("echo to file")
		return "echo " + g.word(depth) + " " + g.one(">", ">>") + " " + g.one("out.txt", "build/o",
			"$OUT", `"$dir/f"`, "~/o", "../up.txt", "/tmp/o", "requirements.txt")
	case 17:
		g.note("nameref")
		return g.one("declare -n ref="+v, "ref="+v, "local -n ref=a", "declare -n r2=ref; r2="+g.literal())
	case 18:
		g.note("shopt")
		return g.one("shopt -s nullglob", "shopt -s extglob", "shopt -s dotglob", "shopt -s globstar",
			"shopt -s nocasematch", "shopt -s failglob", "shopt -s lastpipe", "shopt -u sourcepath",
			"shopt -s xpg_echo")
	case 19:
		g.note("source")
		return g.one("source scripts/env.sh", ". scripts/env.sh; clean",
			". ./scripts/env.sh && tool $TARGET", "./scripts/deploy.sh "+g.word(0),
			"bash scripts/deploy.sh q", "scripts/deploy.sh")
	case 20:
		g.note("mapfile")
		return g.one("mapfile -t arr < requirements.txt", "readarray -t arr <<< "+g.word(0),
			"mapfile arr < words.txt", "mapfile -t -n 1 arr < requirements.txt",
			"mapfile -d : -t arr <<< a:b")
	case 21:
		g.note("getopts")
		return g.one("getopts ab:c o -a",
			"while getopts ab: o -a -b "+g.literal()+" z; do tool $o \"$OPTARG\"; done; tool $OPTIND")
	case 22:
		g.note("files")
		return g.one("mkdir -p build/x", "touch new.txt", "cp README.md copy.md",
			"mv requirements.txt r2.txt", "ln -s build lnk", "rm -rf build/sub",
			"sed -i 's/flask/django/' requirements.txt", "mkdir src", "rmdir nosuch")
	case 23:
		g.note("background")
		return "{ " + g.command(0) + " & }" + g.one("", "; wait")
	case 24:
		g.note("exec")
		return g.one("exec 3< requirements.txt; read -u 3 a", "exec > all.txt", "exec 2>/dev/null",
			"exec 4> four; echo hi >&4", "exec 5<<< five; tool <&5", "exec 3>&-")
	case 25:
		return g.one(":", "true", "false", ": ${a:=dflt}", ": \"${x:?}\"", "return 2>/dev/null",
			"test -n \"$a\"")
	case 26:
		g.note("find-xargs")
		return g.one("find src -name '*.py' -exec tool {} \\;", "find . -name '*.txt' | xargs tool",
			"echo a b | xargs -n1 tool", "printf '%s\\n' x y | xargs -I{} tool p{}q",
			"find build -type f -exec tool {} +", "echo 'q r' | xargs -d '\\n' tool",
			"ls src | xargs -I% sh -c 'tool %'", "xargs -a requirements.txt tool", "echo x | xargs")
	}
	return g.command(depth)
}

// quote puts a text into single quotes.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// octal writes every byte of s with the format.
func octal(s, format string) string {
	var b strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&b, format, s[i])
	}
	return b.String()
}
