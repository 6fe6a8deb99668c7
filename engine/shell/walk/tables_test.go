package walk

import (
	"bufio"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

var update = flag.Bool("update", false, "write what Parse returns into testdata/*.txt; read the diff before you commit it")

// tableCase is one text of a table and what Parse makes of it.
type tableCase struct {
	section string
	text    []string
	want    []string
}

// TestTables runs testdata/*.txt: "# " begins a section, lines with "$ " are the text, the
// indented lines below it the commands as render writes them.
func TestTables(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no tables in testdata: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			cases := readTable(t, file)
			if *update {
				writeTable(t, file, cases)
				return
			}
			var section string
			for i, first := 0, 0; i < len(cases); i++ {
				section = cases[i].section
				if i+1 < len(cases) && cases[i+1].section == section {
					continue
				}
				part := cases[first : i+1]
				first = i + 1
				t.Run(section, func(t *testing.T) {
					for _, c := range part {
						if diff := cmp.Diff(c.want, parseForTable(strings.Join(c.text, "\n"))); diff != "" {
							t.Errorf("%s\n(-want +got)\n%s", strings.Join(c.text, "\n"), diff)
						}
					}
				})
			}
		})
	}
}

// parseForTable returns what a table shows of a text: its commands, or why there are none.
func parseForTable(text string) []string {
	p, err := Parse(text, testOptions())
	if err != nil {
		e, ok := errors.AsType[*shell.Error](err)
		if !ok {
			return []string{"not an *Error"}
		}
		return []string{"error " + string(e.Kind)}
	}
	lines := renderAll(p)
	lowest := value.Exact
	for _, c := range p.Commands {
		lowest = min(lowest, c.Certainty)
	}
	if p.Budget != "" {
		lines = append(lines, "budget "+p.Budget)
	}
	if p.Certainty != lowest {
		lines = append(lines, "program "+p.Certainty.String())
	}
	return lines
}

func readTable(t testing.TB, file string) []tableCase {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var cases []tableCase
	section, inText := "", false
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch {
		case strings.HasPrefix(line, "# "):
			section = line[2:]
		case strings.HasPrefix(line, "$"):
			if !inText {
				cases = append(cases, tableCase{section: section})
			}
			c := &cases[len(cases)-1]
			c.text = append(c.text, strings.TrimPrefix(line[1:], " "))
		case strings.HasPrefix(line, "    "):
			c := &cases[len(cases)-1]
			c.want = append(c.want, line[4:])
		}
		inText = strings.HasPrefix(line, "$")
	}
	return cases
}

func writeTable(t *testing.T, file string, cases []tableCase) {
	t.Helper()
	var b strings.Builder
	section := ""
	for _, c := range cases {
		if c.section != section {
			section = c.section
			b.WriteString("# " + section + "\n\n")
		}
		for _, line := range c.text {
			b.WriteString(strings.TrimRight("$ "+line, " ") + "\n")
		}
		for _, line := range parseForTable(strings.Join(c.text, "\n")) {
			b.WriteString("    " + line + "\n")
		}
		b.WriteByte('\n')
	}
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
