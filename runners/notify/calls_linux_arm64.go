package notify

import (
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/seccomp"
)

// olderTold is empty: this architecture has no such calls.
func olderTold(bool) []seccomp.Rule { return nil }

func (*caller) older(*notification, int32) answer { return failed(unix.ENOSYS) }

// untagged returns the address that a pointer names: the processor ignores the highest byte.
func untagged(at uint64) uint64 { return at &^ (0xff << 56) }
