//go:build unix

package mcpserver

import (
	"context"
	"io"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// goneEvery is how often a stream is looked at.
const goneEvery = 20 * time.Millisecond

// readerGone returns a channel that is closed when out has no reader any more: the client is dead, and its
// calls run for nobody. It reports nothing about an out that is neither pipe nor socket.
func readerGone(ctx context.Context, out io.Writer) <-chan struct{} {
	gone := make(chan struct{})
	f, ok := out.(*os.File)
	if !ok {
		return gone
	}
	go func() {
		tick := time.NewTicker(goneEvery)
		defer tick.Stop()
		for {
			fds := []unix.PollFd{{Fd: int32(f.Fd())}} //nolint:gosec // a descriptor fits
			if n, err := unix.Poll(fds, 0); err == nil && n > 0 &&
				fds[0].Revents&(unix.POLLERR|unix.POLLHUP|unix.POLLNVAL) != 0 {
				close(gone)
				return
			}
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return gone
}
