package architecture

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/modfile"
)

const root = "../.."

// documents are the Markdown files of the repository.
func documents(t *testing.T) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if name := d.Name(); d.IsDir() && path != root && (strings.HasPrefix(name, ".") || name == "bin" || name == "dist" || name == "node_modules") {
			return filepath.SkipDir
		}
		if filepath.Ext(path) == ".md" {
			out = append(out, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(out) < 10 {
		t.Fatalf("%d documents found: the test looks in the wrong place", len(out))
	}
	return out
}

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.*?) *$`)
	dropped = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// prose is a document without the blocks that it shows.
func prose(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fenced.ReplaceAllString(string(text), "")
}

// headings are the anchors of a document, as GitHub makes them.
func headings(text string) (out []string) {
	for _, m := range heading.FindAllStringSubmatch(text, -1) {
		out = append(out, strings.ReplaceAll(dropped.ReplaceAllString(strings.ToLower(m[1]), ""), " ", "-"))
	}
	return out
}

// TestLinksLeadSomewhere holds that every file, and every heading, to which a document leads is there.
func TestLinksLeadSomewhere(t *testing.T) {
	for _, doc := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(prose(t, doc), -1) {
			path, anchor, _ := strings.Cut(m[1], "#")
			if strings.Contains(path, ":") {
				continue // of another place
			}
			file := doc
			if path != "" {
				file = filepath.Join(filepath.Dir(doc), path)
			}
			if _, err := os.Stat(file); err != nil {
				t.Errorf("%s links to %s: %v", doc, m[1], err)
			} else if anchor != "" && !slices.Contains(headings(prose(t, file)), anchor) {
				t.Errorf("%s links to %s, and no heading there is called so", doc, m[1])
			}
		}
	}
}

// widest is how many characters a line of prose may have; tables and blocks have no limit.
const widest = 110

// TestProseIsNarrow holds that README and docs can be read in a terminal. The list of rules is made of their metadata.
func TestProseIsNarrow(t *testing.T) {
	lines := 0
	for _, doc := range documents(t) {
		rel, err := filepath.Rel(root, doc)
		if err != nil {
			t.Fatal(err)
		}
		if rel != "README.md" && filepath.Dir(rel) != "docs" || rel == "docs/rules.md" {
			continue
		}
		for line := range strings.Lines(prose(t, doc)) {
			lines++
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "|") && utf8.RuneCountInString(line) > widest {
				t.Errorf("%s: %d characters, at most %d: %s", rel, utf8.RuneCountInString(line), widest, line)
			}
		}
	}
	if lines < 500 {
		t.Errorf("%d lines of prose found: the test looks in the wrong place", lines)
	}
}

// TestDependenciesAreExplained holds docs/dependencies.md against what go.mod requires by itself.
func TestDependenciesAreExplained(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	var required, explained []string
	for _, r := range mod.Require {
		if !r.Indirect {
			required = append(required, r.Mod.Path)
		}
	}
	for _, row := range regexp.MustCompile(`(?m)^\| ([^ |]+\.[^|]+) \|`).FindAllStringSubmatch(prose(t, filepath.Join(root, "docs/dependencies.md")), -1) {
		explained = append(explained, strings.Split(row[1], ", ")...)
	}
	slices.Sort(required)
	slices.Sort(explained)
	if diff := cmp.Diff(required, explained); diff != "" {
		t.Errorf("docs/dependencies.md does not explain what go.mod requires (-go.mod +explained):\n%s", diff)
	}
}

// TestReadmeIsShort holds the README to a few screens, and its badges to what the repository says.
func TestReadmeIsShort(t *testing.T) {
	read := func(file string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	const longest = 150
	if n := strings.Count(read("README.md"), "\n"); n > longest {
		t.Errorf("README.md has %d lines, at most %d", n, longest)
	}
	mod, err := modfile.Parse("go.mod", []byte(read("go.mod")), nil)
	if err != nil {
		t.Fatal(err)
	}
	version := strings.TrimSuffix(mod.Go.Version, ".0")
	for file, says := range map[string]string{"docs/pictures/go.svg": ">" + version + "<", "README.md": "![Go " + version + "]"} {
		if !strings.Contains(read(file), says) {
			t.Errorf("%s does not say %q, as go.mod does", file, says)
		}
	}
	if licence := strings.Join(strings.Fields(read("LICENSE")), " "); !strings.HasPrefix(licence, "Apache License Version 2.0,") {
		t.Errorf("the badge says Apache-2.0, and the licence begins with %.40s", licence)
	}
}
