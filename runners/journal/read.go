package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// State is the state of an environment, as far as its log shows.
type State string

const (
	Running State = "running" // a gateway has it open
	Dead    State = "dead"    // its gateway ended without closing it
	Gone    State = "gone"    // it was closed, or broke, or never came to be
)

// Environment is a log's description of an environment.
type Environment struct {
	Identity
	Name    string
	Log     string // the file
	State   State
	Since   time.Time      // its first line that is still there
	Last    time.Time      // its last line
	Details map[string]any // its specification when it was opened last
	Gateway int            // that opened it last
}

// List reads the logs below a directory, the last written first. Unreadable logs are an error beside the
// others.
func List(dir string) ([]Environment, error) {
	entries, err := os.ReadDir(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist) || dir == "":
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("list environments: %w", err)
	}
	var out []Environment
	var errs []error
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		env, err := read(filepath.Join(dir, e.Name()))
		switch {
		case errors.Is(err, fs.ErrNotExist): // pruned meanwhile
		case err != nil:
			errs = append(errs, fmt.Errorf("read the log of environment %s: %w", e.Name(), err))
		default:
			out = append(out, env)
		}
	}
	slices.SortFunc(
		out, func(a, b Environment) int { return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Name, b.Name)) })
	return out, errors.Join(errs...)
}

// read reads a log's description of its environment.
func read(dir string) (Environment, error) {
	env := Environment{Name: filepath.Base(dir), Log: filepath.Join(dir, logName), State: Dead}
	known := false
	for _, name := range []string{oldName, logName} {
		err := scan(filepath.Join(dir, name), func(line []byte) error {
			if !tellsOfLife(line) {
				return nil
			}
			var e Event
			if json.Unmarshal(line, &e) != nil {
				return nil // torn
			}
			known = env.take(e) || known
			return nil
		})
		if err != nil && !(name == oldName && errors.Is(err, fs.ErrNotExist)) {
			return env, err
		}
	}
	if !known {
		return env, fmt.Errorf("%s does not say whose it is: remove %s", env.Log, dir)
	}
	if info, err := os.Stat(env.Log); err == nil {
		env.Last = info.ModTime()
	}
	held, err := isHeld(dir)
	if held {
		env.State = Running
	}
	return env, err
}

// take learns from an event and reports whether it named the environment.
func (env *Environment) take(e Event) (known bool) {
	if env.Since.IsZero() {
		env.Since = e.Time
	}
	switch e.Event {
	case KindEnvironment:
		if e.Identity != nil {
			env.Identity, known = *e.Identity, true
		}
	case KindOpening:
		env.State, env.Gateway = Dead, e.Gateway // unless an end follows, or it is held
	case KindOpened:
		env.Details = e.Details
	case KindFailed, KindBroke, KindClosed:
		env.State = Gone
	}
	return known
}

// tellsOfLife passes over the lines of commands, which are most of them, without decoding them. The kind
// stands behind the time.
func tellsOfLife(line []byte) bool {
	start := line[:min(len(line), 90)]
	for _, kind := range []Kind{KindCommand, KindOutput, KindExit} {
		if bytes.Contains(start, []byte(`,"event":"`+kind+`"`)) {
			return false
		}
	}
	return true
}

// isHeld reports whether a gateway has the environment open.
func isHeld(dir string) (bool, error) {
	f, err := readFile(filepath.Join(dir, heldName))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	free, err := tryFree(f)
	closeLocked(f)
	return !free && err == nil, err
}

// tryFree takes the lock that shows that nobody has an environment open. Other readers hold it for a moment
// too.
func tryFree(f *os.File) (free bool, err error) {
	for range 4 {
		if free, err = tryLockFile(f); free || err != nil {
			return free, err
		}
		time.Sleep(2 * time.Millisecond)
	}
	return false, nil
}

// maxLine bounds a line that is read. None that is written comes near it.
const maxLine = 1 << 20

// scan calls do for each whole line of a file.
func scan(path string, do func(line []byte) error) error {
	f, err := readFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	return lines(f, do)
}

func lines(r io.Reader, do func([]byte) error) error {
	s := bufio.NewScanner(r)
	s.Buffer(make([]byte, 64<<10), maxLine)
	for s.Scan() {
		if err := do(s.Bytes()); err != nil {
			return err
		}
	}
	return s.Err()
}

// errEnough ends a scan.
var errEnough = errors.New("enough")

// Read returns the events of an environment, oldest first, with the lines that they stand in. A line that is
// torn is passed over.
func Read(dir, name string) iter.Seq2[Event, []byte] {
	return func(yield func(Event, []byte) bool) {
		for _, file := range []string{oldName, logName} {
			err := scan(filepath.Join(dir, name, file), func(line []byte) error {
				var e Event
				if json.Unmarshal(line, &e) == nil && !yield(e, bytes.Clone(line)) {
					return errEnough
				}
				return nil
			})
			if errors.Is(err, errEnough) {
				return
			}
		}
	}
}

// followEvery is how often a log is looked at for new lines.
const followEvery = 100 * time.Millisecond

// Follow returns the events that are written from now on, until ctx ends.
func Follow(ctx context.Context, dir, name string) iter.Seq2[Event, []byte] {
	t := tail{path: filepath.Join(dir, name, logName)}
	t.open()
	if t.file != nil {
		if end, err := t.file.Seek(0, io.SeekEnd); err == nil {
			t.at = end
		}
	}
	return func(yield func(Event, []byte) bool) {
		defer t.close()
		for ctx.Err() == nil {
			for _, line := range t.more() {
				var e Event
				if json.Unmarshal(line, &e) == nil && !yield(e, line) {
					return
				}
			}
			select {
			case <-ctx.Done():
			case <-time.After(followEvery):
			}
		}
	}
}

// tail reads on in a file that grows and is turned.
type tail struct {
	path string
	file *os.File
	at   int64
	part []byte // a line of which the end has not come
}

func (t *tail) open() {
	t.file, _ = readFile(t.path) // not there yet: later
	t.at, t.part = 0, nil
}

func (t *tail) close() {
	if t.file != nil {
		t.file.Close()
	}
}

// more returns the lines that have come.
func (t *tail) more() [][]byte {
	if t.file == nil {
		if t.open(); t.file == nil {
			return nil
		}
	}
	out := t.rest()
	now, err := os.Stat(t.path)
	mine, err2 := t.file.Stat()
	turned := err == nil && err2 == nil && (!os.SameFile(now, mine) || now.Size() < t.at)
	if !turned {
		return out
	}
	out = append(out, t.rest()...) // lines between the reading and the turn
	t.close()
	t.open()
	if t.file != nil {
		out = append(out, t.rest()...)
	}
	return out
}

func (t *tail) rest() (out [][]byte) {
	b, err := io.ReadAll(io.NewSectionReader(t.file, t.at, 1<<62))
	if err != nil {
		return nil
	}
	t.at += int64(len(b))
	b = append(t.part, b...)
	for {
		i := bytes.IndexByte(b, '\n')
		if i < 0 {
			t.part = bytes.Clone(b)
			return out
		}
		out = append(out, bytes.Clone(b[:i]))
		b = b[i+1:]
	}
}
