package audit

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

const reserveName = "reserve"

// keepReserve makes sure that the space for outcomes is set aside before anything new may run. On
// file systems that compress or share blocks the zeros may take less than they seem to.
func (l *Log) keepReserve() error {
	if l.o.Reserve < 0 {
		return nil
	}
	name := l.path(reserveName)
	fi, err := l.o.fs.Lstat(name)
	if err == nil && fi.Size >= l.o.Reserve {
		return nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep audit reserve: %w", err)
	}
	if err := l.makeReserve(name); err != nil {
		if isFull(err) {
			err = fmt.Errorf("%w: %w", ErrFull, err)
		}
		return fmt.Errorf("keep audit reserve of %d bytes: %w", l.o.Reserve, err)
	}
	return nil
}

func (l *Log) makeReserve(name string) error {
	f, err := openChecked(l.o.fs, name, os.O_RDWR|os.O_CREATE)
	if err != nil {
		return err
	}
	_, err = f.WriteAt(make([]byte, l.o.Reserve), 0)
	if err == nil {
		err = f.Sync() // until then a file system may only have promised the space
	}
	if err != nil {
		// A part of the reserve is worth less than the space it takes from an outcome.
		return errors.Join(err, f.Truncate(0), f.Close())
	}
	return f.Close()
}

// freeReserve gives the space back, for records of what has already happened.
func (l *Log) freeReserve() error {
	f, err := openChecked(l.o.fs, l.path(reserveName), os.O_RDWR)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = errors.Join(f.Truncate(0), f.Close())
	}
	if err != nil {
		return fmt.Errorf("free audit reserve: %w", err)
	}
	return nil
}
