//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize has a channel told when the size of our terminal changes.
func notifyResize(ch chan<- os.Signal) error {
	signal.Notify(ch, syscall.SIGWINCH)
	return nil
}

// openTerminal opens the controlling terminal of this process; there is none in a service or pipe.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
