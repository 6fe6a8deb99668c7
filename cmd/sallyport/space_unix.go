//go:build linux || darwin

package main

import "golang.org/x/sys/unix"

// freeSpace returns the bytes that a user without privileges may still write at a place.
func freeSpace(place string) (int64, bool) {
	var s unix.Statfs_t
	if unix.Statfs(place, &s) != nil {
		return 0, false
	}
	return int64(s.Bavail) * int64(s.Bsize), true
}

// writable asks the system, and so knows read-only file systems too.
func writable(dir string) error { return unix.Access(dir, unix.W_OK|unix.X_OK) }
