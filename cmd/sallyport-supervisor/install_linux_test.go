package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The installed copy is the program, appears whole, and replaces an older one.
func TestInstall(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "sallyport-supervisor")
	if err := os.WriteFile(to, []byte("older"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program, "--install", to).CombinedOutput(); err != nil || len(out) != 0 {
		t.Fatalf("%v: %s", err, out)
	}
	want, err := exec.Command(program, "--version").Output()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := exec.Command(to, "--version").Output(); err != nil || string(got) != string(want) {
		t.Errorf("the copy says %q, %v", got, err)
	}
	entries, err := os.ReadDir(filepath.Dir(to))
	if err != nil || len(entries) != 1 {
		t.Errorf("%v, %v", entries, err)
	}
	out, err := exec.Command(program, "--install", "/nothing/here").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "install: open /nothing") {
		t.Errorf("%v: %s", err, out)
	}
}
