//go:build !linux

package starter

import "errors"

// BeParent is for Linux.
func BeParent() error {
	return errors.New("start command: processes stand between on Linux only")
}
