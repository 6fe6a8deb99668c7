//go:build unix && !linux && !darwin

package files

import "errors"

func renameExclusive(int, string, string) error { return errors.ErrUnsupported }
