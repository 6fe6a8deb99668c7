//go:build !linux

package supervisor

import (
	"context"
	"errors"
)

// BeInit is the first process of a Linux container.
func BeInit(context.Context) error {
	return errors.New("become init: this is no Linux: only a container of Linux has a first process of its own")
}
