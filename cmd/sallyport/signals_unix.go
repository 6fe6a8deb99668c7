//go:build unix

package main

import (
	"os"
	"syscall"

	"github.com/sallyport-dev/sallyport/engine"
)

// addUserSignals adds SIGUSR1 and SIGUSR2: each program defines their meaning.
func addUserSignals(all map[os.Signal]request) {
	all[syscall.SIGUSR1] = request{engine.SignalUser1, false}
	all[syscall.SIGUSR2] = request{engine.SignalUser2, false}
}
