package starter

import (
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// inherited describes the parts of this thread's state that its children inherit and that other processes of
// its user can change: priorities, processors, resource limits, the choice of the kernel when memory runs
// out, control groups. The limit that bears the mark is the supervisor's.
func inherited() string {
	var b strings.Builder
	var cpus unix.CPUSet
	_ = unix.SchedGetaffinity(0, &cpus)
	if a, err := unix.SchedGetAttr(0, 0); err == nil {
		fmt.Fprintln(&b, a.Policy, a.Flags, a.Nice, a.Priority)
	}
	io, _, _ := unix.RawSyscall(unix.SYS_IOPRIO_GET, 1, 0, 0) // IOPRIO_WHO_PROCESS
	slack, _ := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	fmt.Fprintln(&b, cpus, io, slack)
	for limit := range unix.RLIMIT_RTTIME {
		var l unix.Rlimit
		_ = unix.Prlimit(0, limit, nil, &l)
		fmt.Fprintln(&b, l)
	}
	for _, name := range []string{"oom_score_adj", "coredump_filter", "cgroup"} {
		text, _ := os.ReadFile("/proc/thread-self/" + name)
		b.Write(text)
	}
	return b.String()
}
