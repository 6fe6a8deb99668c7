package docker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/runners/wire"
)

// seen caches the last check of the mounts.
type seen struct {
	mu    sync.Mutex
	last  time.Time
	stale error
}

// lookEvery bounds how often the mounts are looked at.
const lookEvery = 50 * time.Millisecond

// Err says why the environment cannot be used any more. Besides a broken connection, that is a detached
// mount: if a file is replaced outside (as git replaces its configuration), its mount does not cover the new
// file, and commands could write to it. The container is then restarted, as soon as no commands run in it.
func (v *environment) Err() error {
	v.seen.mu.Lock()
	defer v.seen.mu.Unlock()
	if v.seen.stale != nil {
		return v.seen.stale
	}
	if err := v.Environment.Err(); err != nil {
		return err
	}
	if time.Since(v.seen.last) < lookEvery || v.Live() > 0 {
		return nil
	}
	v.seen.last = time.Now()
	if err := v.mounted(); err != nil {
		v.seen.stale = err
		_ = v.Environment.Close()
	}
	return v.seen.stale
}

// verify makes sure that the container shows the granted places: each mount is there and no more writable
// than planned, and its source is the one that was judged, which could have been replaced since.
func (v *environment) verify() error {
	if err := v.mounted(); err != nil {
		return err
	}
	same := func(there, here string) (bool, error) {
		a, err := v.FS().Lstat(there)
		if err != nil {
			return false, err
		}
		b, err := os.Lstat(here)
		return err == nil && wire.SameFile(a, b), err
	}
	// Where not even the workspace is the same the engine has a machine, and numbers of files, of its own.
	if v.p.workspace.Target == "" {
		return nil
	}
	if near, err := same(v.p.workspace.Target, v.p.workspace.Source); err != nil || !near {
		return err
	}
	for _, b := range v.p.binds {
		ok, err := same(b.Target, b.Source)
		if errors.Is(err, fs.ErrPermission) {
			continue // the user of commands does not get there either
		}
		if err != nil || !ok {
			return fmt.Errorf("container %s: at %s it does not show what was granted: it was replaced meanwhile: %w", v.p.name, b.Target, errors.Join(err, errMoved))
		}
	}
	return nil
}

// errMoved is wrapped by the error of a mount behind which lies something else by now.
var errMoved = errors.New("look who changes the granted places")

// mounted looks whether all mounts are there, by the container's own table.
func (v *environment) mounted() error {
	text, whole, err := v.FS().ReadFile("/proc/self/mountinfo", 1<<20)
	if err != nil || !whole {
		return fmt.Errorf("container %s: read its mounts: %w", v.p.name, errors.Join(err, v.Environment.Err()))
	}
	at := map[string]bool{} // whether the mount on top can be written to
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		at[unescaped(fields[4])] = strings.HasPrefix(fields[5], "rw")
	}
	for _, b := range v.p.binds {
		write, there := at[b.Target]
		switch {
		case !there:
			return fmt.Errorf("container %s: nothing is mounted at %s any more: the file was replaced outside", v.p.name, b.Target)
		case write && !b.Write:
			return fmt.Errorf("container %s: %s can be written to, and was granted read-only", v.p.name, b.Target)
		}
	}
	return nil
}

// unescaped reads a path of that table, in which blanks and backslashes are octal.
func unescaped(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
