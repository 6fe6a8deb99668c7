//go:build !linux

package audit

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// self names this process by its id alone: where /proc is missing, a later process with the same
// id is taken for it, and an orphan may be reported as still running.
func self() string { return fmt.Sprintf("%d-0", os.Getpid()) }

func writerGone(writer string) bool {
	id, _, _ := strings.Cut(writer, "-")
	pid, err := strconv.Atoi(id)
	return err != nil || pid <= 0 || processGone(pid)
}

// dataSync uses F_FULLFSYNC on darwin and FlushFileBuffers on windows, by way of os.File.Sync.
func dataSync(f *os.File) error { return f.Sync() }

// takeTurn does nothing: waiting processes have no order here.
func takeTurn(*os.File) (free func(), err error) { return func() {}, nil }

func turnTaken(*os.File) bool { return false }
