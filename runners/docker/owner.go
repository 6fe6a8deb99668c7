package docker

import (
	"os"
	"strconv"
)

// owner says which process of which machine made a container.
type owner struct {
	machine string
	pid     int
	started string // tells it from another process that got its id later
}

// self is the owner that this process is.
func self() owner {
	return owner{machine: machine(), pid: os.Getpid(), started: startedAt(os.Getpid())}
}

func (o owner) labels() map[string]string {
	return map[string]string{labelMachine: o.machine, labelPID: strconv.Itoa(o.pid), labelStarted: o.started}
}

func ownerOf(labels map[string]string) owner {
	pid, _ := strconv.Atoi(labels[labelPID]) // 0, which nobody is
	return owner{labels[labelMachine], pid, labels[labelStarted]}
}

// dead reports whether the owner certainly lives no more. Of another machine that cannot be told.
func (o owner) dead() bool {
	return o.machine != "" && o.machine == machine() && (o.pid <= 0 || gone(o.pid, o.started))
}
