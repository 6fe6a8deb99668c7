package runnertest

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// WriteProgram writes a file that is executed soon after. No process is started meanwhile: one that another
// test starts inherits our open descriptors until its exec, and a file that is open for writing cannot be
// executed (ETXTBSY).
func WriteProgram(t testing.TB, file string, content []byte, mode fs.FileMode) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	if err := os.WriteFile(file, content, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, mode); err != nil { // regardless of the umask and an earlier file
		t.Fatal(err)
	}
}
