package supervisor

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Shell is the program that runs texts.
type Shell struct {
	Path  string
	POSIX bool // not bash: texts must be judged with the POSIX grammar
}

// FindShell searches for bash in the directories of path, then at /bin/bash, then for sh in the same way.
// Relative directories are skipped: with them, write access to the working directory would choose the shell.
func FindShell(path string) (Shell, error) {
	dirs := filepath.SplitList(path)
	if runtime.GOOS != "windows" {
		dirs = append(dirs, "/bin", "/usr/bin")
	}
	for _, name := range []string{"bash", "sh"} {
		for _, dir := range dirs {
			file := filepath.Join(dir, name+executableSuffix)
			if filepath.IsAbs(dir) && !elsewhere(dir) && executable(file) {
				return Shell{Path: file, POSIX: name != "bash"}, nil
			}
		}
	}
	if runtime.GOOS == "windows" {
		return Shell{}, errors.New("find shell: neither bash nor sh is on PATH: install Git for Windows or use another runner")
	}
	return Shell{}, errors.New("find shell: neither bash nor sh is on PATH or in /bin: install bash")
}

func executable(file string) bool {
	info, err := os.Stat(file)
	return err == nil && info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}

// elsewhere reports whether the shells of a directory do not run on this system: Windows keeps the launchers
// of its Linux subsystem there, which has other files.
func elsewhere(dir string) bool {
	name := filepath.Base(dir)
	return runtime.GOOS == "windows" && (strings.EqualFold(name, "System32") || strings.EqualFold(name, "WindowsApps"))
}
