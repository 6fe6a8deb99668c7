//go:build unix

package wire

import (
	"fmt"
	"io/fs"
	"syscall"
)

// identity names a file among those of this machine; "" when that cannot be told.
func identity(i fs.FileInfo) string {
	if s, ok := i.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf("%x:%x", s.Dev, s.Ino)
	}
	return ""
}
