package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// install copies this program to a path, for the init container of a pod: its image needs neither a shell nor
// cp. The copy appears whole or not at all.
func install(to string) (err error) {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("install: find this program: %w", err)
	}
	from, err := os.Open(self)
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer func() { _ = from.Close() }() // it was only read
	part, err := os.CreateTemp(filepath.Dir(to), ".sallyport-supervisor-*")
	if err != nil {
		return fmt.Errorf("install: %w", err)
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("install: %w", errors.Join(err, os.Remove(part.Name())))
		}
	}()
	if _, err := io.Copy(part, from); err != nil {
		return errors.Join(err, part.Close())
	}
	if err := errors.Join(part.Chmod(0o755), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), to)
}
