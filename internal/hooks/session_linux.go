package hooks

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
)

// machine is the present start of this machine, with the namespace in which process ids count.
func machine() string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id") // a start time alone is nearly as good
	space, _ := os.Readlink("/proc/self/ns/pid")
	return string(bytes.TrimSpace(boot)) + " " + space
}

// ancestors are the processes above one, from the nearest on. They end where a process cannot be the parent
// of the one before.
func ancestors(pid int) iter.Seq[ancestor] {
	return func(yield func(ancestor) bool) {
		child, parent, err := process(pid)
		for err == nil && parent > 1 {
			var a ancestor
			if a, parent, err = process(parent); err != nil || a.begun > child.begun || !yield(a) {
				return
			}
			child = a
		}
	}
}

// process reads a process and the id of its parent (proc_pid_stat(5)).
func process(pid int) (a ancestor, parent int, err error) {
	dir := fmt.Sprintf("/proc/%d/", pid)
	line, err := os.ReadFile(dir + "stat")
	if err != nil {
		return a, 0, err
	}
	argv, err := os.ReadFile(dir + "cmdline")
	if err != nil {
		return a, 0, err
	}
	stat := string(line)
	from, to := strings.IndexByte(stat, '('), strings.LastIndexByte(stat, ')')
	if from < 0 || to < from {
		return a, 0, fmt.Errorf("%sstat has no name", dir)
	}
	a = ancestor{pid: pid, name: stat[from+1 : to], argv: strings.Split(string(argv), "\x00")}
	const parentAt, begunAt = 1, 19 // after the name
	rest := strings.Fields(stat[to+1:])
	if len(rest) <= begunAt {
		return a, 0, fmt.Errorf("%sstat is short", dir)
	}
	if parent, err = strconv.Atoi(rest[parentAt]); err == nil {
		a.begun, err = strconv.ParseUint(rest[begunAt], 10, 64)
	}
	return a, parent, err
}
