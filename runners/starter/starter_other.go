//go:build !linux || !(amd64 || arm64)

package starter

import (
	"errors"
	"os"
	"time"
)

var errSystem = errors.New("start command: programs are seen on Linux only")

// Main is for Linux.
func Main([]string) error { return errSystem }

// Handover is for Linux.
type Handover struct{}

// NewHandover is for Linux.
func NewHandover() (*Handover, error) { return nil, errSystem }

// Descriptor is for Linux.
func (*Handover) Descriptor() *os.File { return nil }

// Listener is for Linux.
func (*Handover) Listener(time.Duration) (int, error) { return -1, errSystem }

// Begin is for Linux.
func (*Handover) Begin() error { return errSystem }

// Close is for Linux.
func (*Handover) Close() {}
