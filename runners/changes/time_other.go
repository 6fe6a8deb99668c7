//go:build !linux && !darwin

package changes

import (
	"io/fs"
	"time"
)

// Time is when the content of a file was last changed, as far as this system tells: programs can set it back.
func Time(info fs.FileInfo) time.Time { return info.ModTime() }
