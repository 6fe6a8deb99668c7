package runnertest

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a file that is executed soon after. No process is started meanwhile: one that another test starts has
// until its exec what is open here, and what anybody has open for writing cannot be executed (ETXTBSY).
func WriteProgram(t testing.TB, file string, content []byte, mode fs.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, content, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil { // whatever the umask says, and the file before
		t.Fatal(err)
	}
}
