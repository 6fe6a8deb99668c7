//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// group bounds the resources of everything in a sandbox together, if sallyport may make control groups: as
// root, or below one that was delegated to its user (cgroups(7)). Version 1 has a directory for each
// resource, version 2 one for all.
type group struct {
	dirs   []string
	shown  []mount // read-only, in the sandbox: programs fit themselves to it, and want of memory is counted there
	pids   bool
	memory bool
}

// hierarchy is a mounted tree of control groups, with the group of this process in it.
type hierarchy struct {
	at   string // where it is mounted
	own  string // directory of our group
	has  []string
	v2   bool
	show string // where it is mounted usually
}

const groupPrefix = "sallyport-"

// newGroup makes a control group with limits, as far as that is possible here.
func newGroup(pids, memory int64) (*group, error) {
	all, err := hierarchies()
	if err != nil {
		return &group{}, err
	}
	g := &group{}
	name := fmt.Sprintf("%s%d-%s", groupPrefix, os.Getpid(), rand.Text()[:8])
	var errs []error
	for _, h := range all {
		for _, parent := range h.parents() {
			sweepGroups(parent)
			if err = g.add(h, filepath.Join(parent, name), pids, memory); err == nil {
				break
			}
		}
		errs = append(errs, err)
	}
	if g.pids && g.memory {
		return g, nil
	}
	return g, errors.Join(errs...)
}

// parents are the groups below which ours can be made. In version 2 one with processes of its own has no
// others for resources below it, so it is looked for further up.
func (h hierarchy) parents() []string {
	if !h.v2 {
		return []string{h.own}
	}
	var out []string
	for dir := h.own; within(dir, h.at) && len(out) < 4; dir = filepath.Dir(dir) {
		b, err := os.ReadFile(filepath.Join(dir, "cgroup.subtree_control"))
		given := strings.Fields(string(b))
		// Moving a process takes write access to the group that holds both places, which is this one.
		if err == nil && unix.Access(filepath.Join(dir, "cgroup.procs"), unix.W_OK) == nil &&
			slices.Contains(given, "pids") && slices.Contains(given, "memory") {
			out = append(out, dir)
		}
	}
	return out
}

// add makes the group in one hierarchy.
func (g *group) add(h hierarchy, dir string, pids, memory int64) (err error) {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(dir)
		}
	}()
	for _, l := range []struct {
		of, file string
		most     int64
		done     *bool
	}{
		{"pids", "pids.max", pids, &g.pids},
		{"memory", map[bool]string{true: "memory.max", false: "memory.limit_in_bytes"}[h.v2], memory, &g.memory},
	} {
		if !slices.Contains(h.has, l.of) {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, l.file), strconv.AppendInt(nil, l.most, 10), 0); err != nil {
			return err
		}
		*l.done = true
	}
	g.dirs = append(g.dirs, dir)
	if slices.Contains(h.has, "memory") {
		g.shown = append(g.shown, mount{kind: readOnly, at: h.show, source: dir})
	}
	return nil
}

// join puts a process and its future children into the group.
func (g *group) join(pid int) error {
	for _, dir := range g.dirs {
		if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), strconv.AppendInt(nil, int64(pid), 10),
			0); err != nil {
			return fmt.Errorf("join control group: %w", err)
		}
	}
	return nil
}

// remove removes the group. Its processes have ended; the kernel may take a moment to notice.
func (g *group) remove() {
	for _, dir := range g.dirs {
		for range 100 {
			if err := os.Remove(dir); err == nil || errors.Is(err, os.ErrNotExist) {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
	}
}

// sweepGroups takes away the groups of sallyports that are no more. One with a process in it stays.
func sweepGroups(parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		rest, ours := strings.CutPrefix(e.Name(), groupPrefix)
		number, _, _ := strings.Cut(rest, "-")
		pid, err := strconv.Atoi(number)
		if ours && err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH) {
			_ = os.Remove(filepath.Join(parent, e.Name()))
		}
	}
}

// hierarchies finds the control groups of this process that bound processes and memory.
func hierarchies() ([]hierarchy, error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, err
	}
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	var out []hierarchy
	for line := range strings.Lines(string(groups)) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 {
			continue
		}
		h := hierarchy{v2: f[0] == "0" && f[1] == "", has: strings.Split(f[1], ",")}
		if !h.v2 && !slices.Contains(h.has, "pids") && !slices.Contains(h.has, "memory") {
			continue
		}
		if h.find(string(table), f[2]) {
			out = append(out, h)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("there are no control groups for processes and memory")
	}
	return out, nil
}

// find looks for the mount that shows a group.
func (h *hierarchy) find(table, path string) bool {
	for line := range strings.Lines(table) {
		before, after, _ := strings.Cut(line, " - ")
		f, kind := strings.Fields(before), strings.Fields(after)
		if len(f) < 5 || len(kind) < 3 {
			continue
		}
		options := strings.Split(kind[2], ",")
		matches := h.v2 && kind[0] == "cgroup2" || !h.v2 && kind[0] == "cgroup" &&
			slices.Contains(options, h.has[0])
		rel, err := filepath.Rel(unescape(f[3]), path)
		if !matches || err != nil || strings.HasPrefix(rel, "..") {
			continue
		}
		h.at = unescape(f[4])
		h.own, h.show = filepath.Join(h.at, rel), "/sys/fs/cgroup"
		if !h.v2 {
			h.show += "/memory"
			return true
		}
		b, err := os.ReadFile(filepath.Join(h.own, "cgroup.controllers"))
		h.has = strings.Fields(string(b))
		return err == nil && (slices.Contains(h.has, "pids") || slices.Contains(h.has, "memory"))
	}
	return false
}

// mostMemory is the default memory of a sandbox: three quarters of the machine's.
func mostMemory() int64 {
	var s unix.Sysinfo_t
	if unix.Sysinfo(&s) != nil {
		return 1 << 62
	}
	return int64(s.Totalram * uint64(s.Unit) / 4 * 3)
}
