// Package await waits in tests for events, so that no test depends on the speed of the machine.
//
// Every wait has the same bound, Guard. It exists only so that a test that waits for an event that never
// comes ends with a message; no test may rely on its length, and none may measure a duration. The package
// is not for production code, and it cannot show that something does not happen: for that, make a later
// event happen and check the order.
package await

import (
	"context"
	"testing"
	"time"
)

// Guard bounds every wait. A test reaches it only when it fails.
const Guard = 5 * time.Minute

// interval separates two looks at a condition.
const interval = 5 * time.Millisecond

// True waits until holds returns true and fails the test when the guard ends first. The argument what
// completes the sentence "no sign that …".
func True(t testing.TB, what string, holds func() bool) {
	t.Helper()
	if !Holds(holds) {
		t.Fatalf("no sign that %s after %v", what, Guard)
	}
}

// Holds waits until holds returns true; it returns false when the guard ends first.
func Holds(holds func() bool) bool {
	guard := time.NewTimer(Guard)
	defer guard.Stop()
	look := time.NewTicker(interval)
	defer look.Stop()
	for !holds() {
		select {
		case <-guard.C:
			return holds()
		case <-look.C:
		}
	}
	return true
}

// Receive returns the next value of c, or the zero value of a closed channel. It fails the test when the
// guard ends first; what names the value.
func Receive[T any](t testing.TB, what string, c <-chan T) T {
	t.Helper()
	guard := time.NewTimer(Guard)
	defer guard.Stop()
	select {
	case v := <-c:
		return v
	case <-guard.C:
		t.Fatalf("no %s after %v", what, Guard)
		panic("unreachable")
	}
}

// Context returns a context that ends with the test, or with the guard.
func Context(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), Guard)
	t.Cleanup(cancel)
	return ctx
}
