package walk

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// hostile texts try to exhaust the reader. Each must end with few allocations, in
// an error or in a program that says it is not whole.
func hostile() map[string]string {
	return map[string]string{
		"many words":            strings.Repeat("printf ", 8000),
		"moves outward":         numbered("mv a/b%[1]d a;", 200),
		"copies inward":         numbered("cp -r a a/b%[1]d; cp -r a/b%[1]d/c a;", 200),
		"links inward":          numbered("ln -s a/b%[1]d a;", 200),
		"many statements":       strings.Repeat("true;", 13000),
		"many true && true":     strings.Repeat("true&&", 10000) + "true",
		"many pipes":            strings.Repeat("a|", 30000) + "a",
		"nested substitutions":  strings.Repeat("$(", 400_000),
		"deep substitutions":    strings.Repeat("$(", 90) + "x" + strings.Repeat(")", 90),
		"nested parentheses":    strings.Repeat("(", 60_000),
		"nested if":             strings.Repeat("if ", 20_000),
		"nested if complete":    strings.Repeat("if a;then ", 4000) + "b;" + strings.Repeat("fi;", 4000),
		"elif chain":            "if a;then b;" + strings.Repeat("elif a;then b;", 4000) + "fi",
		"nested while":          strings.Repeat("while a;do ", 3000) + "b;" + strings.Repeat("done;", 3000),
		"nested static for":     strings.Repeat("for i in 1 2 3 4 5 6 7 8;do ", 30) + "echo x;" + strings.Repeat("done;", 30),
		"nested functions":      nestedFunctions(30),
		"doubling":              "x=aaaaaaaa;" + strings.Repeat("x=$x$x;", 60) + "rm $x",
		"doubling in functions": "f(){ x=$x$x; g; g; }; g(){ x=$x$x; }; x=a;" + strings.Repeat("f;", 500),
		"file of itself":        strings.Repeat("cat x x >>x;", 2000),
		"group into a file":     "f(){ if x;then echo $1;cat x;else echo $2;fi; };{ " + strings.Repeat("f a b;", 2000) + "} >x",
		"copies in branches":    "echo a >x; echo b >y;" + strings.Repeat("if a;then cp x y;else cp y x;fi;", 300),
		"moves in branches": "echo a >x; echo b >y;" +
			strings.Repeat("if a;then mv x y;cp y z;else mv y x;cp z y;fi;", 100),
		"loops that write":      "for i in 1 2;do " + strings.Repeat("if a;then cat x y >z;continue;fi;cp z x;if b;then cp y x;cp x z;fi;", 500) + "done",
		"functions that return": "f(){ if a;then cp x y;return;fi;if b;then cp y x;return;fi;cat x y >z;cp z x; };" + strings.Repeat("f;", 1000),
		"files anywhere":        strings.Repeat("source x\n{ sed -i s/a/aa/g x;cp z x;} >>y\nsource x\n", 200),
		"traps in branches":     numbered("if a;then :;else trap 'rm b%[1]d' EXIT;fi;", 200),
		"traps in branches too": numbered("if a;then trap 'rm b%[1]d' EXIT;fi;", 200),
		"places in branches":    numbered("if a;then mv a b%[1]d;else cd b%[1]d;fi;", 120),
		"braces":                "echo " + strings.Repeat("{1..100}", 12),
		"brace sequence":        "echo {1..99999999999}",
		"brace overflow":        "echo {9223372036854775806..9223372036854775807}",
		"replace":               "x=" + strings.Repeat("a", 30000) + ";" + strings.Repeat("y=${x//a/bbbbbbbbbb};", 200),
		"trim":                  "x=" + strings.Repeat("a", 30000) + ";" + strings.Repeat("y=${x%%*a*b*c*d};", 500),
		"stars":                 "x=" + strings.Repeat("a", 40000) + ";y=${x##" + strings.Repeat("*a", 8000) + "b}",
		"stars at the end":      "x=" + strings.Repeat("a", 30000) + ";y=${x%%b" + strings.Repeat("*a", 8000) + "}",
		"replace a pattern":     "x=" + strings.Repeat("a", 30000) + ";" + strings.Repeat("y=${x//[ab]*b/c};", 500),
		"cases of one text":     "x=" + strings.Repeat("a", 20000) + ";" + strings.Repeat("y=${x^^};", 4000),
		"joined elements":       "a=(" + strings.Repeat("a ", 15000) + ");" + strings.Repeat("b=\"${a[*]}\";", 2000),
		"more elements":         "a=(" + strings.Repeat("a ", 15000) + ");" + strings.Repeat("a+=(b);", 2000),
		"names in arithmetic":   "x=y+y;y=z+z;z=w+w;w=v+v;v=u+u;u=t+t;t=s+s;s=r+r;r=1;" + strings.Repeat("((x));", 4000),
		"filters in a row":      "echo " + strings.Repeat("a", 20000) + "|" + strings.Repeat("rev|", 1900) + "cat",
		"many cats":             strings.Repeat("cat|", 1999) + "cat",
		"recursion":             "a(){ b;c;d; }; b(){ a;c;d; }; c(){ a;b;d; }; d(){ a;b;c; }; a",
		"eval of eval":          "e='eval $e';eval $e",
		"script of script":      "echo 'bash s.sh; bash s.sh' > s.sh; bash s.sh",
		"functions in pipes":    "f(){ f|f|f; }; f",
		"arithmetic":            "echo $((" + strings.Repeat("1+", 25000) + "1))",
		"negations":             "(( " + strings.Repeat("!", 30000) + "1 ))",
		"quotes":                strings.Repeat(`"$(echo `, 80) + strings.Repeat(`)"`, 80),
		"backquotes":            strings.Repeat("`", 60000),
		"heredocs":              strings.Repeat("cat <<E\nx\nE\n", 5000),
		"assignments":           strings.Repeat("a=b ", 15000),
		"variables and forks":   strings.Repeat("(a=1);", 8000),
		"many variables":        manyVariables(3000) + strings.Repeat("(:);", 3000),
		"xargs":                 "echo " + strings.Repeat("a ", 20000) + "| xargs rm",
		"case":                  "case a in " + strings.Repeat("b) c;;", 8000) + "esac",
		"globs in case":         "case " + strings.Repeat("a", 30000) + " in " + strings.Repeat("*a*a*a*a*b) c;;", 1500) + "esac",
		"wrappers":              strings.Repeat("sudo ", 12000) + "rm x",
		"bash -c in bash -c":    bashes(20),
		"parallel":              "parallel echo " + strings.Repeat("{} ", 5000) + "::: " + strings.Repeat("x ", 60),
		"printf repeat":         "printf '%s%s%s%s' " + strings.Repeat("aaaaaaaaaa ", 5000) + "| sh",
		"positional":            "set -- " + strings.Repeat("a ", 20000) + ";" + strings.Repeat("echo $@;", 1000),
		"here loop":             "while read x; do echo $x; done <<E\n" + strings.Repeat("a\n", 20000) + "E",
		"tilde":                 strings.Repeat("~ ", 30000),
		"colons":                "x=" + strings.Repeat("~:", 30000),
		"mutual":                "a(){ b;b; }; b(){ a;a; }; a",
		"call chain":            callChain(300),
		"redirects":             "a" + strings.Repeat(" >b", 15000),
		"branches":              strings.Repeat("if a;then x=1$x;else x=2$x;fi;", 2000) + "rm $x",
		"arms":                  strings.Repeat("case $a in b) x=$x/b;; c) x=$x/c;; esac;", 1500) + "rm $x",
		"directories":           strings.Repeat("cd a||cd b;", 5000) + "rm x",
		"deep directories":      strings.Repeat("cd a;", 12000),
		"made directories":      strings.Repeat("mkdir a;cd a;touch b;", 3000),
		"stack of directories":  strings.Repeat("pushd a;", 7000) + strings.Repeat("popd;", 1000),
		"traps":                 strings.Repeat("trap 'x=$x$x' EXIT DEBUG ERR;a;", 1900),
		"aliases":               strings.Repeat("alias a='a a'\n", 3000) + strings.Repeat("a\n", 3000),
		"names of names":        "x=a;" + namesOfNames(2000) + strings.Repeat("r1999=$r1999$r1999;", 500),
		"elements":              strings.Repeat("a[$i]=${a[*]};", 4000),
		"written scripts":       strings.Repeat("echo 'bash s; echo x>>s'>>s;bash s;", 1500),
		"process substitutions": strings.Repeat("diff <(a) <(b) >(c);", 3000),
		"expressions":           "[[ " + strings.Repeat("-n $x && ", 6000) + "-n $x ]]",
		"expressions in series": "a=" + strings.Repeat("a", 9999) + strings.Repeat(";[[ $a =~ (a|a)b ]]", 999),
		"find":                  "find " + strings.Repeat("-exec rm {} + ", 4000),
		"python":                "python3 -c '" + strings.Repeat("a=[a,a]\n", 7000) + "'",
		"awk":                   "awk '" + strings.Repeat("{system(x)}", 5000) + "'",
		"sed":                   "sed '" + strings.Repeat("s/a/b/e;", 7000) + "'",
		"jumping positions":     "set -- a b c;" + strings.Repeat("set -- $@ $@;shift;", 3000) + "rm $@",
		"globs":                 "rm " + strings.Repeat("*/", 20000),
	}
}

