package build

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/obeyed"
)

// placeOf returns a path that a pattern of the table names, in the workspace or where the pattern says.
func placeOf(pattern string) string {
	p, below := strings.CutSuffix(pattern, "/**")
	if below {
		p += "/x"
	}
	if rest, ok := strings.CutPrefix(p, "**/"); ok {
		p = testWS + "/lib/" + rest
	}
	if rest, ok := strings.CutPrefix(p, "~/"); ok {
		p = "/home/dev/" + rest
	}
	return strings.ReplaceAll(p, "*", "x")
}

func TestObeyedFilesAreLabelled(t *testing.T) {
	t.Parallel()
	b := NewBuilder(testLayout(), newMemFS(machine), nil)
	for _, g := range obeyed.Groups() {
		if g.Starts == "" != (g.Severity == obeyed.Low) {
			t.Errorf("%s: severity %s and %q", g.Kind, g.Severity, g.Starts)
		}
		for _, f := range g.Files {
			for _, pattern := range strings.Fields(f.Patterns) {
				p := b.Build(facts.Ask{Touches: []facts.Touch{{Path: placeOf(pattern), Access: "write"}}}).Paths[0]
				if !slices.Contains(p.Labels, string(g.Kind)) {
					t.Errorf("%s of %s has labels %v, want %s", p.Path, pattern, p.Labels, g.Kind)
				}
				if g.Severity != obeyed.Low && !slices.Contains(p.Labels, "autorun") {
					t.Errorf("%s of %s has labels %v, want autorun", p.Path, pattern, p.Labels)
				}
				program, _, _ := strings.Cut(f.Programs, ", ")
				want := facts.Obeyed{Program: program, Starts: g.Starts, Severity: string(g.Severity)}
				if !slices.Contains(p.ObeyedBy, want) {
					t.Errorf("%s of %s is obeyed by %v, want %v", p.Path, pattern, p.ObeyedBy, want)
				}
			}
		}
	}
}

func TestObeyedBy(t *testing.T) {
	t.Parallel()
	b := NewBuilder(testLayout(), newMemFS(machine+`
/home/dev/ws/bare/HEAD
/home/dev/ws/bare/objects/x
/home/dev/ws/bare/refs/x
/home/dev/ws/tree/HEAD
/home/dev/ws/tree/commondir
/home/dev/ws/plain/HEAD
`), nil)
	for _, c := range []struct{ text, want string }{
		{"echo x > .mcp.json", "Claude Code, GitHub Copilot CLI"},
		{"echo x > sub/.GITHUB/workflows/ci.yml", ""}, // another file where case matters
		{"echo x > .github/workflows/ci.yml", "GitHub Actions"},
		{"echo x > .github/workflows/$name.yml", "GitHub Actions"},
		{"echo x > .github/CODEOWNERS", ""},
		{"echo x > CLAUDE.md", "Claude Code"},
		// Git takes these for repositories by their contents.
		{"echo x > bare/config", "git"},
		{"echo x > bare/hooks/post-checkout", "git"},
		{"echo x > tree/config.worktree", "git"},
		{"echo x > plain/config", ""},
		{"echo x > bare/description", ""},
	} {
		in := b.Build(testAsk(c.text))
		var programs []string
		for _, o := range in.Paths[0].ObeyedBy {
			programs = append(programs, o.Program)
		}
		if got := strings.Join(programs, ", "); got != c.want {
			t.Errorf("%s: obeyed by %q, want %q", c.text, got, c.want)
		}
		if c.want == "git" && !slices.Contains(in.Paths[0].Labels, "autorun") {
			t.Errorf("%s: labels %v", c.text, in.Paths[0].Labels)
		}
	}
}

func TestDirectoriesOfObeyedFiles(t *testing.T) {
	t.Parallel()
	b := NewBuilder(testLayout(), newMemFS(machine), nil)
	for dir, want := range map[string]string{
		".cursor": "holds_autorun", "lib/.claude": "holds_autorun", ".github": "holds_autorun",
		".cargo": "holds_autorun",
		".husky": "autorun", ".idea": "autorun", "tools": "", "settings": "", ".git": "",
	} {
		p := b.Build(facts.Ask{Touches: []facts.Touch{{Path: dir, Access: "write"}}}).Paths[0]
		got := ""
		for _, l := range p.Labels {
			if strings.HasSuffix(l, "autorun") {
				got = cmp.Or(got, l)
			}
		}
		if got != want {
			t.Errorf("%s: labels %v, want %q", dir, p.Labels, want)
		}
	}
}
