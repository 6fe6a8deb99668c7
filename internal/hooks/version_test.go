package hooks

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestVersions holds that documents and the packages for tests name the releases of the table that were tried.
func TestVersions(t *testing.T) {
	t.Parallel()
	files := map[string]string{}
	for _, file := range []string{
		"../../README.md", "../../docs/mcp.md", "../../docs/agents.md", "../mcpclients/testdata/npm/package.json",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		files[file] = string(text)
	}
	packages := map[string]string{
		"claude-code": "@anthropic-ai/claude-code-linux-x64", "codex": "@openai/codex-linux-x64",
		"gemini": "@google/gemini-cli", "copilot": "@github/copilot-linux-x64", "opencode": "opencode-linux-x64",
	}
	tried := 0
	for _, name := range Names() {
		h, err := Named(name)
		if err != nil {
			t.Fatal(err)
		}
		if !h.Seen {
			continue
		}
		tried++
		named := regexp.QuoteMeta(h.Title) + `(?: CLI)? \|(?: [^|]* \|)?? ` + regexp.QuoteMeta(h.Version) + ` \|`
		row := regexp.MustCompile(`(?m)^\| ` + named)
		pin := regexp.MustCompile(`"` + packages[name] + `": "(npm:@openai/codex@)?` + regexp.QuoteMeta(h.Version))
		for file, text := range files {
			if (name == "copilot" || name == "opencode") && !strings.Contains(text, h.Title) {
				continue // a document about MCP servers alone
			}
			if !row.MatchString(text) && !pin.MatchString(text) {
				t.Errorf("%s does not name %s of %s", file, h.Version, h.Title)
			}
		}
	}
	if tried < len(packages) {
		t.Errorf("%d hosts were tried", tried)
	}
}
