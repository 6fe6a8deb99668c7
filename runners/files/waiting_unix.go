//go:build unix && !linux

package files

import "golang.org/x/sys/unix"

// noWaiting keeps an open from waiting for the other end of a pipe, and a terminal from becoming ours.
const noWaiting = unix.O_NONBLOCK | unix.O_NOCTTY
