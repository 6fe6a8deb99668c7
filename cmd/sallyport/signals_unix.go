//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine"
)

// addUserSignals adds the signals whose meaning each program defines.
func addUserSignals(all map[os.Signal]request) {
	all[syscall.SIGUSR1] = request{engine.SignalUser1, false}
	all[syscall.SIGUSR2] = request{engine.SignalUser2, false}
}
