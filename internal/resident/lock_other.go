//go:build !unix

package resident

import (
	"errors"
	"syscall"
)

func lock(string) (unlock func(), err error) { return nil, errors.ErrUnsupported }

func apart() *syscall.SysProcAttr { return nil }
