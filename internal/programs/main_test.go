package programs

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// program is the path of the sallyport that is tested; TestMain builds it, and the supervisor beside it.
var program string

func TestMain(m *testing.M) {
	os.Exit(testprogram.Main(m, func(dir string) { program = filepath.Join(dir, "sallyport") },
		"cmd/sallyport", "cmd/sallyport-supervisor", "internal/programs/driver"))
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
