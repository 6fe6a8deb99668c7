package audit

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// self names this process: its id and the time it started, in clock ticks after boot (field 22 of
// proc(5) stat), so that a later process with the same id is not taken for it.
func self() string { return fmt.Sprintf("%d-%s", os.Getpid(), startTicks(os.Getpid())) }

func startTicks(pid int) string {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "0"
	}
	// The name in parentheses may hold anything; the fields after it are plain.
	fields := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(fields) < 20 {
		return "0"
	}
	return string(fields[19])
}

// writerGone says that the process that wrote a record has surely ended. Processes of another
// machine or process-id namespace cannot be told from those that ended.
func writerGone(writer string) bool {
	id, ticks, _ := strings.Cut(writer, "-")
	pid, err := strconv.Atoi(id)
	if err != nil || pid <= 0 {
		return true
	}
	if processGone(pid) {
		return true
	}
	now := startTicks(pid)
	return now != "0" && ticks != "0" && now != ticks
}
