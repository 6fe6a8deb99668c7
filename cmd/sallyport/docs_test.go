package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestCommandsAreDocumented holds that docs/cli.md names every command, and some document every option.
func TestCommandsAreDocumented(t *testing.T) {
	t.Parallel()
	cli, err := os.ReadFile("../../docs/cli.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	docs := ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		docs += string(text)
	}
	option := regexp.MustCompile(`(?m)^ +(?:(-\w), )?--([a-z-]+)`)
	seen := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if path, _ := strings.CutPrefix(c.CommandPath(), "sallyport "); !c.HasSubCommands() {
			seen++
			if !strings.Contains(string(cli), path) {
				t.Errorf("docs/cli.md does not name %s", path)
			}
		}
		for _, m := range option.FindAllStringSubmatch(c.Flags().FlagUsages(), -1) {
			short, long := m[1], m[2]
			named := strings.Contains(docs, "--"+long)
			if short != "" {
				named = named || strings.Contains(docs, "`"+short+"`") || strings.Contains(docs, c.Name()+" "+short)
			}
			if !named {
				t.Errorf("no document names --%s of %s", long, c.CommandPath())
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(new(app).root())
	if seen < 30 {
		t.Errorf("%d commands found", seen)
	}
}
