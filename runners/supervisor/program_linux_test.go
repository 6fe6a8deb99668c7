package supervisor_test

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/runners/runnertest"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// The program that was opened runs, whatever lies at its path by then.
func TestOpenedProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := filepath.Join(dir, "program")
	script := func(word string) []byte { return []byte("#!/bin/sh\necho " + word + " \"$1\"\n") }
	runnertest.WriteProgram(t, file, script("first"), 0o755)
	for _, other := range []*os.File{nil, os.Stderr} {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file, file+".old"); err != nil {
			t.Fatal(err)
		}
		runnertest.WriteProgram(t, file, script("second"), 0o755)
		o := supervisor.ProgramOptions{Command: []string{file, "word"}, Env: os.Environ(), Open: f}
		if other != nil {
			o.Files = []*os.File{other}
		}
		for want, open := range map[string]*os.File{"first word\n": f, "second word\n": nil} {
			o.Open = open
			p, err := supervisor.OpenProgramWith(o)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(p); string(got) != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
			_ = p.Close()
		}
		_ = f.Close()
		if err := os.Rename(file+".old", file); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWaitForProgram: who waits hears how a program ended and what it said of it.
func TestWaitForProgram(t *testing.T) {
	t.Parallel()
	for script, want := range map[string]string{
		"echo said": "", "echo why >&2; exit 3": "run sh: exit status 3: why", "exit 4": "run sh: exit status 4", "kill -9 $$": "run sh: signal: killed",
	} {
		p, err := supervisor.OpenProgram([]string{"sh", "-c", script}, os.Environ(), "")
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, p)
		got := ""
		if err := p.Wait(); err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
		_ = p.Close()
	}
}
