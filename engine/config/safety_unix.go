//go:build unix

package config

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

func writers(info fs.FileInfo) string {
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		return "everybody"
	case mode&0o020 != 0:
		return "its group"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && st.Uid != 0 && int(st.Uid) != os.Getuid() {
		return "its owner, user " + strconv.Itoa(int(st.Uid))
	}
	return ""
}
