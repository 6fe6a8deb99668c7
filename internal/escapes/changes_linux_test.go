package escapes

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// state is everything that must not change, by path.
func (w *world) state(t *testing.T) map[string]string {
	t.Helper()
	state := map[string]string{"host name": hostName(t)}
	for _, root := range []string{w.outside, w.context, w.hidden, "/dev/shm/" + w.listeners.vars["ABSTRACT"]} {
		describeTree(state, root, root)
	}
	for _, name := range guarded() {
		found := map[string]string{}
		describeTree(found, filepath.Join(w.workspace, name), name)
		if len(found) == 1 && emptyThing(filepath.Join(w.workspace, name)) {
			continue
		}
		maps.Copy(state, found)
	}
	return state
}

func hostName(t *testing.T) string {
	t.Helper()
	name, err := os.Hostname()
	must(t, err)
	return name
}

func emptyThing(path string) bool {
	info, err := os.Lstat(path)
	if err != nil {
		return true
	}
	if info.IsDir() {
		entries, err := os.ReadDir(path)
		return err == nil && len(entries) == 0
	}
	return info.Mode().IsRegular() && info.Size() == 0 || info.Mode()&fs.ModeDevice != 0
}

// describeTree notes each file below root by what it is.
func describeTree(state map[string]string, root, as string) {
	_ = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what is not there is not in the state
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone meanwhile: not in the state either
		}
		sys := info.Sys().(*syscall.Stat_t)
		text := fmt.Sprintf("%v owner %d:%d links %d", info.Mode(), sys.Uid, sys.Gid, sys.Nlink)
		switch {
		case info.Mode().IsRegular():
			b, _ := os.ReadFile(path)
			text += fmt.Sprintf(" at %v: %q", info.ModTime().UnixNano(), b)
		case info.Mode()&fs.ModeSymlink != 0:
			to, _ := os.Readlink(path)
			text += " -> " + to
		}
		state[as+strings.TrimPrefix(path, root)] = text
		return nil
	})
}

// changes tells how the state differs from the first.
func (w *world) changes(t *testing.T) (out []string) {
	t.Helper()
	now := w.state(t)
	for _, path := range slices.Sorted(maps.Keys(now)) {
		if was, ok := w.before[path]; !ok {
			out = append(out, "made "+path)
		} else if was != now[path] {
			out = append(out, fmt.Sprintf("changed %s from %s to %s", path, was, now[path]))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(w.before)) {
		if _, ok := now[path]; !ok {
			out = append(out, "removed "+path)
		}
	}
	return out
}

func names(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// gifts looks in the workspace for what gives rights to its user on the host.
func (w *world) gifts() (out []string) {
	_ = filepath.WalkDir(w.workspace, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // gone meanwhile
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // gone meanwhile
		}
		if info.Mode()&(fs.ModeSetuid|fs.ModeSetgid|fs.ModeDevice) != 0 {
			out = append(out, fmt.Sprintf("left %v %s", info.Mode(), path))
		}
		if n, err := unix.Lgetxattr(path, "security.capability", nil); err == nil && n > 0 {
			out = append(out, "left capabilities on "+path)
		}
		return nil
	})
	return out
}
