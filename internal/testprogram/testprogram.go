// Package testprogram builds programs of this module for the tests that start them.
//
// go test reuses the result of a test that read the same files and variables as before. It knows nothing of a
// program that a test builds, so Build reads the sources of that program: a change there repeats the tests.
// The package is for tests only. It builds without cgo, so that a program runs in a root without libc, and
// without the race detector.
package testprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const module = "github.com/sallyport-dev/sallyport/"

// sources lists the files of this module that become part of a program, one in a line.
const sources = `{{with .Module}}{{if .Main}}{{.GoMod}}
{{range $.GoFiles}}{{$.Dir}}/{{.}}
{{end}}{{range $.EmbedFiles}}{{$.Dir}}/{{.}}
{{end}}{{end}}{{end}}`

// Main runs the tests of m with programs that they share. It builds them into a directory that every user may
// read, calls begin with that directory, and removes it in the end. The status is that of m.Run, or 1.
func Main(m *testing.M, begin func(dir string), programs ...string) (status int) {
	dir, err := os.MkdirTemp("", "sallyport-test-")
	if err == nil {
		defer func() { _ = os.RemoveAll(dir) }()
		err = os.Chmod(dir, 0o755) //nolint:gosec // commands of other users start the programs
	}
	if err == nil {
		err = Build(dir, programs...)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	begin(dir)
	return m.Run()
}

// Build builds programs into dir. A program is a package of this module ("cmd/sallyport"), or a file name and
// a package ("sallyport-full=cmd/sallyport").
func Build(dir string, programs ...string) error {
	for _, program := range programs {
		name, pkg, named := strings.Cut(program, "=")
		if !named {
			name, pkg = filepath.Base(program), program
		}
		if out, err := goTool("build", "-trimpath", "-ldflags", "-s -w", "-o", filepath.Join(dir, name),
			module+pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("build %s for tests: %w\n%s", pkg, err, out)
		}
		list, err := goTool("list", "-deps", "-f", sources, module+pkg).Output()
		if err != nil {
			return fmt.Errorf("list the sources of %s: %w", pkg, err)
		}
		for file := range strings.FieldsFuncSeq(string(list), func(r rune) bool { return r == '\n' }) {
			if _, err := os.Stat(file); err != nil {
				return fmt.Errorf("look at the sources of %s: %w", pkg, err)
			}
		}
	}
	return nil
}

func goTool(args ...string) *exec.Cmd {
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	return cmd
}
