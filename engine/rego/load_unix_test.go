//go:build unix

package rego

import (
	"path/filepath"
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
