//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// handOver becomes sallyport-full, and returns only where it cannot.
func handOver(name string) error {
	err := syscall.Exec(name, os.Args, environ())
	return fmt.Errorf("start %s: %w", name, err)
}

// passed are the signals that are passed on to a command.
func passed() []os.Signal {
	return []os.Signal{
		syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGUSR1, syscall.SIGUSR2,
	}
}

// attended reports whether this process has a terminal.
func attended() bool {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	_ = tty.Close()
	return true
}
