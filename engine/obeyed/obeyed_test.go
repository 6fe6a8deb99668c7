package obeyed

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write docs/obeyed-files.md anew from the table")

const page = "../../docs/obeyed-files.md"

const head = `# Files that programs obey

By these files programs of yours start other programs, outside of every environment and without a question
to Sallyport. Rule [` + "`system/startup_files`" + `](rules.md#systemstartup_files) asks before an agent
writes one of them, by a command or a file tool. A path in the input names the programs in
` + "`paths[].obeyed_by`" + ` and has the label ` + "`autorun`" + `.

| severity | the user does |
|---|---|
| high | opens or enters the directory, or starts the program there |
| medium | a daily command (a commit, an installation), or a push that starts a pipeline |
| low | nothing: the file instructs the program and starts none; no rule asks |

A place is an absolute path, ` + "`~/…`" + ` below any home directory, or ` + "`**/…`" + ` anywhere.
` + "`/**`" + ` adds all below.

Files of low severity, as ` + "`CLAUDE.md` and `AGENTS.md`" + `, instruct an agent in its next session: a text that
misleads one can mislead the next, and whatever that wants to do is judged again. They are written without a
question, because agents write them at their user's request and nothing runs by them alone. A text or tool
call that names such a file is on record with a warning, one that fetches it from the network is asked about,
and ` + "`sallyport env diff`" + ` names the agents, also for a file that a script wrote.
` + "`rules: {system/startup_files: ask}`" + ` asks each time.

The table is no complete list. Source files that you run as such (` + "`Makefile`, `package.json`" + `) are
no part of it.

| program | files | it starts | severity |
|---|---|---|---|
`

func TestPage(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString(head)
	for _, g := range Groups() {
		starts := g.Starts
		if starts == "" {
			starts = "–"
		}
		for _, f := range g.Files {
			files := "`" + strings.Join(strings.Fields(f.Patterns), "` `") + "`"
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.Programs, files, starts, g.Severity)
		}
	}
	if *update {
		if err := os.WriteFile(page, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(page); err != nil || string(got) != b.String() {
		t.Errorf("%s is not what the table says (%v): go test ./engine/obeyed -update", page, err)
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	for _, g := range Groups() {
		if (g.Starts == "") != (g.Severity == Low) {
			t.Errorf("%s: severity %q, but it starts %q", g.Kind, g.Severity, g.Starts)
		}
		for _, f := range g.Files {
			for _, p := range strings.Fields(f.Patterns) {
				if other := seen[p]; other != "" {
					t.Errorf("%s stands twice: for %s and %s", p, other, f.Programs)
				}
				seen[p] = f.Programs
				rest, ok := strings.CutPrefix(strings.TrimSuffix(p, "/**"), "**/")
				if ok && strings.Count(rest, "/") > 1 {
					t.Errorf("%s: more than two names", p)
				}
			}
		}
	}
}
