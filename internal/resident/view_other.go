//go:build !linux

package resident

import (
	"errors"
	"fmt"
	"os"
	"runtime"
)

// Supported reports whether processes can stay on this system.
const Supported = runtime.GOOS != "windows"

// View describes the build of this process and its user. Processes with the same view find the same files
// under the same names, and may use them alike.
func View(build string) (string, error) {
	if !Supported {
		return "", errors.ErrUnsupported
	}
	groups, err := os.Getgroups()
	return fmt.Sprint(build, "\nuser ", os.Geteuid(), " groups ", os.Getgid(), " ", groups), err
}
