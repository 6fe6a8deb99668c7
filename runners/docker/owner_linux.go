package docker

import (
	"errors"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// machine names this machine and its namespace of processes: in a container the same numbers mean
// other processes.
func machine() string {
	id, _ := os.ReadFile("/etc/machine-id")
	name, _ := os.Hostname()
	pids, _ := os.Readlink("/proc/self/ns/pid")
	if pids == "" || len(id) == 0 && name == "" {
		return ""
	}
	return digest(string(id), name, pids)
}

// startedAt is when a process started: the boot, and ticks since then; "" for one that is not there.
func startedAt(pid int) string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name of the program stands in parentheses and may hold anything; field 22 is the 20th behind it.
	text := string(stat)
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 20 {
		return ""
	}
	return digest(string(boot)) + ":" + fields[19]
}

// gone reports whether a process has ended, even if its id is in use again.
func gone(pid int, started string) bool {
	if errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
		return true
	}
	now := startedAt(pid)
	return now != "" && started != "" && now != started
}
