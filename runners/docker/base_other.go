//go:build !linux

package docker

import (
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/looks"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// detach does nothing: debootstrap is a program of Linux.
func detach(string) {}

// noSetUID is "" here: the default filter is known on Linux only. Files that elevated commands leave in
// granted places lose the bit all the same, after each of them.
func noSetUID() (string, error) { return "", nil }

// machine is unknown: containers of processes that have died are not told from others here.
func machine() string { return "" }

func startedAt(int) string { return "" }

func gone(int, string) bool { return false }

// hostView is for Linux: elsewhere the engine has a machine of its own.
func hostView(wire.User) (_ facts.FS, free func(), _ error) { return nil, nil, looks.ErrAsk }
