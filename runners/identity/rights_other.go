//go:build !linux

package identity

import "errors"

// Rights runs functions as they are: there is no other user's rights to give to a thread.
type Rights struct{}

// NewRights is for Linux.
func NewRights(User) (*Rights, error) {
	return nil, errors.New("use files as another user: this is no Linux")
}

// WithoutCapabilities are nil: there are none.
func WithoutCapabilities() (*Rights, error) { return nil, nil }

// Do runs f.
func (*Rights) Do(f func()) { f() }

// Close does nothing.
func (*Rights) Close() {}
