//go:build unix

package main

import "os"

// openTerminal opens the controlling terminal of this process; there is none in a service or pipe.
func openTerminal() (*os.File, error) { return os.OpenFile("/dev/tty", os.O_RDWR, 0) }
