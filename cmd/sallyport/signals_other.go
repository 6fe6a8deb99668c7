//go:build !unix

package main

import "os"

// addUserSignals adds nothing: there are none here.
func addUserSignals(map[os.Signal]request) {}
