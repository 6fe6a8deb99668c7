//go:build unix

package local

import "syscall"

const (
	nonBlocking = syscall.O_NONBLOCK // opening a named pipe would wait for its other end
	venvBin     = "bin"
	defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
)

// inherited are the names of the host's variables that every command gets, besides LC_*.
func inherited() []string {
	return []string{"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TERM", "TMPDIR"}
}

// sameName reports whether two names mean the same variable.
func sameName(a, b string) bool { return a == b }
