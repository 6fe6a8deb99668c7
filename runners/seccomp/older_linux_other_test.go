//go:build linux && !amd64

package seccomp_test

import "syscall"

func older(func(...uintptr) syscall.Errno, func(string) uintptr, func(string) uintptr) []attempt {
	return nil
}
