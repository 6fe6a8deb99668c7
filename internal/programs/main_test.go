package programs

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// program is the path of the sallyport that is tested; TestMain builds it, and the supervisor beside it.
var program string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "sallyport-programs-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		program = filepath.Join(dir, "sallyport")
		const module = "github.com/sallyport-dev/sallyport/"
		build := exec.Command("go", "build", "-trimpath", "-ldflags", "-s -w", "-o", dir+"/",
			module+"cmd/sallyport", module+"cmd/sallyport-supervisor", module+"internal/programs/driver")
		build.Env = append(os.Environ(), "CGO_ENABLED=0") // it must run in a root without libc
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build sallyport: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// write makes a file and the directories above it.
func write(t *testing.T, file, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}
