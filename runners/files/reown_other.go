//go:build !linux

package files

import (
	"errors"

	"github.com/sallyport-dev/sallyport/runners/identity"
)

// Reown is for Linux.
func Reown([]string, identity.User) error {
	return errors.New("give files to another user: this is no Linux")
}
