package notify

import (
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/seccomp"
)

// olderTold are the calls of told that only this architecture has.
func olderTold(record bool) []seccomp.Rule {
	rules := []seccomp.Rule{
		{Call: unix.SYS_OPEN, When: opens(1, record)},
		{Call: unix.SYS_CREAT}, {Call: unix.SYS_MKDIR}, {Call: unix.SYS_MKNOD}, {Call: unix.SYS_SYMLINK},
		{Call: unix.SYS_LINK}, {Call: unix.SYS_RENAME},
	}
	if record {
		rules = append(rules, seccomp.Rule{Call: unix.SYS_UNLINK}, seccomp.Rule{Call: unix.SYS_RMDIR},
			seccomp.Rule{Call: unix.SYS_CHMOD})
	}
	return rules
}

// older performs them.
func (c *caller) older(n *notification, here int32) answer {
	a := n.args
	switch uintptr(n.call) {
	case unix.SYS_OPEN:
		return c.open(here, a[0], int(int32(a[1])), uint32(a[2]))
	case unix.SYS_CREAT:
		return c.open(here, a[0], unix.O_CREAT|unix.O_WRONLY|unix.O_TRUNC, uint32(a[1]))
	case unix.SYS_MKDIR:
		return c.mkdir(here, a[0], uint32(a[1]))
	case unix.SYS_MKNOD:
		return c.mknod(here, a[0], uint32(a[1]), uint32(a[2]))
	case unix.SYS_SYMLINK:
		return c.symlink(a[0], here, a[1])
	case unix.SYS_LINK:
		return c.link(here, a[0], here, a[1], 0)
	case unix.SYS_RENAME:
		return c.rename(here, a[0], here, a[1], 0)
	case unix.SYS_UNLINK:
		return c.unlink(here, a[0], 0)
	case unix.SYS_RMDIR:
		return c.unlink(here, a[0], unix.AT_REMOVEDIR)
	case unix.SYS_CHMOD:
		return c.chmod(here, a[0], uint32(a[1]))
	}
	return failed(unix.ENOSYS)
}

// untagged returns the address that a pointer names.
func untagged(at uint64) uint64 { return at }
