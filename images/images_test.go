package images_test

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/images"
)

// TestDockerfiles holds what the documents say of every image: what it is built on can be named, it is built by packages alone,
// no version is a redirection, and it ends with the ordinary user.
func TestDockerfiles(t *testing.T) {
	t.Parallel()
	examples, err := filepath.Glob("examples/*")
	if err != nil {
		t.Fatal(err)
	}
	names := append([]string{"runtime", "runtime-sudo"}, examples...)
	if len(names) != 5 || !slices.Contains(names, "examples/custom") {
		t.Fatalf("there are %q", names)
	}
	downloads := regexp.MustCompile(`(curl|wget)\s+[^\n]*(http|\|)|^ADD\s+http`)
	redirects := regexp.MustCompile(`(pip|npm|apt-get)[^\n"']*\s[a-z0-9-]+[<>]=?[0-9]`)
	for _, name := range names {
		b, err := images.Dockerfile(name)
		if err != nil {
			t.Error(err)
			continue
		}
		var lines []string
		for line := range strings.Lines(string(b)) {
			if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
				lines = append(lines, line)
			}
		}
		text := strings.Join(lines, "\n")
		if !strings.HasPrefix(text, "ARG BASE=") || !strings.HasPrefix(lines[1], "FROM ${BASE}") {
			t.Errorf("%s: its base cannot be named", name)
		}
		if found := append(downloads.FindAllString(text, -1), redirects.FindAllString(text, -1)...); len(found) > 0 {
			t.Errorf("%s: %q", name, found)
		}
		users := regexp.MustCompile(`(?m)^USER (\S+)$`).FindAllStringSubmatch(text, -1)
		if len(users) == 0 || users[len(users)-1][1] != "sallyport" {
			t.Errorf("%s ends as %q", name, users)
		}
		if example := strings.HasPrefix(name, "examples/"); example && !strings.Contains(string(b), "sallyport image build --file") {
			t.Errorf("%s does not say how it is built", name)
		}
	}
	if _, err := images.Dockerfile("none"); err == nil {
		t.Error("an image that there is not has a Dockerfile")
	}
}
