//go:build !linux && !darwin

package main

import (
	"errors"
	"os"
)

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
