//go:build !linux

package seccomp

const (
	auditArch = 0
	lowHalf   = 0
)

// Install is for Linux.
func Install([]Rule) error { return ErrUnsupported }

// Listen is for Linux.
func Listen(_, _ []Rule) (int, error) { return -1, ErrUnsupported }

// NoOddSockets is for Linux.
func NoOddSockets() []Rule { return nil }

// NoUnixSockets is for Linux.
func NoUnixSockets() []Rule { return nil }

// NoSetID is for Linux.
func NoSetID() []Rule { return nil }
