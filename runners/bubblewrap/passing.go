//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
)

// transient are errors of a machine that is short of a resource for now. Commands of another session can
// cause them: they refuse, and never lead to a run without a sandbox. bwrap reports missing user namespaces
// as "no space left", so ENOSPC counts only where it is our own error.
var transient = []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// passes returns the message for a sandbox that failed for a transient error; nil for other errors.
func passes(err error) error {
	text := strings.ToLower(err.Error())
	short := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	for _, s := range transient {
		short = short || errors.Is(err, s) || strings.Contains(text, s.Error())
	}
	if !short {
		return nil
	}
	// The text alone: a caller that unwrapped the error could take it for "no sandbox here" and run without one.
	return errors.New("start sandbox: the machine is short of processes, memory, space or time: " +
		"end programs that use it, or raise local.pids: " + err.Error())
}
