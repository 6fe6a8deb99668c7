package setup

import (
	"maps"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGuide holds that setup writes the blocks of docs/mcp.md, which people copy who do it by hand.
func TestGuide(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```(json|toml)\n(.*?)```")
	for _, a := range Agents() {
		_, section, found := strings.Cut(string(text), "\n### "+a.Title+"\n")
		if !found {
			t.Errorf("docs/mcp.md has no section %s", a.Title)
			continue
		}
		section, _, _ = strings.Cut(section, "\n### ")
		shown, written := map[string]any{}, map[string]any{}
		for _, m := range block.FindAllStringSubmatch(section, -1) {
			v, err := decode(format(m[1]), []byte(m[2]))
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(shown, v)
		}
		home := t.TempDir()
		changes, err := a.Connect(func(string) string { return "" }, home, Server{Command: "sallyport", Args: []string{"mcp"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range changes {
			v, err := decode(c.format, c.After)
			if err != nil {
				t.Fatal(err)
			}
			maps.Copy(written, v)
			name := strings.TrimPrefix(c.File, home+"/")
			if name != ".claude.json" && !strings.Contains(section, "`~/"+name+"`") {
				t.Errorf("docs/mcp.md does not name %s for %s", name, a.Title)
			}
		}
		if diff := cmp.Diff(shown, written); diff != "" {
			t.Errorf("%s (-docs/mcp.md +setup):\n%s", a.Title, diff)
		}
	}
}
