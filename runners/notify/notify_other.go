//go:build !linux || !(amd64 || arm64)

package notify

// Folds is for Linux.
func (Name) Folds() bool { return false }

// Service is for Linux.
type Service struct{}

// New is for Linux.
func New(Options) (*Service, error) { return nil, ErrUnsupported }

// Install is for Linux.
func (*Service) Install() error { return ErrUnsupported }

// Made is for Linux.
func (*Service) Made(string) bool { return false }

// Forget is for Linux.
func (*Service) Forget() {}

// Settle is for Linux.
func (*Service) Settle(string) {}

// Close is for Linux.
func (*Service) Close() {}

// Serve is for Linux.
func (*Service) Serve(int, string, Program) error { return ErrUnsupported }
