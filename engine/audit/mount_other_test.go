//go:build !linux

package audit

import "testing"

// smallDisk has no way to make a small file system here.
func smallDisk(*testing.T, int) (dir string, ok bool) { return "", false }
