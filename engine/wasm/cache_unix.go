//go:build unix

package wasm

import (
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// others names the other users that could change a file; "" for none.
func others(info fs.FileInfo) string {
	switch mode := info.Mode().Perm(); {
	case mode&0o002 != 0:
		return "everybody"
	case mode&0o020 != 0:
		return "its group"
	}
	if st, ok := info.Sys().(*syscall.Stat_t); ok && int(st.Uid) != os.Geteuid() {
		return "its owner, user " + strconv.Itoa(int(st.Uid))
	}
	return ""
}
