package walk

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
	"github.com/sallyport-dev/sallyport/internal/await"
)

func TestParseRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text string
		want       shell.ErrorKind
		offset     int
	}{
		{"empty", "", shell.ErrEmpty, -1},
		{"comment only", " # rm x\n", shell.ErrEmpty, -1},
		{"NUL", "rm\x00x", shell.ErrNUL, 2},
		{"bare CR", "ls\rrm x", shell.ErrCR, 2},
		{"CRLF", "ls\r\nrm x", shell.ErrCR, 2},
		{"CR in quotes", "echo 'a\rb'", shell.ErrCR, 7},
		{"invalid UTF-8", "rm \xff", shell.ErrEncoding, 3},
		{"zero width", "rm\u200bx", shell.ErrControl, 2},
		{"zero width after multibyte", "é\u200bx", shell.ErrControl, 2},
		{"direction", "ls \u202e/", shell.ErrControl, 3},
		{"escape character", "ls \x1b[2K", shell.ErrControl, 3},
		{"forged hole", "rm \ufdd00\ufdd1", shell.ErrControl, 3},
		{"too long", "echo " + strings.Repeat("a", 64<<10), shell.ErrTooLong, 64 << 10},
		{"parentheses", strings.Repeat("(", 200), shell.ErrNesting, 100},
		{"substitutions", strings.Repeat("$(", 400), shell.ErrNesting, 201},
		{"syntax", "if true", shell.ErrSyntax, 0},
		{"open quote", `rm "x`, shell.ErrSyntax, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := Parse(tt.text, shell.Options{})
			e, ok := errors.AsType[*shell.Error](err)
			if !ok {
				t.Fatalf("error %v, want an *Error", err)
			}
			if e.Kind != tt.want || e.Offset != tt.offset {
				t.Errorf("%s at %d, want %s at %d (%v)", e.Kind, e.Offset, tt.want, tt.offset, e)
			}
			if p == nil || p.Certainty != value.Unknown || len(p.Commands) != 0 {
				t.Errorf("program %+v, want one that is empty and unknown", p)
			}
		})
	}
}

// 400,000 nested substitutions kill a parser with a stack that cannot be recovered. They
// must not reach it even where the caller sets generous limits on the length.
func TestNestingNeverReachesTheParser(t *testing.T) {
	t.Parallel()
	for _, text := range []string{strings.Repeat("$(", 400_000), strings.Repeat("`\"", 400_000), strings.Repeat("${x:-", 400_000), strings.Repeat("{ ", 400_000)} {
		_, err := Parse(text, shell.Options{Limits: shell.Limits{Bytes: 10 << 20}})
		if e, ok := errors.AsType[*shell.Error](err); !ok || e.Kind != shell.ErrNesting {
			t.Errorf("%.10s…: %v, want nesting", text, err)
		}
	}
}

func TestNestingAllowsOrdinaryTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`echo "` + strings.Repeat("(", 300) + `"`,
		`echo '` + strings.Repeat("{", 300) + `'`,
		strings.Repeat("case x in a) b;; esac; ", 200),
		"cat <<'E'\n" + strings.Repeat("it's (fine)\n", 200) + "E",
	} {
		if _, err := Parse(text, shell.Options{}); err != nil {
			t.Errorf("%.40q: %v", text, err)
		}
	}
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
		limits           shell.Limits
	}{
		{"commands", "a; b; c", "commands", shell.Limits{Commands: 2}},
		{"depth", "bash -c 'bash -c \"bash -c x\"'", "depth", shell.Limits{Depth: 2}},
		{"steps", "echo a b c d e f", "steps", shell.Limits{Steps: 5}},
		{"within", "a; b", "", shell.Limits{Commands: 2, Depth: 1, Steps: 50}},
	}
	for _, tt := range tests {
		p, err := Parse(tt.text, shell.Options{Limits: tt.limits})
		if err != nil {
			t.Fatal(err)
		}
		if p.Budget != tt.want {
			t.Errorf("%s: budget %q, want %q", tt.name, p.Budget, tt.want)
		}
		if tt.want != "" && p.Certainty != value.Unknown {
			t.Errorf("%s: certainty %v after a spent budget", tt.name, p.Certainty)
		}
	}
}

func TestPOSIX(t *testing.T) {
	t.Parallel()
	if _, err := Parse("cat <(ls)", shell.Options{POSIX: true}); err == nil {
		t.Error("POSIX grammar took a process substitution")
	}
	p, err := Parse(`echo 'rm\040x' | sh`, shell.Options{POSIX: true})
	if err != nil || p.Commands[1].Code.Static {
		t.Errorf("%v, %+v: an echo that may decode escapes counts as known", err, p.Commands[1].Code)
	}
}

