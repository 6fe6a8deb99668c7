package main

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"
)

// TestApart holds that a fix is whole, and that the text of a system error is not taken for one.
func TestApart(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		err          error
		problem, fix string
	}{
		{errors.New("no sandbox: bwrap is not in PATH: install it (Debian, Ubuntu, Fedora: package bubblewrap)"),
			"no sandbox: bwrap is not in PATH", "install it (Debian, Ubuntu, Fedora: package bubblewrap)"},
		{errors.New("mode is 0777: chmod 700 it"), "mode is 0777", "chmod 700 it"},
		{errors.New("nothing to do"), "nothing to do", ""},
		{errors.New(") odd: text"), ") odd", "text"},
		{fmt.Errorf("read log: %w", &fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}), "read log: open /x: permission denied", ""},
	} {
		if problem, fix := apart(test.err); problem != test.problem || fix != test.fix {
			t.Errorf("%v: %q, %q", test.err, problem, fix)
		}
	}
}
