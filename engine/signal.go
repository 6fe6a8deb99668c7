package engine

import (
	"fmt"
	"slices"
)

// Signal is a signal that can be sent to a command which runs, by the name that Exit.Signal has for it. There
// are these and no others; the zero value is none of them.
type Signal string

// The signals that somebody at a terminal, a service manager or a script sends to a program to have it end,
// or tell how it is getting on.
const (
	SignalInterrupt Signal = "SIGINT"
	SignalTerminate Signal = "SIGTERM"
	SignalHangup    Signal = "SIGHUP"
	SignalQuit      Signal = "SIGQUIT"
	SignalUser1     Signal = "SIGUSR1"
	SignalUser2     Signal = "SIGUSR2"
)

// Signals returns all that there are.
func Signals() []Signal {
	return []Signal{SignalInterrupt, SignalTerminate, SignalHangup, SignalQuit, SignalUser1, SignalUser2}
}

// Check returns an error for a signal that is not one of Signals.
func (s Signal) Check() error {
	if !slices.Contains(Signals(), s) {
		return fmt.Errorf("send signal %.40q to command: not one of %v", string(s), Signals())
	}
	return nil
}
