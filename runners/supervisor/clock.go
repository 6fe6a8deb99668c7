package supervisor

import "time"

// clock calls a function once a time has passed, unless it is stopped before. Limits, grace periods and the
// It keeps the bounds of all waits; tests set their own.
type clock func(d time.Duration, f func()) (stop func() bool)

func realClock(d time.Duration, f func()) (stop func() bool) { return time.AfterFunc(d, f).Stop }

// within returns a channel that is closed when a time has passed.
func (c clock) within(d time.Duration) (over <-chan struct{}, stop func() bool) {
	done := make(chan struct{})
	return done, c(d, func() { close(done) })
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
