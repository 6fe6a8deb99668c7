package main

import (
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestScriptsOnMounts runs the scripts that need file systems of their own: a small one and a
// read-only one.
func TestScriptsOnMounts(t *testing.T) {
	leftout.NeedRoot(t)
	t.Parallel()
	probe := t.TempDir()
	if err := unix.Mount("tmpfs", probe, "tmpfs", 0, "size=64k"); err != nil {
		leftout.Skip(t, leftout.Root, "mount a tmpfs: "+err.Error())
	}
	if err := unix.Unmount(probe, 0); err != nil {
		t.Fatal(err)
	}
	params := scripts("testdata/mounted")
	home := params.Setup
	params.Setup = func(env *testscript.Env) error {
		for name, flags := range map[string]uintptr{"small": 0, "readonly": unix.MS_RDONLY} {
			dir := filepath.Join(env.WorkDir, name)
			if err := mkdir(dir); err != nil {
				return err
			}
			if err := unix.Mount("tmpfs", dir, "tmpfs", flags, "size=3m"); err != nil {
				return err
			}
			env.Defer(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
		}
		env.Setenv("SMALL", filepath.Join(env.WorkDir, "small"))
		return home(env)
	}
	testscript.Run(t, params)
}
