package supervisor

import (
	"fmt"
	"os"
	"slices"
	"syscall"
)

// ownGroup makes a program the leader of a session and with it of a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// opened returns the path of a program that is open, as its process will have it: a descriptor behind the others.
// A script stays readable for its interpreter through it.
func opened(_ string, files []*os.File, program *os.File) (string, []*os.File) {
	files = append(slices.Clone(files), program)
	return fmt.Sprintf("/proc/self/fd/%d", 2+len(files)), files
}
