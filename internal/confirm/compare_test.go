package confirm

import (
	"strings"
	"testing"
)

// TestCompare shows that each kind of difference is found, and that coverage and refusals are no difference.
func TestCompare(t *testing.T) {
	tool := func(args ...string) Record {
		return Record{Exe: "/usr/bin/tool", Parent: "bash", Cwd: Dir, Pwd: Dir,
			Argv: append([]string{"tool"}, args...)}
	}
	in := func(r Record, cwd, input string) Record {
		r.Cwd, r.Pwd, r.Input = cwd, cwd, input
		return r
	}
	for _, c := range []struct {
		name, text string
		run        Run
		want       Verdict
		fault      string
	}{
		{"same", "tool a", Run{Records: []Record{tool("a")}}, Exact, ""},
		{"not run", "false && tool a", Run{}, Exact, ""},
		{"another word", "tool a", Run{Records: []Record{tool("b")}}, Disagrees, "argv"},
		{"one word more", "tool a", Run{Records: []Record{tool("a", "b")}}, Disagrees, "argv"},
		{"an unquoted unknown word", `tool $(say x)`, Run{Records: []Record{tool("a", "b")}}, Covered, ""},
		{"a quoted unknown word", `tool "$(say x)"`, Run{Records: []Record{tool("a", "b")}}, Disagrees,
			"argv"},
		{"a known beginning", `tool "a/$(say x)"`, Run{Records: []Record{tool("b/c")}}, Disagrees, "argv"},
		{"a pattern", "tool src/*.py", Run{Records: []Record{tool("src/main.py", "src/util.py")}}, Exact, ""},
		{"no match of a pattern", "tool src/*.py", Run{Records: []Record{tool("src/main.c")}}, Disagrees,
			"argv"},
		{"another directory", "cd src && tool", Run{Records: []Record{in(tool(), Dir+"/build", "")}},
			Disagrees, "directory"},
		{"an unknown directory", `cd "$(say x)" && tool`, Run{Records: []Record{in(tool(), Dir+"/build",
			"")}}, Covered, ""},
		{"a directory behind a link", "cd link && tool", Run{Records: []Record{in(tool(), Dir+"/src",
			"")}}, Exact, ""},
		{"the same input", "tool <<< a", Run{Records: []Record{in(tool(), Dir, "pipe:a\n")}}, Exact, ""},
		{"another input", "tool <<< a", Run{Records: []Record{in(tool(), Dir, "pipe:b\n")}}, Disagrees,
			"input"},
		{"a file", "tool > x", Run{Records: []Record{tool()}, Changed: []string{Dir + "/x"}}, Exact, ""},
		{"another file", "tool > x", Run{Records: []Record{tool()}, Changed: []string{Dir + "/y"}},
			Disagrees, "file"},
		{"text that nobody saw", `eval "$(say x)"`, Run{Records: []Record{tool("say", "x")}}, Opaque, "argv"},
		{"not understood", "tool '", Run{Records: []Record{tool("x")}}, NotUnderstood, ""},
		{"a shell of a program", "tool", Run{Records: []Record{
			{Exe: "/usr/bin/sh", Parent: "tool", Cwd: Dir, Argv: []string{"sh", "-c", "x"}},
		}}, Exact, ""},
		{"a shell of a shell", "tool", Run{Records: []Record{
			{Exe: "/usr/bin/sh", Parent: "bash", Cwd: Dir, Argv: []string{"sh", "-c", "x"}},
		}}, Disagrees, "argv"},
	} {
		got := Compare(Program{Text: c.text}, c.run)
		if faults := strings.Join(got.Faults, "\n"); got.Verdict != c.want || !strings.HasPrefix(faults,
			c.fault) {
			t.Errorf("%s: %q: %v %q, want %v %q", c.name, c.text, got.Verdict, faults, c.want, c.fault)
		}
	}
}

// TestPrograms shows that a seed makes the same programs, that there are enough operators, and that most of
// the programs are understood.
func TestPrograms(t *testing.T) {
	if n := len(words) + len(statements); n < 40 {
		t.Errorf("%d operators", n)
	}
	used, refused := map[string]bool{}, 0
	const n = 3000
	for i := range uint64(n) {
		a, b := Mutate(3, i, seeds()), Mutate(3, i, seeds())
		c, d := Generate(3, i), Generate(3, i)
		if a.Text != b.Text || c.Text != d.Text {
			t.Fatalf("program %d is not the same again", i)
		}
		for _, op := range a.Ops {
			used[op] = true
		}
		if _, why := Read(a); why != "" {
			refused++
		}
		if _, why := Read(c); why != "" {
			refused++
		}
	}
	for _, op := range words {
		if !used[op.name] {
			t.Errorf("operator %q is in no program", op.name)
		}
	}
	for _, op := range statements {
		if !used[op.name] {
			t.Errorf("operator %q is in no program", op.name)
		}
	}
	if refused > n/5 {
		t.Errorf("%d of %d programs are not understood", refused, 2*n)
	}
}

// TestJudge shows that the judge refuses what harms, and only that.
func TestJudge(t *testing.T) {
	j := newJudge(t)
	for text, want := range map[string]bool{"ls src": true, "rm -rf ~/precious": false,
		"echo x > ~/.bashrc": false, "if": false} {
		if got := j.allows(Program{Text: text}); got != want {
			t.Errorf("%q: allowed %t, want %t", text, got, want)
		}
	}
	if h := Harm(Run{Changed: []string{Dir + "/x", "/tmp/x"}, Gone: []string{Home +
		"/precious"}}); len(h) != 1 {
		t.Errorf("harm: %q", h)
	}
}