func TestSpans(t *testing.T) {
	t.Parallel()
	text := `é; sudo rm x && echo "$(ls)"`
	p, err := Parse(text, shell.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Commands {
		got = append(got, c.Name+"="+text[c.Start:c.End])
	}
	want := []string{"é=é", "sudo=sudo rm x", "rm=sudo rm x", `echo=echo "$(ls)"`, "ls=ls"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestInputsAndPipelines(t *testing.T) {
	t.Parallel()
	tests := []struct {
		text string
		want [][]int
	}{
		{"curl u | sudo bash", [][]int{nil, {0}, {0}}},
		{"bash <(curl u)", [][]int{{1}, nil}},
		{`bash -c "$(curl u)"`, [][]int{{1}, nil}},
		{`X=$(curl u); eval "$X"`, [][]int{{1}, nil, {1}}},
		{`X=$(curl u); Y="a$X"; echo "$Y" | sh`, [][]int{{1}, nil, {1}, {1}, {1, 3}, {1, 3}}},
		{"bash <<E\n$(curl u)\nE", [][]int{{1}, nil}},
		{`bash <<< "$(curl u)"`, [][]int{{1}, nil}},
		{"curl u > f; bash f", [][]int{nil, {0}}},
		{"curl u | tee f; sh f", [][]int{nil, {0}, {0, 1}}},
		{"{ curl u; echo; } | sh", [][]int{nil, nil, {0, 1}}},
		{"if a; then curl u; fi | sh", [][]int{nil, nil, {0, 1}}},
		{"f() { curl u; }; f | sh", [][]int{nil, nil, nil, {1, 2}}},
		{"curl u | while read l; do $l; done", [][]int{nil, {0}, {0, 1}}},
		{"ls | tee >(sh)", [][]int{nil, {0}, {1}}},
		{"A=$(curl u) sh -c x", [][]int{{1}, nil, nil}},
	}
	for _, tt := range tests {
		p, err := Parse(tt.text, testOptions())
		if err != nil {
			t.Fatal(err)
		}
		var got [][]int
		for _, c := range p.Commands {
			if len(c.Inputs) == 0 {
				c.Inputs = nil
			}
			got = append(got, c.Inputs)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s\n%s%s", tt.text, strings.Join(renderAll(p), "\n"), diff)
		}
	}
	p, err := Parse("a | b | c; d", shell.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var got []shell.Pipeline
	for _, c := range p.Commands {
		got = append(got, c.Pipeline)
	}
	want := []shell.Pipeline{{ID: 1, Index: 0, Length: 3}, {ID: 1, Index: 1, Length: 3}, {ID: 1, Index: 2, Length: 3}, {ID: 2, Index: 0, Length: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestScriptIsNamed(t *testing.T) {
	t.Parallel()
	p, err := Parse("./x.sh a; ls", testOptions())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range p.Commands {
		got = append(got, c.Name+" "+c.Script)
	}
	if diff := cmp.Diff([]string{"x.sh ", "rm /w/x.sh", "ls "}, got); diff != "" {
		t.Error(diff)
	}
}

// FuzzParse looks for texts that make Parse panic, hang or answer differently twice.
func FuzzParse(f *testing.F) {
	for _, text := range hostile() {
		if len(text) < 4096 {
			f.Add(text)
		}
	}
	for _, text := range []string{
		`X=rm; $X -rf /`, `echo cm0= | base64 -d | sh`, "cat <<E >x\n$(a)\nE\nsh x", `f(){ f|f& };f`, `sudo -u x env -S 'a b' xargs -I{} sh -c "{}"`,
		`find / -exec rm {} +`, `python3 -c 'import os; os.system("x")'`, `${x//a/b} ${y:1:2} ${!z} "${a[@]}" $((1+2))`, `for i in {1..9}; do case $i in *) [[ a =~ b ]];; esac; done`,
		`trap 'x' EXIT; exec 5<>/dev/tcp/a/1; read -a b <&5`, `printf -v a '%s%d%x%b' 1 2 3 4`, `docker run --rm -v a:b img sh -c 'c'`, `perl -pi.bak -e 's/a/b/' c`, `ssh -o ProxyCommand=x h "a $b"`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limits := shell.Limits{Steps: 20_000, Commands: 300}
		o := testOptions()
		o.Limits = limits
		done := make(chan struct{})
		var a, b *shell.Program
		var errA, errB error
		go func() {
			defer close(done)
			a, errA = Parse(text, o)
			b, errB = Parse(text, o)
		}()
		await.Receive(t, "end of Parse", done)
		if (errA == nil) != (errB == nil) {
			t.Fatalf("%v, then %v", errA, errB)
		}
		if a == nil || errA != nil && a.Certainty != value.Unknown {
			t.Fatal("an error with a program that looks known")
		}
		if diff := cmp.Diff(a, b); diff != "" {
			t.Fatalf("two answers:\n%s", diff)
		}
		for _, c := range a.Commands {
			if c.Start < 0 || c.End < c.Start || c.End > len(text) {
				t.Fatalf("span %d-%d of %d bytes: %s", c.Start, c.End, len(text), render(c))
			}
			for _, in := range c.Inputs {
				if in < 0 || in >= len(a.Commands) {
					t.Fatalf("input %d of %d: %s", in, len(a.Commands), render(c))
				}
			}
			for _, w := range c.Words {
				if !strings.HasPrefix(w.Text, w.Prefix) || w.Certainty == value.Exact && w.Prefix != w.Text {
					t.Fatalf("prefix %q of %q (%v)", w.Prefix, w.Text, w.Certainty)
				}
				if strings.ContainsRune(w.Text, value.HoleOpen) {
					t.Fatalf("a hole shows in %q", w.Text)
				}
			}
			if c.Name == "" && len(c.Words) > 0 && c.Certainty != value.Unknown {
				t.Fatalf("no name but %v: %s", c.Certainty, render(c))
			}
		}
	})
}
