package baddays

import (
	"testing"

	"golang.org/x/sys/unix"
)

// remount makes a bind mount read-only.
func remount(t *testing.T, at string) {
	t.Helper()
	must(t, unix.Mount("", at, "", unix.MS_BIND|unix.MS_REMOUNT|unix.MS_RDONLY, ""))
}
