//go:build !linux

package undo

// Recorder is for Linux.
type Recorder struct{}
