package resident

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Start starts a program that stays: without a terminal, in the root directory, with the variables of the
// environment that it needs. It does not wait for it.
func Start(argv, environ []string) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("start the resident process: %w", err)
	}
	defer func() { _ = null.Close() }()
	p, err := os.StartProcess(argv[0], argv, &os.ProcAttr{
		Dir: "/", Env: environ, Files: []*os.File{null, null, null}, Sys: apart(),
	})
	if err != nil {
		return fmt.Errorf("start the resident process: %w", err)
	}
	return p.Release()
}

// Served reports whether a process answers for a view in dir, or is about to.
func Served(dir, view string) bool {
	unlock, err := lock(filepath.Join(dir, nameOf(view, ".lock")))
	if err != nil {
		return errors.Is(err, ErrServed)
	}
	unlock()
	return false
}
