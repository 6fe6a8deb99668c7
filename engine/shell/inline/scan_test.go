package inline

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var allLanguages = []string{"python", "node", "perl", "ruby", "php", "lua", "awk", "r", "c"}

func TestSupported(t *testing.T) {
	t.Parallel()
	for _, name := range append([]string{"python3.12", "/usr/bin/python3", "Perl5.36", "deno", "gawk", "luajit", "pypy3", "ts-node"}, allLanguages...) {
		if !Supported(name) {
			t.Errorf("Supported(%q) = false", name)
		}
	}
	for _, name := range []string{"", "bash", "cobol", "3"} {
		if Supported(name) {
			t.Errorf("Supported(%q) = true", name)
		}
	}
	if diff := cmp.Diff([]Call{{Kind: Dynamic, Name: "language"}}, Scan("cobol", "x")); diff != "" {
		t.Errorf("Scan of an unknown language (-want +got):\n%s", diff)
	}
}

func TestLimit(t *testing.T) {
	t.Parallel()
	src := "import os\n" + strings.Repeat("#\n", Limit/2) + "os.system('id')"
	got := Scan("python", src)
	if diff := cmp.Diff([]Call{{Kind: Dynamic, Name: "limit", Offset: Limit}}, got); diff != "" {
		t.Errorf("a call behind the limit (-want +got):\n%s", diff)
	}
	if got := show(Scan("python", src[:10]+src[len(src)-15:])); len(got) != 1 || got[0] != "shell [id]" {
		t.Errorf("the same call within the limit: %v", got)
	}
}

func TestOffset(t *testing.T) {
	t.Parallel()
	src := "import os\nprint(f\"{os.system('a')}\")\nos.remove('b')"
	for _, c := range Scan("python", src) {
		want := map[Kind]string{Shell: "system", Delete: "remove"}[c.Kind]
		if !strings.HasPrefix(src[c.Offset:], want) {
			t.Errorf("%s at %d: %q", c.Kind, c.Offset, src[c.Offset:])
		}
	}
}

func TestNestedPrograms(t *testing.T) {
	t.Parallel()
	src := "__import__('os').system('id')"
	for range maxNested {
		src = fmt.Sprintf("exec(%q)", src)
	}
	if got := show(Scan("python", src)); !cmp.Equal(got, []string{"shell [id]"}) {
		t.Errorf("%d programs deep: %v", maxNested, got)
	}
	if got := Scan("python", fmt.Sprintf("exec(%q)", src)); len(got) != 1 || got[0].Kind != Dynamic {
		t.Errorf("deeper than that: %v", got)
	}
}

// hostile are texts that are made to cost much: deep, long, repetitive or never closed.
func hostile(n int) map[string]string {
	rep := func(s string) string { return strings.Repeat(s, n/len(s)+1)[:n] }
	return map[string]string{
		"brackets":       rep("("),
		"calls":          rep("f("),
		"members":        "a" + rep(".a"),
		"indexes":        "a" + rep("[0]"),
		"sums":           rep("a+"),
		"doubling":       "a='xxxxxxxx'\n" + rep("a=a+a\n"),
		"assignments":    rep("a=b\nb=a\n"),
		"uses":           rep("x='a'\nos.remove(x)\n"),
		"nested uses":    rep("if 1:\n x='a'\n open(x)\n"),
		"quotes":         rep("'\""),
		"f-strings":      rep("f'{"),
		"nested f":       rep("f'{f\"{"),
		"templates":      rep("`${"),
		"heredocs":       rep("<<EOF "),
		"here lines":     rep("x <<EOF\n"),
		"slashes":        rep("/a"),
		"comments":       rep("/*"),
		"loops":          rep("while True:\n os.fork()\n"),
		"loops in a row": rep("while(1){fork();"),
		"commas":         rep("a,b,"),
		"tuples":         rep("a,b=c,"),
		"functions":      rep("def f(a,b):\n return a\n"),
		"for":            rep("for a in b:\n"),
		"for lines":      rep("for "),
		"imports":        rep("from a import b,"),
		"patterns":       rep("const {a"),
		"closing":        rep("={a}={a}"),
		"execs":          rep("exec('exec(1)')\n"),
		"reads":          rep("open('a');"),
		"lists":          "x=[" + rep("'a',") + "]\nfor y in x: os.remove(y)",
		"list uses":      "x=[" + rep("'a',")[:n/2] + "]\n" + rep("f(*x);")[:n/2],
		"bars":           rep("|a|"),
		"percents":       rep("%w("),
		"quote words":    rep("q("),
		"sigils":         rep("$$"),
		"prints":         rep("print | "),
		"getlines":       rep("| getline "),
		"blanks":         rep(" \n\t"),
		"escapes":        "'" + rep(`\x`),
		"expressions":    rep("=/["),
		"stars":          rep("from a import *\nx\n"),
		"nul":            rep("\x00"),
		"bytes":          rep("\xff\xfe"),
	}
}

