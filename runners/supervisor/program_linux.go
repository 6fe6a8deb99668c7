package supervisor

import "syscall"

// ownGroup makes a program the leader of a session and with it of a process group.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }
