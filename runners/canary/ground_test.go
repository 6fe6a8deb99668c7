package canary

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Objects of a process that was killed are removed by a later one, and those in use are not.
func TestLeftObjectsAreRemoved(t *testing.T) {
	t.Parallel()
	place := t.TempDir()
	left, used := filepath.Join(place, prefix+"1"), filepath.Join(place, prefix+"2")
	for _, dir := range []string{filepath.Join(left, "shown"), used} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Now().Add(-forgotten - time.Hour)
	if err := os.Chtimes(left, old, old); err != nil {
		t.Fatal(err)
	}
	g, err := Lay([]string{place})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(left); err == nil {
		t.Error("the objects of before are there")
	}
	g.Remove()
	entries, err := os.ReadDir(place)
	if err != nil || len(entries) != 1 || entries[0].Name() != filepath.Base(used) {
		t.Errorf("left: %v, %v", entries, err)
	}
}
