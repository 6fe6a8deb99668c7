//go:build !linux

package docker

import (
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/looks"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// hostView is for Linux: elsewhere the engine has a machine of its own.
func hostView(wire.User) (_ facts.FS, free func(), _ error) { return nil, nil, looks.ErrAsk }
