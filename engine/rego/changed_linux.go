package rego

import (
	"io/fs"
	"syscall"
)

// Changed is the time of the last change of a file, in nanoseconds: a program that restores the time of
// modification cannot restore it (inode(7), ctime). 0 is unknown.
func Changed(info fs.FileInfo) int64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return syscall.TimespecToNsec(s.Ctim)
	}
	return 0
}
