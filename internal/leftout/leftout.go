// Package leftout lets tests leave out what this machine cannot run, and say so where a person sees it.
//
// It is for tests only. A test that needs something absent calls Skip with the reason and the mend: the
// reason goes to the file named by SALLYPORT_LEFT_OUT, which `make test` prints at its end. With
// SALLYPORT_TEST_COMPLETE=1 nothing may be left out and the test fails instead.
package leftout

import (
	"fmt"
	"os"
	"os/exec"
	"testing"
)

// Skip leaves the test out, saying why and what would mend it.
func Skip(t testing.TB, why string) {
	t.Helper()
	if os.Getenv("SALLYPORT_TEST_COMPLETE") == "1" {
		t.Fatalf("nothing may be left out here, but: %s", why)
	}
	note(t, why)
	t.Skip("left out: " + why)
}

// Command returns the path of a program, or leaves the test out. The mend says how to get it.
func Command(t testing.TB, name, mend string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		Skip(t, fmt.Sprintf("no %s on PATH: %s", name, mend))
	}
	return path
}

func note(t testing.TB, why string) {
	file := os.Getenv("SALLYPORT_LEFT_OUT")
	if file == "" {
		return
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		t.Logf("note what was left out: %v", err)
		return
	}
	defer f.Close()
	fmt.Fprintf(f, "%s: %s\n", t.Name(), why)
}
