package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Readiness is what can be said about a log before it is opened.
type Readiness struct {
	New   bool  // there is nothing of a log yet: the first record makes it
	Needs int64 // bytes that must be free for the next command: the reserve, where it is not yet set aside, and some records
}

// someRecords is space for the records of one ordinary command, in bytes.
const someRecords = 64 << 10

// Ready looks at the place of a log as Open does, and creates nothing. The error is what would
// keep Open from it; that the log was tampered with is for Verify to find.
func Ready(dir string) (Readiness, error) {
	r := Readiness{New: true, Needs: defaultReserve + someRecords}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return r, fmt.Errorf("look at audit log: %w", err)
	}
	sign, _, _ := keyPaths(dir)
	for _, d := range []string{dir, filepath.Dir(sign)} {
		if err := checkDir(osFS{}, d); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return r, err
		}
	}
	if _, err := readSecret(osFS{}, sign); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("read signing key: %w", err)
	}
	names, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return r, fmt.Errorf("look at audit log: %w", err)
	}
	r.New = len(names) == 0
	if fi, err := os.Lstat(filepath.Join(dir, reserveName)); err == nil {
		r.Needs -= min(fi.Size(), defaultReserve)
	}
	return r, nil
}
