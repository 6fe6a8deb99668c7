package walk

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// Words that hold nothing but static text must expand as bash expands them. Only printf
// runs here, on words that cannot run anything else.
func TestWordsAsBashExpandsThem(t *testing.T) {
	bash := leftout.Command(t, "bash")
	words := []string{
		`a b`, `a\ b`, `"a b"`, `'a b'`, `""`, `''`, `a""b`, `"a"'b'c`, `\$x`, `"\$x"`, `"\a\"\\"`, `'\a'`, `a\
b`, `"a\
b"`, `$'a\tb\\\'\"'`, `$'\e\E'`, `$"x"`, `{a,b}c`, `a{1..5..2}`, `{a..e}`, `{3..1}`, `{01..3}`, `{a}`, `{a,b`, `"{a,b}"`, `{a,{b,c}d}`, `x{,y}z`, `\{a,b}`,
		`~+`, `"~"`, `\~`, `a~`, `~nosuchuser/x`, `$((1+2*3))`, `$((7/2)) $((7%3)) $((1<<4)) $((5>3)) $((!0)) $((~1)) $((2,3))`, `$((0x10)) $((010)) $((2#101))`, `$[1+1]`,
		`$(echo a b) "$(echo a b)"`, "`echo a`", `$(echo "a  b")`, `$(printf 'a\n\n')x`, `"$(printf 'a\nb')"`, `$(printf 'a\nb')`, `$(printf '%s-' a b c)`, `$(printf '%b' 'a\tb')`, `$(printf '%d %03d' 10 7)`, `$(printf '%%')`,
		`$(echo -n a)b`, `$(echo -e 'a\tb')`, `$(echo -E 'a\n')`, `$(echo -nx)`, `$(basename /a/b.c .c)`, `$(basename /a/)`, `$(basename /)`, `$(dirname /a/b)`, `$(dirname a)`, `$(dirname /)`, `$(dirname /a/)`, `$(dirname a/b/)`, `$(dirname //a)`,
		`$(cat <<E
x $((1+1))
E
)`, `$(cat <<'E'
x $y
E
)`, `$(cat <<-E
		x
	E
)`, `$(cat <<< $'a\nb')`,
	}
	vars := []string{
		`x=abc; R $x ${x} "$x" ${#x} ${x:1} ${x:1:1} ${x: -2} ${x:0:-1} ${x^} ${x^^} ${x,} ${x#a} ${x##*b} ${x%c} ${x%%b*} ${x/b/X} ${x//[ab]/_} ${x/#a/X} ${x/%c/X} ${x/b}`,
		`x=a.b.c; R ${x%.*} ${x%%.*} ${x#*.} ${x##*.} ${x//./-} "${x//./ }"`, `x=ABC; R ${x,} ${x,,}`,
		`x="a  b"; R $x "$x" a$x"b"`, `x=' a '; R b${x}c`, `x=; R $x a "$x"`, `x='*.none'; R "$x"`, `x='a"b'; R $x`, `x='$y'; R $x`, `x=a; x+=b; R $x`,
		`IFS=:; x=a:b::c; R $x "$x"`, `IFS=; x="a b"; R $x`, `IFS=' :'; x='a : b'; R $x`,
		`x=5; R $((x+1)) $((x++)) $x $((x=7)) $x`, `x=(a "b c"); R "${x[@]}" ${x[1]} "${x[*]}" ${#x[@]} ${x[-1]} "${x[@]:1}"`, `x=(a); x+=(b); R ${x[1]}`, `x=(); x[0]=q; R "${x[@]}"`,
		`set -- a "b c" d; R "$@" $# $2 "$*" "${@:2}"; shift; R $1`, `x=y; y=z; R ${!x}`, `x=a; R ${x:-b} ${x:+c} ${x-d}`, `unset x; R ${x:-b} ${x-c}`, `x=; R ${x:-b} ${x-c}`, `printf -v x %s-%s a b; R $x`,
		`read a b <<< "x y z"; R $a "$b"`, `for i in a b; do R $i; done`, `f() { R "$2" $1; }; f a "b c"`, `x=a; (x=b); R $x`, `x=a; { x=b; }; R $x`,
		`x=$'a\nb'; R "$x" $x`, `x=~; R "${x:0:1}"`, `x='\a'; R $x "$x"`, `x="a'b"; R ${x/\'/-}`, `x=aXbXc; R ${x#*X} ${x##*X} ${x%X*} ${x%%X*}`, `x='a*b'; R "${x%\**}" "${x/\*/-}"`, `x=a/b/c; R ${x//\//_} ${x##*/} ${x%/*}`, `x=abcabc; R ${x/bc/} ${x//bc} ${x/%abc}`,
	}
	for _, word := range words {
		vars = append(vars, "R "+word)
	}
	for _, text := range vars {
		cmd := exec.Command(bash, "-c", `R() { printf '%s\0' "$@"; printf '\1'; }; cd /; `+text)
		cmd.Env = append(os.Environ(), "LC_ALL=C.UTF-8") // letters, not bytes, are what ${#x} counts
		out, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: bash: %v", text, err)
			continue
		}
		var got strings.Builder
		p, err := Parse(text, shell.Options{Dir: "/", Env: map[string]string{"HOME": os.Getenv("HOME")}})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		exact := true
		for _, c := range p.Commands {
			if c.Name != "R" {
				continue
			}
			for _, w := range c.Words[1:] {
				exact = exact && w.Certainty == value.Exact && !w.Glob
				got.WriteString(w.Text + "\x00")
			}
			if len(c.Words) == 1 {
				got.WriteString("\x00")
			}
			got.WriteByte(1)
		}
		switch {
		case !exact && !strings.Contains(text, "nosuchuser"):
			t.Errorf("%s: not exact: %q", text, renderAll(p))
		case exact && got.String() != string(out):
			t.Errorf("%s\n got %q\nbash %q", text, got.String(), out)
		}
	}
}
