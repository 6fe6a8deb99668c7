package testprogram

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBuild(t *testing.T) {
	dir := t.TempDir()
	if err := Build(dir, "internal/confirm/stub", "front=internal/front"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"stub", "front"} {
		if _, err := exec.LookPath(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	if err := Build(dir, "cmd/absent"); err == nil || !strings.Contains(err.Error(), "cmd/absent") {
		t.Errorf("a package that is not there: %v", err)
	}
}

// TestSources shows that a change of embedded rules, or of a package that a program imports, counts.
func TestSources(t *testing.T) {
	out, err := goTool("list", "-deps", "-f", sources, module+"cmd/sallyport").Output()
	if err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	list := strings.Split(string(out), "\n")
	for _, file := range []string{
		"go.mod", "cmd/sallyport/main.go", "engine/gate.go", "engine/config/schema.json",
	} {
		if !slices.Contains(list, filepath.Join(root, file)) {
			t.Errorf("%s is not among the %d sources of sallyport", file, len(list))
		}
	}
}
