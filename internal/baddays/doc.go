// Package baddays tests what happens around environments when something outside of them goes wrong: no
// engine, an engine that dies, a container that somebody stops, a full disk, a command that takes all
// that it can get.
//
// It has no code of its own, and all of it is part of the full run. The tests run the real runners against a
// real engine; one that must die is started for that. What they hold: each gives a clear error or result that
// names the mend, nothing hangs, no result is lost, and nothing survives.
package baddays
