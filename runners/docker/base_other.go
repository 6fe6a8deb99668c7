//go:build !linux

package docker

// detach does nothing: debootstrap is a program of Linux.
func detach(string) {}
