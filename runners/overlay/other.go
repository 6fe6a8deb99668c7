//go:build !linux

package overlay

import (
	"io/fs"
	"time"
)

// Main is of Linux.
func Main(string) error { return ErrUnavailable }

func changedAt(fs.FileInfo) (time.Time, error) { return time.Time{}, ErrUnavailable }

func removed(fs.FileInfo) bool { return false }

func opaque(string) (bool, error) { return false, ErrUnavailable }

func hasOrigin(string) bool { return false }
