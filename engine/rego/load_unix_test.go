//go:build unix

package rego

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A named pipe waits for a writer: reading one would hold up the start for ever.
func TestNamedPipeIsAProblem(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{"x.rego": metadataText + "package custom.x\n\ndeny contains {} if input.request.background\n"})
	for _, name := range []string{"pipe.rego", "pipe.json", "pipe"} {
		if err := syscall.Mkfifo(filepath.Join(dir, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, problems(t, Options{Custom: []string{dir}}, dir), []string{
		"pipe.json: read policies: not a regular file: take it away",
		"pipe.rego: read policies: not a regular file: take it away",
	})
}

// What lies behind a link to a directory is not read. Rules that stand there must not be left out in silence.
func TestLinkToDirectoryIsAProblem(t *testing.T) {
	t.Parallel()
	rule := map[string]string{"x.rego": metadataText + "package custom.x\n\ndeny contains {} if input.request.background\n"}
	elsewhere, dir := directory(t, rule), directory(t, map[string]string{"y.rego": strings.Replace(rule["x.rego"], "custom.x", "custom.y", 1)})
	for name, target := range map[string]string{"team": elsewhere, "x.rego": filepath.Join(elsewhere, "x.rego"), "..data": elsewhere} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, problems(t, Options{Custom: []string{dir}}, dir), []string{
		"team: read policies: a link to a directory, which is not followed: name that directory in the configuration, and take the link away",
	})
}
