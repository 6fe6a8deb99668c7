package escapes

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/escapes.md anew")

const page = "../../docs/escapes.md"

// TestPage holds docs/escapes.md to the corpus.
func TestPage(t *testing.T) {
	want := written(corpus())
	if *update {
		must(t, os.WriteFile(page, []byte(want), 0o644))
	}
	got, err := os.ReadFile(page)
	must(t, err)
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("docs/escapes.md is not that of the corpus: go test ./internal/escapes -run TestPage -update (-want +got):\n%s", diff)
	}
}

// TestCorpus holds what a reader of the page relies on.
func TestCorpus(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range corpus() {
		for _, c := range f.tries {
			if name := f.name + ": " + c.name; seen[name] {
				t.Errorf("%s is there twice", name)
			} else {
				seen[name] = true
			}
			if c.bubblewrap == "" || c.docker == "" {
				t.Errorf("%s: nothing says what stops it", c.name)
			}
			if (c.text == "") == (c.tool == nil) {
				t.Errorf("%s: it wants a text or a tool", c.name)
			}
		}
	}
	if len(seen) < 60 {
		t.Errorf("%d tries are no corpus", len(seen))
	}
}

const preface = `# Attempts to escape

<!-- Made from internal/escapes: go test ./internal/escapes -run TestPage -update -->

This page lists %d ways out that the tests of every release try, and the defence against each. They are data in ` + "`internal/escapes`" + `; this page is made from them.

` + "```sh\ngo test -v ./internal/escapes                          # all\ngo test -v ./internal/escapes -run 'TestDocker$/Proc'    # processes, in docker\n```" + `

Each try is first shown to get out where nothing confines it, by a supervisor or a shell that is a plain process of the machine, or, where that would harm the machine, as root in namespaces of their own. A try that fails there is a mistake in the test. Then it is made in ` + "`bubblewrap`, `docker` and `docker-sudo`" + `; in the last also as root, by an elevated command. It got out if the host shows it: a secret came back, a file that was not granted or is protected changed, a listener was called, a process of the host was touched, a set-id file or a device lies in the workspace, something is left, the keeper is gone, or the kernel let through what it was to refuse.

None gets out, but for what is marked *not stopped*. *Root may* marks what an elevated command in docker-sudo may do: the container and its keeper are its own, and what it does there ends with the container; the host does not notice.

Not here: what may run at all (the policies' tests), holes of the kernel and of the engine, and what you grant. The tests run in the engine's default runtime.

| | tries |
|---|---|
`

// written is the page.
func written(families []family) string {
	var b, counts strings.Builder
	n := 0
	for _, f := range families {
		n += len(f.tries)
		fmt.Fprintf(&counts, "| [%s](#%s) | %d |\n", f.name, anchor(f.name), len(f.tries))
	}
	fmt.Fprintf(&b, preface, n)
	b.WriteString(counts.String())
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| try | what stops it in bubblewrap | in docker |\n|---|---|---|\n", f.name, f.about)
		for _, c := range f.tries {
			docker := c.docker + c.not(inDocker, "") + c.not(inDockerSudo, "docker-sudo: ") + c.not(asSudo, "root in docker-sudo: ")
			if c.asRoot {
				docker += "; root may"
			}
			fmt.Fprintf(&b, "| %s | %s%s | %s |\n", c.name, c.bubblewrap, c.not(inBubblewrap, ""), docker)
		}
	}
	return wrapped(b.String())
}

// wrapped breaks lines of prose at 110 characters. Tables, blocks and comments stay as they are.
func wrapped(text string) string {
	var b strings.Builder
	block := false
	for line := range strings.Lines(text) {
		block = block != strings.HasPrefix(line, "```")
		if block || strings.HasPrefix(line, "|") || strings.HasPrefix(line, "<!--") || len(strings.Fields(line)) == 0 {
			b.WriteString(line)
			continue
		}
		width := 0
		for i, word := range strings.Fields(line) {
			n := utf8.RuneCountInString(word)
			switch {
			case i == 0:
			case width+1+n > 110:
				b.WriteString("\n")
				width = 0
			default:
				b.WriteString(" ")
				width++
			}
			b.WriteString(word)
			width += n
		}
		b.WriteString("\n")
	}
	return b.String()
}

// not says that an environment does not stop a try, and why.
func (c try) not(in, where string) string {
	if why := c.accepted[in]; why != "" {
		return "; **not stopped**, " + where + why
	}
	return ""
}

// anchor is the link to a heading.
func anchor(heading string) string {
	return strings.ReplaceAll(strings.ToLower(heading), " ", "-")
}
