package changes

import (
	"io/fs"
	"syscall"
	"time"
)

// Time is when a file was last changed, its metadata included (ctime). No program can set it back.
func Time(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctimespec.Unix())
	}
	return info.ModTime()
}
