package confirm

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"path"
	"strings"
)

// words are the operators for words.
var words = []wordOp{
	{"single quotes", func(m *mutator, v string, in func(string) string) string { return quote(v) }},
	{"double quotes", func(m *mutator, v string, in func(string) string) string {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(v) + `"`
	}},
	{"backslashes", func(m *mutator, v string, in func(string) string) string {
		if strings.Contains(v, "\n") || v == "" {
			return quote(v)
		}
		return octal(v, `\%c`)
	}},
	{"quote split", func(m *mutator, v string, in func(string) string) string {
		return quote(v[:mid(v)]) + m.one(`''`, `""`, "$''", `$""`) + quote(v[mid(v):])
	}},
	{"ansi-c", func(m *mutator, v string, in func(string) string) string {
		return "$'" + octal(v, m.one(`\x%02x`, `\%03o`, `\x%02x`, `\%o`, `\u%04x`, `\U%08x`)) + m.one("'",
			"'", `\0tail'`)
	}},
	{"split and continue", func(m *mutator, v string, in func(string) string) string {
		return m.plain(v[:mid(v)]) + "\\\n" + m.plain(v[mid(v):])
	}},
	assigned("variable", "%s=%s"),
	assigned("variable twice", "%[1]s=other; %[1]s=%[2]s"),
	assigned("appended", "%[1]s=; %[1]s+=%[2]s"),
	assigned("printf -v", "printf -v %s %%s %s"),
	assigned("read", "read -r %s <<< %s"),
	assigned("read part", "IFS=: read -r %[1]s rest <<< %[2]s:x"),
	assigned("read pipe lost", "%[1]s=%[2]s; echo z | read %[1]s"),
	assigned("subshell lost", "%[1]s=%[2]s; (%[1]s=other)"),
	assigned("lastpipe", "shopt -s lastpipe; echo %[2]s | read -r %[1]s"),
	assigned("declare", "declare %s=%s"),
	assigned("declare lower", "declare -l %[1]s=%[2]s; declare +l %[1]s"),
	assigned("readonly", "readonly %[1]s=%[2]s; %[1]s=other 2>/dev/null || :"),
	assigned("export", "export %s=%s"),
	assigned("eval", "eval %[1]s='%[2]s'"),
	assigned("let the default", ": \"${%s:=%s}\""),
	assigned("default kept", "%[1]s=%[2]s; : \"${%[1]s:=other}\""),
	assigned("or side", "%[1]s=other; false || %[1]s=%[2]s"),
	assigned("or of an assignment", "%[1]s=other; t=$(false) || %[1]s=%[2]s"),
	assigned("or of a builtin", "%[1]s=other; shopt -q login_shell || %[1]s=%[2]s"),
	assigned("or of a command", "%[1]s=other; mkdir src 2>/dev/null || %[1]s=%[2]s"),
	assigned("and side", "%[1]s=other; [ -d build ] && %[1]s=%[2]s"),
	assigned("and not taken", "%[1]s=%[2]s; false && %[1]s=other"),
	assigned("if", "if [ -e src ]; then %[1]s=%[2]s; else %[1]s=other; fi"),
	assigned("else", "if tool c; then %[1]s=%[2]s; else %[1]s=%[2]s; fi"),
	assigned("case", "case $HOME in /home/*) %[1]s=%[2]s ;; *) %[1]s=other ;; esac"),
	assigned("case of a class", "case Ab in [[:upper:]]b) %[1]s=%[2]s ;; *) %[1]s=other ;; esac"),
	assigned("for", "for %[1]s in other %[2]s; do :; done"),
	assigned("for with break", "for %[1]s in %[2]s other; do break; done"),
	assigned("for body", "for i in 1 2; do %[1]s=%[2]s; done"),
	assigned("while", "%[1]s=other; while [ \"$%[1]s\" = other ]; do %[1]s=%[2]s; done"),
	assigned("while read", "while read -r l; do %[1]s=$l; done <<< %[2]s"),
	assigned("while read pipe lost", "%[1]s=%[2]s; echo z | while read l; do %[1]s=$l; done"),
	assigned("select none", "%[1]s=%[2]s; select %[1]s in a; do :; done < /dev/null 2>/dev/null"),
	assigned("function sets", "set_%[1]s() { %[1]s=%[2]s; }; set_%[1]s"),
	assigned("function argument", "set_%[1]s() { %[1]s=$1; }; set_%[1]s %[2]s"),
	assigned("function nameref", "set_%[1]s() { local -n r=$1; r=$2; }; set_%[1]s %[1]s %[2]s"),
	assigned("function local", "%[1]s=%[2]s; set_%[1]s() { local %[1]s=other; }; set_%[1]s"),
	assigned("function declare", "%[1]s=%[2]s; set_%[1]s() { declare %[1]s=other; }; set_%[1]s"),
	assigned("function declare -g", "%[1]s=other; set_%[1]s() { declare -g %[1]s=%[2]s; }; set_%[1]s"),
	assigned("prefix of a builtin", "%[1]s=other; %[1]s=%[2]s export %[1]s"),
	assigned("prefix lost", "%[1]s=%[2]s; %[1]s=other :"),
	assigned("prefix of a function", "fx() { :; }; %[1]s=%[2]s; %[1]s=other fx"),
	assigned("prefix of eval", "%[1]s=%[2]s; %[1]s=other eval :"),
	assigned("nameref", "declare -n r_%[1]s=%[1]s; r_%[1]s=%[2]s"),
	assigned("nameref twice", "declare -n r_%[1]s=%[1]s; declare -n s_%[1]s=r_%[1]s; s_%[1]s=%[2]s"),
	assigned("trap sets", "%[1]s=other; trap '%[1]s=%[2]s' USR1; kill -USR1 $$"),
	assigned("getopts", "getopts a: o -a %[2]s; %[1]s=$OPTARG"),
	assigned("unset and set", "%[1]s=other; unset %[1]s; %[1]s=${%[1]s-%[2]s}"),
	assigned("unset local", "%[1]s=%[2]s; u() { local %[1]s=other; unset %[1]s; }; u"),
	assigned("last argument", ": %[2]s; %[1]s=$_"),
	assigned("source", "echo %[1]s=%[2]s > vars.sh; . ./vars.sh"),
	assigned("file", "echo %[2]s > val.txt; %[1]s=$(cat val.txt)"),
	assigned("file read", "printf '%%s\\n' %[2]s > val.txt; read -r %[1]s < val.txt"),
	assigned("file changed", "echo other > val.txt; echo %[2]s > val.txt; %[1]s=$(< val.txt)"),
	assigned("file sed", "echo %[2]s > val.txt; sed -i s/other/x/ val.txt; %[1]s=$(cat val.txt)"),
	assigned("descriptor", "exec 3<<< %[2]s; read -r -u 3 %[1]s"),
	assigned("integer ternary", "%[1]s_a=(other %[2]s); %[1]s=${%[1]s_a[1 > 0 ? 1 : 0]}"),
	assigned("substitution", "%[1]s=$(echo %[2]s)"),
	assigned("substitution with a failure", "%[1]s=$(echo %[2]s; false) || :"),
	assigned("declare keeps status", "declare %[1]s=$(false; echo %[2]s)"),
	assigned("and-or chain", "%[1]s=x; true && false || %[1]s=%[2]s"),
	assigned("brace group", "{ %[1]s=%[2]s; }"),
	assigned("arithmetic for", "for ((j=0; j<2; j++)); do %[1]s=%[2]s; done"),
	assigned("ifs loop", "IFS=, ; for %[1]s in %[2]s; do :; done; unset IFS"),
	assigned("coded set", "set -- %[2]s x; %[1]s=$1; set --"),
	assigned("shifted", "set -- x %[2]s; shift; %[1]s=$1"),
	assigned("last positional", "set -- x %[2]s; %[1]s=${!#}"),
	assigned("alternatives", "%[1]s=${HOME:+%[2]s}"),
	assigned("posix assignment", "set -o posix; %[1]s=%[2]s; set +o posix"),
	assigned("mapfile", "mapfile -t %[1]s <<< %[2]s"),
	assigned("match", "[[ @%[2]s@ =~ ^@(.*)@$ ]]; %[1]s=${BASH_REMATCH[1]}"),
	assigned("match of a word", "[[ %[2]s =~ .* ]] && %[1]s=${BASH_REMATCH[0]}"),
	assigned("read array", "read -ra %[1]s_a <<< \"x \"%[2]s; %[1]s=${%[1]s_a[1]}"),
	assigned("read delimiter", "read -r -d @ %[1]s <<< %[2]s@x"),
	assigned("read reply", "read -r <<< %[2]s; %[1]s=$REPLY"),
	assigned("read characters", "read -r -N 3 %[1]s <<< abc; read -r %[1]s <<< %[2]s"),
	assigned("process substitution", "%[1]s=$(cat <(echo %[2]s))"),
	assigned("process substitution read", "read -r %[1]s < <(echo %[2]s)"),
	assigned("declared again", "%[1]s=%[2]s; d=$(declare -p %[1]s); %[1]s=other; eval \"$d\""),
	assigned("quoted by printf", "printf -v q %%q %[2]s; eval %[1]s=$q"),
	assigned("counter", "%[1]s_a=(other %[2]s); i=0; : ${%[1]s_a[i++]}; %[1]s=${%[1]s_a[i]}"),
	assigned("counter in a list", "%[1]s_a=(other %[2]s); i=0; %[1]s=${%[1]s_a[i++]}; %[1]s=${%[1]s_a[i++]}"),
	assigned("exit of a substitution", "%[1]s=$(trap 'echo %[2]s' EXIT)"),
	assigned("array of lines", "mapfile -t %[1]s_a < <(printf '%%s\\n' x %[2]s); %[1]s=${%[1]s_a[1]}"),
	assigned("loop over positions", "set -- x %[2]s; for %[1]s; do :; done; set --"),
	assigned("last of a list", "for %[1]s in {a..c} %[2]s; do :; done"),
	assigned("until", "%[1]s=other; until [[ $%[1]s != other ]]; do %[1]s=%[2]s; done"),
	assigned("left by break", "%[1]s=%[2]s; while :; do break; %[1]s=other; done"),
	assigned("left by return", "lr() { %[1]s=%[2]s; return; %[1]s=other; }; lr"),
	assigned("fall through", "case a in a) %[1]s=other ;& b) %[1]s=%[2]s ;; esac"),
	assigned("option of a loop", "while getopts x: o -x %[2]s; do %[1]s=$OPTARG; done"),
	assigned("changed by a child", "%[1]s=%[2]s; bash -c '%[1]s=other'"),
	assigned("of the environment", "%[1]s=$(A=%[2]s bash -c 'echo \"$A\"')"),
	assigned("integer attribute off", "declare -i %[1]s; declare +i %[1]s; %[1]s=%[2]s"),
	assigned("upper attribute", "declare -u %[1]s_u=x; %[1]s=%[2]s"),
	assigned("negative index", "%[1]s_a=(x y); %[1]s_a[-1]=%[2]s; %[1]s=${%[1]s_a[1]}"),
	assigned("sparse", "%[1]s_a[5]=other; %[1]s_a[2]=%[2]s; %[1]s=${%[1]s_a[@]:0:3}; %[1]s=${%[1]s_a[2]}"),
	assigned("in two steps", "%[1]s=%[2]s; %[1]s=\"$%[1]s\"; %[1]s=${%[1]s}"),
	assigned("arithmetic status", "%[1]s=other; ((0)) || %[1]s=%[2]s"),
	assigned("status kept", "false; %[1]s_s=$?; [ $%[1]s_s = 1 ] && %[1]s=%[2]s || %[1]s=other"),
	assigned("status of a pipe", "%[1]s=other; false | true && %[1]s=%[2]s"),
	assigned("not", "%[1]s=other; ! false && %[1]s=%[2]s"),
	assigned("file by a loop", "for l in other %[2]s; do echo $l; done > val.txt; %[1]s=$(tail -n 1 val.txt)"),
	assigned(
		"file appended", "rm -f val.txt; echo other >> val.txt; echo %[2]s >> val.txt; %[1]s=$(sed -n 2p val.txt)"),
	assigned(
		"file copied", "echo %[2]s > val.txt; cp val.txt v2.txt; echo other > val.txt; %[1]s=$(cat v2.txt)"),
	assigned("file moved", "echo %[2]s > val.txt; mv val.txt v2.txt; %[1]s=$(cat v2.txt)"),
	assigned("file by a link", "echo %[2]s > val.txt; ln -s val.txt v3.txt; %[1]s=$(cat v3.txt)"),
	{"array element", func(m *mutator, v string, in func(string) string) string {
		n := m.name()
		m.before("%s=(%s %s %s)", n, m.one("x", "'a b'", ""), in(v), m.one("y", "z w"))
		return `"${` + n + m.one(`[1]}"`, `[0+1]}"`, `[1]:-}"`, `[@]:1:1}"`, `[-2]}"`)
	}},
	{"array assembled", func(m *mutator, v string, in func(string) string) string {
		n := m.name()
		m.before("%[1]s[0]=%[2]s; %[1]s[1]=%[3]s", n, in(v[:mid(v)]), in(v[mid(v):]))
		return `"${` + n + `[0]}${` + n + `[1]}"`
	}},
	{"array joined", func(m *mutator, v string, in func(string) string) string {
		n := m.name()
		m.before("%s=(%s %s); IFS=", n, in(v[:mid(v)]), in(v[mid(v):]))
		return `"${` + n + `[*]}"`
	}},
	{"positionals joined", func(m *mutator, v string, in func(string) string) string {
		m.before("set -- %s %s; IFS=/", in(path.Dir(v)), in(path.Base(v)))
		return `"$*"`
	}},
	{"associative array", func(m *mutator, v string, in func(string) string) string {
		n := m.name()
		m.before("declare -A %s=([k]=%s [z]=1)", n, in(v))
		return `"${` + n + m.one(`[k]}"`, `["k"]}"`)
	}},
	{"indirect", func(m *mutator, v string, in func(string) string) string {
		n := m.name()
		m.before("%[1]s=%[2]s; r_%[1]s=%[1]s", n, in(v))
		return `"${!r_` + n + `}"`
	}},
	{"brace list", func(m *mutator, v string, in func(string) string) string {
		return "{" + m.plain(v) + "," + in(v) + "}"
	}},
	{"brace split", func(m *mutator, v string, in func(string) string) string {
		return m.plain(v[:mid(v)]) + "{" + m.plain(v[mid(v):]) + m.one(",}", ",x}", `,"$HOME"}`)
	}},
	{"tilde", func(m *mutator, v string, in func(string) string) string {
		if rest, ok := strings.CutPrefix(v, Home+"/"); ok {
			return m.one("~/", `"$HOME"/`, "${HOME}/", "~dev/", "$PWD/../") + in(rest)
		}
		return in(v)
	}},
	{"directory variable", func(m *mutator, v string, in func(string) string) string {
		if rest, ok := strings.CutPrefix(v, Home+"/"); ok {
			m.before("cd src")
			return m.one(`"$OLDPWD"/../`, `"$PWD"/../../`, `"$(pwd)/../../"`, `../../`) + in(rest)
		}
		return in(v)
	}},
	expanded("prefix removed", func(m *mutator, v string) (string, string) {
		return "zz/" + v, m.one("$N#zz/", "$N#*/", "$N#??/", "$N#[x-z]z/", `$N#"zz/"`)
	}),
	expanded("suffix removed", func(m *mutator, v string) (string, string) {
		return v + ".zz",
			m.one("$N%.zz", "$N%.*", "$N%.??")
	}),
	expanded("longest removed", func(m *mutator, v string) (string, string) {
		if strings.Contains(v, "@") {
			return v, "$N"
		}
		return m.one("a@b@", "x@") + v, "$N##*@"
	}),
	expanded("replaced", func(m *mutator, v string) (string, string) {
		return "@" + v, m.one("$N/@/",
			"$N/#@/", "$N//@", "$N/@")
	}),
	expanded("replaced inside", func(m *mutator, v string) (string, string) {
		return strings.ReplaceAll(v, "e", "Q@"), m.one("$N//Q@/e", `$N//"Q@"/e`, "$N//Q?/e", `$N//Q\@/e`)
	}),
	expanded("replaced by match", func(m *mutator, v string) (string, string) {
		return v, m.one("$N/*/&",
			`$N/?/&`, "$N/%/", `$N/#/`)
	}),
	expanded("substring", func(m *mutator, v string) (string, string) {
		return "ab" + v + "c", fmt.Sprintf(m.one("$N:2:%d", "$N:1+1:%d", "$N: -%[2]d:%[1]d"), len(v),
			len(v)+1)
	}),
	expanded("substring to the end", func(m *mutator, v string) (string, string) {
		return "ab" + v,
			m.one("$N:2", "$N: 2", "$N:(2)")
	}),
	expanded("substring from the end", func(m *mutator, v string) (string, string) {
		return v + "xy",
			"$N:0:-2"
	}),
	expanded("lower", func(m *mutator, v string) (string, string) {
		if strings.ToLower(v) != v {
			return v, "$N"
		}
		return strings.ToUpper(v), m.one("$N,,", "$N@L", "$N,,[A-Z]", "$N,,?")
	}),
	expanded("quoted and back", func(m *mutator, v string) (string, string) {
		return v, m.one("$N@E",
			"$N@P", "$N-x", "$N:-x")
	}),
	expanded("default nested", func(m *mutator, v string) (string, string) {
		return v, m.one("nosuch:-$$N", "nosuch-${$N}", "nosuch:-${$N:-x}", "HOME:+$$N")
	}),
	printed("echo", func(m *mutator, v string, in func(string) string) string { return echoOf(m, in(v)) }),
	printed("printf parts", func(m *mutator, v string, in func(string) string) string {
		return m.one("printf %s%s ", "printf '%s' ", "printf %b%b ", "echo -n ") + m.plain(v[:mid(v)]) +
			m.one(" ", " ", "") + m.plain(v[mid(v):])
	}),
	printed("printf escapes", func(m *mutator, v string, in func(string) string) string {
		return m.one("printf '", "echo -e '", "printf %b '", "echo -ne '") + octal(v, m.one(`\x%02x`,
			`\0%03o`, `\x%02x`)) + m.one("", `\c more`, "", "") + "'"
	}),
	printed("tr", func(m *mutator, v string, in func(string) string) string {
		return echoOf(m, in(rot13(v))) + m.one(" | tr 'A-Za-z' 'N-ZA-Mn-za-m'",
			" | tr a-zA-Z n-za-mN-ZA-M", " | tr '[a-m][n-z][A-M][N-Z]' '[n-z][a-m][N-Z][A-M]'")
	}),
	printed("tr deletes", func(m *mutator, v string, in func(string) string) string {
		if strings.Contains(v, "Z") {
			return echoOf(m, in(v))
		}
		return echoOf(m, in("Z"+v+"Z")) + m.one(" | tr -d Z", " | tr -d 'Z\\n'",
			" | tr -dc '[:lower:][:punct:][:digit:]'", " | tr -d '[=Z=]'", " | tr -s Z | tr -d Z")
	}),
	printed("tr repeats", func(m *mutator, v string, in func(string) string) string {
		return echoOf(m, in(strings.ReplaceAll(v, "/", "X"))) + m.one(" | tr X /", " | tr X '[/*]'",
			" | tr XY '[/*2]'", ` | tr X '\057'`)
	}),
	printed("rev", func(m *mutator, v string, in func(string) string) string {
		return echoOf(m, in(reversed(v))) + " | rev"
	}),
	printed("base64", func(m *mutator, v string, in func(string) string) string {
		return echoOf(m, in(base64.StdEncoding.EncodeToString([]byte(v)))) + m.one(" | base64 -d",
			" | base64 --decode", " | base64 -di")
	}),
	printed("xxd", func(m *mutator, v string, in func(string) string) string {
		return echoOf(m, in(hex.EncodeToString([]byte(v)))) + m.one(" | xxd -r -p", " | xxd -p -r",
			" | xxd -r -ps")
	}),
	printed("cut", func(m *mutator, v string, in func(string) string) string {
		return echoOf(m, in("x@"+v+"@y")) + m.one(" | cut -d@ -f2", " | cut -f 2 -d @",
			" | awk -F@ '{print $2}'", " | sed 's/^x@//; s/@y$//'", " | sed -e 's|x@\\(.*\\)@y|\\1|'")
	}),
	printed("sed", func(m *mutator, v string, in func(string) string) string {
		return echoOf(m, in("@"+v)) + m.one(" | sed s/@//", " | sed 's/^.//'", " | sed -E 's/^(@)//'",
			" | sed -n 's/@//p'", " | sed y/@/x/ | sed s/x//")
	}),
	printed("head", func(m *mutator, v string, in func(string) string) string {
		return m.one(`printf '%s\n' `+in(v)+" other | head -1",
			`printf '%s\n' `+in(v)+" other | head -n 1", `printf '%s\n' other `+in(v)+" | tail -1",
			`printf '%s\n' a `+in(v)+" c | sed -n 2p",
			`printf '%s\n' other `+in(v)+" | tac | head -n1",
			`printf '%s\n' other `+in(v)+` | awk 'NR==2'`,
			`printf '%s\n' a `+in(v)+` b | head -n 2 | tail -n 1`,
			"echo "+in(v)+" | cat - nosuch 2>/dev/null",
			"echo "+in(v)+" | grep .", "echo "+in(v)+" | sort -u", "echo "+in(v)+" | tee t.txt",
			"echo "+in(v)+" | xargs echo", "echo "+in(v)+" | xargs -n1", "echo "+in(v)+" | fold",
			"echo "+in(v)+" | head -c 100", "echo "+in(v)+" | paste -s")
	}),
	printed("basename", func(m *mutator, v string, in func(string) string) string {
		if strings.Contains(v, "/") || v == "" {
			return "dirname " + in(v+"/x") + m.one("", "", " "+in("a/b"))
		}
		return m.one("basename ", "basename -- ") + in("a/"+v) + m.one("", "", " .x")
	}),
	printed("here-document", func(m *mutator, v string, in func(string) string) string {
		return m.one("cat <<'E'\n", "cat <<E\n", "cat <<-'E'\n\t", "cat - <<'E'\n") + v + "\nE\n"
	}),
	printed("shell", func(m *mutator, v string, in func(string) string) string {
		return m.one("bash -c 'echo \"$0\"' ", "bash -c 'printf %s \"$1\"' x ", "sh -c 'echo \"$1\"' x ",
			"env echo ", "command echo ", "f() { echo \"$1\"; }; f ", "e=echo; $e ",
			"awk 'BEGIN{print ARGV[1]}' ",
			"python3 -c 'import sys; print(sys.argv[1])' ", "expr x : x >/dev/null; echo ",
			"cd src; echo ", "exec echo ", "true; printf '%s\\n' ") + in(v)
	}),
}
