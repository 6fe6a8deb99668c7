//go:build !unix

package main

import (
	"errors"
	"os"
)

// notifyResize tells that terminals cannot be lent.
func notifyResize(chan<- os.Signal) error {
	return errors.New("--tty: terminals are not built for this system: leave it out")
}

// openTerminal finds none: asking at a console is not built for this system.
func openTerminal() (*os.File, error) {
	return nil, errors.New("asking at a terminal is not built for this system")
}
