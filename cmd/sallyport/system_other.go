//go:build !linux && !darwin

package main

import (
	"errors"
	"os"
)

// addUserSignals adds nothing: there are none here.
func addUserSignals(map[os.Signal]request) {}

// notifyResize tells that terminals cannot be lent.
func notifyResize(chan<- os.Signal) error {
	return errors.New("--tty: terminals are not built for this system: leave it out")
}

// openTerminal finds none: asking at a console is not built for this system.
func openTerminal() (*os.File, error) {
	return nil, errors.New("asking at a terminal is not built for this system")
}

// dropTyped has no terminal here.
func dropTyped(*os.File) {}

// givenByRoot knows no root here.
func givenByRoot(os.FileInfo) bool { return false }

// freeSpace is not known on this system.
func freeSpace(string) (int64, bool) { return 0, false }

// writable knows only whether there is a directory; opening the log tells the rest.
func writable(dir string) error {
	info, err := os.Stat(dir)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	return err
}