func namesOfNames(n int) string {
	var b strings.Builder
	b.WriteString("declare -n r0=x;")
	for i := 1; i < n; i++ {
		fmt.Fprintf(&b, "declare -n r%d=r%d;", i, i-1)
	}
	return b.String()
}

func nestedFunctions(n int) string {
	var b strings.Builder
	b.WriteString("f0(){ rm x; };")
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, "f%d(){ f%d; f%d; };", i, i-1, i-1)
	}
	fmt.Fprintf(&b, "f%d", n)
	return b.String()
}

func callChain(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "f%d(){ f%d & f%d; };", i, i+1, i+2)
	}
	return b.String() + "f0"
}

func manyVariables(n int) string { return numbered("a%d=1;", n) }

// numbered repeats a format with the numbers below n.
func numbered(format string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format, i)
	}
	return b.String()
}

func bashes(n int) string {
	text := "rm x"
	for range n {
		text = "bash -c " + "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
		if len(text) > 30000 {
			break
		}
	}
	return text
}

// TestHostileTextsAreBounded measures work in steps and in allocations, which are the same on every machine.
func TestHostileTextsAreBounded(t *testing.T) {
	for name, text := range hostile() {
		t.Run(name, func(t *testing.T) {
			o := testOptions()
			o.Limits = withDefaults(o.Limits)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			w, err := walkText(text, o)
			runtime.ReadMemStats(&after)
			allocated := (after.TotalAlloc - before.TotalAlloc) >> 20
			if allocated > 64 {
				t.Errorf("allocated %d MiB", allocated)
			}
			if err != nil {
				return
			}
			// A charge comes before the work that it pays for, so one text-long charge may pass the limit.
			if most := defaultSteps + defaultBytes; w.steps > most {
				t.Errorf("%d steps, at most %d", w.steps, most)
			}
			p := w.finish()
			t.Logf("%d steps, %d MiB, %d commands, budget %q", w.steps, allocated, len(p.Commands), p.Budget)
			if p.Budget != "" && p.Certainty != value.Unknown {
				t.Errorf("budget %q but certainty %v", p.Budget, p.Certainty)
			}
			if len(p.Commands) > defaultCommands {
				t.Errorf("%d commands", len(p.Commands))
			}
		})
	}
}
