//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

// notifyResize relays SIGWINCH, a change of the terminal's size, to ch.
func notifyResize(ch chan<- os.Signal) error {
	signal.Notify(ch, syscall.SIGWINCH)
	return nil
}

// openTerminal opens the controlling terminal of this process; there is none in a service or pipe.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
