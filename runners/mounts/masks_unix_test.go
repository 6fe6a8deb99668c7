//go:build unix

package mounts

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func masks(t *testing.T, state string) *Masks {
	t.Helper()
	m, err := OpenMasks(state)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// A session that was killed leaves its masks and its record. The next one takes away what is as it was made.
func TestMasksOfTheDead(t *testing.T) {
	t.Parallel()
	state, ws := t.TempDir(), t.TempDir()
	at := func(name string) string { return filepath.Join(ws, name) }
	dead := masks(t, state)
	for name, mask := range map[string]Mask{
		"dir": {Dir: true}, "file": {Content: ".\n"}, "empty": {}, "used": {Dir: true}, "filled": {}, "exchanged": {Dir: true}, "link": {},
	} {
		if err := dead.Put(at(name), mask); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := dead.record.WriteString(`{"Path":"` + at("precious")); err != nil { // a line that was cut off
		t.Fatal(err)
	}
	// What the user did meanwhile.
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("precious", "")
	write("used/settings", "mine")
	write("filled", "mine")
	for _, err := range []error{os.Remove(at("exchanged")), os.Remove(at("link")), os.Symlink(at("precious"), at("link"))} {
		if err != nil {
			t.Fatal(err)
		}
	}
	write("exchanged", "")
	// The lock goes with a process. Here it is taken off: a program that another test starts just now may hold it for a moment longer.
	if err := errors.Join(unix.Flock(int(dead.record.Fd()), unix.LOCK_UN), dead.record.Close()); err != nil {
		t.Fatal(err)
	}
	if err := SweepMasks(state); err != nil {
		t.Fatal(err)
	}
	if absent := filepath.Join(state, "absent"); SweepMasks(absent) != nil || SweepMasks("") != nil || exists(absent) {
		t.Error("where nothing is noted something is made, or it fails")
	}
	for name, want := range map[string]bool{
		"dir": false, "file": false, "empty": false, "used": true, "filled": true, "exchanged": true, "link": true, "precious": true,
	} {
		if exists(at(name)) != want {
			t.Errorf("%s: there is %v, want %v", name, exists(at(name)), want)
		}
	}
	left, err := filepath.Glob(filepath.Join(state, "*"+recordEnding))
	if err != nil || len(left) != 0 {
		t.Errorf("records are left: %v, %v", left, err)
	}
}

// A mask is not made over what is there, and what is there is not taken away.
func TestMaskOverSomething(t *testing.T) {
	t.Parallel()
	ws := t.TempDir()
	m := masks(t, t.TempDir())
	if err := m.Put(ws, Mask{Dir: true}); err != nil {
		t.Fatal(err)
	}
	if err := m.Close(); err != nil || !exists(ws) {
		t.Errorf("%v", err)
	}
}
