// Package slack widens the slack of the timers of the programs that stand beside commands: they may be late.
// Go's runtime looks after its threads by sleeps of some microseconds, each of which would take the processor
// from a command; no timer of these programs counts single milliseconds. The gate keeps the kernel's slack:
// it answers later with another one.
//
// A program inherits the slack of the thread that starts it, and so do its threads. A thread that starts
// commands narrows its slack first: their timers are on time. Nothing changes but on Linux.
package slack

// Slacks in nanoseconds (PR_SET_TIMERSLACK, prctl(2)). The kernel's own is the only one that is widened, and
// the wide one is odd enough that nobody else sets it.
const (
	usual = 50_000
	wide  = 1_000_003
)
