//go:build unix

package fleet

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// checkDir refuses a directory in which others could put bundles.
func checkDir(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case dir == "" || errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("look at kept bundles: %w", err)
	case info.Mode().Perm()&0o022 != 0:
		return fmt.Errorf("%s may be written by others: they could change the rules: chmod 700 it", dir)
	}
	return nil
}
