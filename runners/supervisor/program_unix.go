//go:build unix

package supervisor

import (
	"os"
	"syscall"
)

// killGroup kills a program that leads its process group, and the group.
func killGroup(p *os.Process) {
	_ = syscall.Kill(-p.Pid, syscall.SIGKILL)
	_ = p.Kill()
}
