//go:build !linux

package slack

// Rerun is for Linux.
func Rerun() {}

// Widen is for Linux.
func Widen() bool { return false }

// Narrow is for Linux.
func Narrow() bool { return false }
