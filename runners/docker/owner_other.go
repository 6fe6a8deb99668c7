//go:build !linux

package docker

// machine is unknown: containers of processes that have died are not told from others here.
func machine() string { return "" }

func startedAt(int) string { return "" }

func gone(int, string) bool { return false }
