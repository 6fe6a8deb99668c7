package boundary

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/sallyport-dev/sallyport/runners/changes"
)

// running notes in the store that commands run, so that a later session looks at the files of one that was
// killed before it could. The file is locked by its session, and gone while no command runs.
type running struct {
	file *os.File // nil: nothing is noted
}

// note is the content of the file.
type note struct {
	Roots []string  `json:"roots"`
	Since time.Time `json:"since"`
}

const runningFiles = ".running-*"

// begin notes that a command is about to run. Where the store cannot be written to, nothing is noted.
func (r *running) begin(store string, n note) {
	text, err := json.Marshal(n)
	if err != nil || r.file != nil || store == "" || os.MkdirAll(store, 0o700) != nil {
		return
	}
	if r.file, err = os.CreateTemp(store, runningFiles); err != nil {
		r.file = nil
		return
	}
	if unix.Flock(int(r.file.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		_, _ = r.file.Write(text)
	}
}

// end notes that no command runs, and that the files of those that ran are dealt with.
func (r *running) end() {
	if r.file != nil {
		_ = os.Remove(r.file.Name())
		_ = r.file.Close()
		r.file = nil
	}
}

// begun reports whether begin noted something that end has not taken back.
func (r *running) begun() bool { return r.file != nil }

// killed returns the start of the first command of a session that was killed in these roots, zero for none,
// and the files that say so.
func killed(store string, roots []string) (since time.Time, dead []string) {
	names, err := filepath.Glob(filepath.Join(store, runningFiles))
	if err != nil || store == "" {
		return time.Time{}, nil
	}
	for _, name := range names {
		here := func(r string) bool { return overlaps(r, roots) }
		if n, ok := ofTheDead(name); ok && slices.ContainsFunc(n.Roots, here) {
			dead = append(dead, name)
			if since.IsZero() || n.Since.Before(since) {
				since = n.Since
			}
		}
	}
	return since, dead
}

// ofTheDead reads the note of a session that was killed while commands ran.
func ofTheDead(name string) (n note, ok bool) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return note{}, false
	}
	defer f.Close()
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil {
		return note{}, false // it lives
	}
	text, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return n, err == nil && json.Unmarshal(text, &n) == nil
}

func overlaps(r string, roots []string) bool {
	return slices.ContainsFunc(roots, func(o string) bool {
		return changes.Within(r, o) || changes.Within(o, r)
	})
}
