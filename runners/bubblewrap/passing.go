//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
)

// scarce are errors of a machine that could make a sandbox and is short of something right now. Commands of another
// session can bring that about: it makes us refuse, and never do without. For want of user namespaces bwrap says that
// no space is left, so that one counts only where it is our own.
var scarce = []error{syscall.EAGAIN, syscall.ENOMEM, syscall.EMFILE, syscall.ENFILE}

// passes returns what to say where a sandbox failed for something that passes; nil where it did not.
func passes(err error) error {
	text := strings.ToLower(err.Error())
	short := errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
	for _, s := range scarce {
		short = short || errors.Is(err, s) || strings.Contains(text, s.Error())
	}
	if !short {
		return nil
	}
	// Its text only: whoever finds in it that there can be no sandbox would do without.
	return errors.New("start sandbox: the machine is short of processes, memory, space or time: end what takes it up, or raise local.pids: " + err.Error())
}
