//go:build !linux

package undo

import (
	"errors"
	"time"
)

var errSystem = errors.New("changes are recorded on Linux only")

// Store is for Linux.
type Store struct{}

// Begin is for Linux.
func Begin(Options, Session) (*Store, error) { return nil, errSystem }

// Kept is for Linux.
func (*Store) Kept() string { return "" }

// Most is for Linux.
func (*Store) Most() int64 { return 0 }

// Ended is for Linux.
func (*Store) Ended(string) error { return nil }

// Close is for Linux.
func (*Store) Close() {}

// List is for Linux.
func List(string) ([]Session, error) { return nil, nil }

// Prune is for Linux.
func Prune(string, int64, time.Time) int64 { return 0 }

// Decisions is for Linux.
func Decisions(string, Session) ([]string, error) { return nil, errSystem }

// Undo is for Linux.
func Undo(string, Session, []string, bool) ([]Result, error) { return nil, errSystem }

// Paths is for Linux.
func Paths(string, Session, string) (map[string]bool, error) { return nil, errSystem }
