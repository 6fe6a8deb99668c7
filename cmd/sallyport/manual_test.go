package main

import (
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/sallyport-dev/sallyport/internal/release"
)

// manual is where the manual pages of a release go. They are made here, so that the program need not carry
// what makes them.
var manual = flag.String("manual", "", "write the manual pages into this `directory`")

// TestManual holds that every command has a manual page, and that the pages depend on nothing but the
// commands, the release and $SOURCE_DATE_EPOCH (https://reproducible-builds.org/docs/source-date-epoch/).
func TestManual(t *testing.T) {
	dir := *manual
	if dir == "" {
		t.Parallel()
		dir = t.TempDir()
	}
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil && os.Getenv("SOURCE_DATE_EPOCH") != "" {
		t.Fatal(err)
	}
	date := time.Unix(seconds, 0).UTC()
	root := new(app).root()
	root.DisableAutoGenTag = true
	header := &doc.GenManHeader{Section: "1", Manual: "Sallyport", Source: "sallyport " + release.Version(), Date: &date}
	if err := doc.GenManTree(root, header, dir); err != nil {
		t.Fatal(err)
	}
	pages := 0
	var look func(c *cobra.Command)
	look = func(c *cobra.Command) {
		if c.IsAvailableCommand() || c == root {
			name := strings.ReplaceAll(c.CommandPath(), " ", "-")
			text, err := os.ReadFile(filepath.Join(dir, name+".1"))
			pages++
			if err != nil {
				t.Error(err)
			} else if !strings.Contains(string(text), ".SH NAME") || !strings.Contains(string(text), ".SH SYNOPSIS") {
				t.Errorf("the manual page of %s has no name or no synopsis", c.CommandPath())
			}
		}
		for _, sub := range c.Commands() {
			look(sub)
		}
	}
	look(root)
	if pages < 30 {
		t.Errorf("%d pages found", pages)
	}
}
