package local

import "strings"

const (
	nonBlocking = 0
	venvBin     = "Scripts"
	defaultPath = `C:\Windows\system32;C:\Windows`
)

// inherited are the names of the host's variables that every command gets, besides LC_*.
// Windows programs do not start without some of them.
func inherited() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "LANG", "TZ", "TERM", "TMPDIR",
		"SYSTEMROOT", "WINDIR", "COMSPEC", "PATHEXT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "HOMEDRIVE",
		"HOMEPATH",
		"APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "PROGRAMFILES",
	}
}

// sameName reports whether two names mean the same variable.
func sameName(a, b string) bool { return strings.EqualFold(a, b) }