// TestHostileWorkIsLinear: eight times the text takes about eight times the steps and bytes, unless it spends
// the budget, after which no loop goes on. It counts the allocations of the whole process, so it is not parallel.
func TestHostileWorkIsLinear(t *testing.T) {
	work := func(lang, src string) (b budget, allocated uint64) {
		b.limit = 1 << 16
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		scanText(lang, src, &b)
		runtime.ReadMemStats(&after)
		return b, after.TotalAlloc - before.TotalAlloc
	}
	short, long := hostile(2<<10), hostile(16<<10)
	for _, lang := range allLanguages {
		for name := range short {
			few, little := work(lang, short[name])
			many, much := work(lang, long[name])
			if many.steps > 10*few.steps && !many.spent() {
				t.Errorf("%s, %s: %d steps, then %d", lang, name, few.steps, many.steps)
			}
			if many.steps > many.limit+len(long[name]) {
				t.Errorf("%s, %s: %d steps where %d are the limit", lang, name, many.steps, many.limit)
			}
			if much > 20*little+1<<20 {
				t.Errorf("%s, %s: allocated %d bytes, then %d", lang, name, little, much)
			}
		}
	}
}

// Searches that begin anew at each place of a text are part of the budget: twice the text takes four times
// the steps.
func TestRepeatedSearchesAreCounted(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ lang, again, last string }{
		{"awk", "=/[", ""}, {"python", "'\\N{'\n", ""}, {"awk", ") | getline ", ""}, {"python", "from %c import *\nx\n", ""},
	} {
		steps := func(n int) int {
			var src strings.Builder
			for i := range n {
				if strings.Contains(tt.again, "%c") {
					fmt.Fprintf(&src, tt.again, 0x4e00+i)
				} else {
					src.WriteString(tt.again)
				}
			}
			b := &budget{limit: math.MaxInt}
			scanText(tt.lang, src.String()+tt.last, b)
			return b.steps
		}
		if few, many := steps(1000), steps(2000); many < 3*few {
			t.Errorf("%s: %q 1000 times: %d steps, 2000 times: %d", tt.lang, tt.again, few, many)
		}
	}
}

func FuzzScan(f *testing.F) {
	for i := range allLanguages {
		for _, src := range hostile(60) {
			f.Add(i, src)
		}
	}
	for _, src := range []string{
		"import os as o\nfor x in ['a','b']:\n  o.remove(x)", "with open('a') as f, b as c: pass", "const {a: b} = require('fs'); b('x')",
		"my ($a, $b) = (1, 2); open(F, \">$a\");", "%w[a b].each { |f| File.delete(f) }", "$x = <<<EOT\na\nEOT;\n", "x = [==[ a ]==]", "{ print $1 | \"a\" }",
		"x <<~A\n#{`id`}\nA\n", "s{a}{b}e; tr/a/b/; qw(a b)", "f'{a!r:>{w}}' rb'\\x' '''a",
	} {
		for i := range allLanguages {
			f.Add(i, src)
		}
	}
	f.Fuzz(func(t *testing.T, lang int, src string) {
		name := allLanguages[uint(lang)%uint(len(allLanguages))]
		calls := Scan(name, src)
		if len(calls) > maxCalls+1 {
			t.Errorf("%d calls", len(calls))
		}
		for _, c := range calls {
			if c.Kind == "" || c.Offset < 0 || c.Offset > len(src) {
				t.Errorf("call %+v", c)
			}
		}
		if diff := cmp.Diff(calls, Scan(name, src)); diff != "" {
			t.Errorf("the second scan differs:\n%s", diff)
		}
	})
}

const ordinary = `import os, json, subprocess
from pathlib import Path

base = Path("out")
base.mkdir(exist_ok=True)

def load(name):
    with open(os.path.join("data", name)) as f:
        return json.load(f)

for name in ["a.json", "b.json"]:
    rows = [r for r in load(name) if r["ok"]]
    (base / name).write_text(json.dumps(rows))
subprocess.run(["git", "add", str(base)], check=True)
`

func BenchmarkScan(b *testing.B) {
	b.SetBytes(int64(len(ordinary)))
	for b.Loop() {
		Scan("python", ordinary)
	}
}

func BenchmarkHostile(b *testing.B) {
	for _, name := range []string{"calls", "doubling", "uses", "members"} {
		src := hostile(1 << 20)[name]
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				Scan("python", src)
			}
		})
	}
}
