package places

import (
	"path"
	"strings"
	"testing"
)

func TestLabelsFile(t *testing.T) {
	rows := placeRows()
	if len(rows) < 30 {
		t.Errorf("%d labels", len(rows))
	}
	seen := map[mark]bool{}
	for i, r := range rows {
		if r.label == 255 || len(r.patterns) == 0 || seen[r.mark] {
			t.Errorf("label %d: %+v is not a label, has no patterns, or stands there twice", i, r)
		}
		seen[r.mark] = true
		for _, p := range r.patterns {
			if _, err := path.Match(p, ""); err != nil || !strings.ContainsAny(p, "/~") {
				t.Errorf("pattern %s: %v", p, err)
			}
		}
	}
}

// Patterns for names in a directory of a home cost a look at each path; homeGlobs expects one such directory.
func TestHomeGlobs(t *testing.T) {
	for dir := range Atlases().globs {
		if strings.HasPrefix(dir, "~/") && dir != "~/.ssh" {
			t.Errorf("patterns for names in %s: name it in homeGlobs", dir)
		}
	}
}
