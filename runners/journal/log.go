package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// The files of an environment's directory.
const (
	logName  = "environment.log"
	oldName  = logName + ".1" // lines before the last turn
	heldName = "open"         // locked by every gateway that has the environment open
	lockName = "lock"         // of the runner, for as long as it makes the environment
)

// log is the writing end of one environment's log. Each line is written under the lock of the file, whole.
// Other gateways write to it too, and may have turned it: then it is opened anew.
type log struct {
	o    Options
	id   Identity
	name string
	dir  string

	mu     sync.Mutex
	held   *os.File // nil when it could not be locked
	silent bool     // the operator was told that nothing is written

	writing sync.Mutex
	file    *os.File // written to last, and not locked; nil for none
}

func newLog(o Options, id Identity, name string) *log {
	return &log{o: o, id: id, name: name, dir: filepath.Join(o.Dir, name)}
}

// write adds a line. Errors are reported to the operator, once until it works again.
func (l *log) write(e Event) {
	e.Time, e.Gateway = l.o.Now().UTC(), os.Getpid()
	l.clean(&e)
	line, err := encode(e)
	if err == nil {
		err = l.append(line)
	}
	l.mu.Lock()
	first := err != nil && !l.silent
	l.silent = err != nil
	l.mu.Unlock()
	if first {
		l.o.Warn(fmt.Errorf("write the log of environment %s: %w: commands go on without it", l.name, err))
	}
}

// clean removes the secrets from the runner's messages.
func (l *log) clean(e *Event) {
	if e.Details != nil {
		e.Details, _ = l.cleanValue(e.Details).(map[string]any)
	}
	switch e.Event {
	case KindStep, KindFailed, KindBroke, KindClosed:
		e.Error = l.o.Redact(e.Error)[0]
	}
	e.Error = cut(e.Error, maxText)
}

func (l *log) cleanValue(v any) any {
	switch v := v.(type) {
	case string:
		return cut(l.o.Redact(v)[0], maxText)
	case error:
		return cut(l.o.Redact(v.Error())[0], maxText)
	case []string:
		out := make([]any, len(v))
		for i := range v {
			out[i] = l.cleanValue(v[i])
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = l.cleanValue(v[i])
		}
		return out
	case map[string]string:
		out := map[string]any{}
		for k, s := range v {
			out[k] = l.cleanValue(s)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for k, s := range v {
			out[k] = l.cleanValue(s)
		}
		return out
	}
	return v
}

var errNoPlace = errors.New("there is no state directory: set XDG_STATE_HOME or HOME")

// directory makes the directory, if need be, and refuses one that is somebody else's to write.
func (l *log) directory() error {
	if l.o.Dir == "" {
		return errNoPlace
	}
	if err := os.MkdirAll(l.dir, 0o700); err != nil {
		return err
	}
	return checkDir(l.dir)
}

// append writes a line to the file that has the name now, and turns it before that if it is full.
func (l *log) append(line []byte) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	for range 16 {
		f, info, err := l.open()
		if err != nil {
			return err
		}
		full, err := l.put(f, info.Size(), line)
		if full {
			err = turnFile(f, filepath.Join(l.dir, logName), filepath.Join(l.dir, oldName))
		}
		if unlockFile(f); err != nil || full || !keepsOpen || !l.isHeld() {
			l.shut()
		}
		if err != nil || !full {
			return err
		}
	}
	return errors.New("it is full again and again")
}

// shut closes the file. The caller holds l.writing.
func (l *log) shut() {
	if l.file != nil {
		_ = l.file.Close() // each line was written whole
		l.file = nil
	}
}

// put writes a line at the end of a file, or reports that it is full.
func (l *log) put(f *os.File, size int64, line []byte) (full bool, err error) {
	switch {
	case size == 0:
		head, err := encode(Event{Time: l.o.Now().UTC(), Event: KindEnvironment, Gateway: os.Getpid(),
			Identity: &l.id})
		if err != nil {
			return false, err
		}
		line = append(head, line...)
	case size+int64(len(line)) > l.o.MaxBytes:
		return true, nil
	default:
		last := []byte{0}
		if _, err := f.ReadAt(last, size-1); err != nil {
			return false, err
		}
		if last[0] != '\n' { // its writer died, and must not spoil this one too
			line = append([]byte{'\n'}, line...)
		}
	}
	if _, err := f.Write(line); err != nil {
		return false, errors.Join(err, f.Truncate(size))
	}
	return false, nil
}

// encode makes a line of an event.
func encode(e Event) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(e)
	return b.Bytes(), err
}

// open returns the locked file that has the name now: that of the last line, or another one.
func (l *log) open() (*os.File, fs.FileInfo, error) {
	path := filepath.Join(l.dir, logName)
	for range 16 {
		if l.file == nil {
			if err := l.directory(); err != nil {
				return nil, nil, err
			}
			f, err := openFile(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // it was pruned between the two
			}
			if err != nil {
				return nil, nil, err
			}
			l.file = f
		}
		if err := lockFile(l.file); err != nil {
			l.shut()
			return nil, nil, fmt.Errorf("lock %s: %w", path, err)
		}
		mine, err := l.file.Stat()
		if err == nil && !mine.Mode().IsRegular() {
			err = fmt.Errorf("%s is no regular file: remove it", path)
		}
		if err == nil {
			if now, err := os.Lstat(path); err == nil && os.SameFile(now, mine) {
				return l.file, mine, nil
			}
		}
		unlockFile(l.file)
		l.shut()
		if err != nil {
			return nil, nil, err
		}
	}
	return nil, nil, fmt.Errorf("lock %s: it is replaced again and again", path)
}

// hold says to others that the environment is open, until release or the end of this process.
func (l *log) hold() {
	for range 16 {
		if l.directory() != nil {
			return // the first line tells
		}
		path := filepath.Join(l.dir, heldName)
		f, err := openFile(path)
		if err != nil {
			return
		}
		if err := shareFile(f); err != nil {
			f.Close()
			return
		}
		mine, err := f.Stat()
		now, err2 := os.Lstat(path)
		if err == nil && err2 == nil && os.SameFile(now, mine) {
			l.mu.Lock()
			l.held = f
			l.mu.Unlock()
			return
		}
		closeLocked(f) // it was pruned meanwhile
	}
}

func (l *log) isHeld() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.held != nil
}

func (l *log) release() {
	l.mu.Lock()
	if l.held != nil {
		closeLocked(l.held)
		l.held = nil
	}
	l.mu.Unlock() // a writer, which has the other lock, takes this one
	l.writing.Lock()
	defer l.writing.Unlock()
	l.shut()
}

// closeLocked unlocks a file and closes it. To close it would not do at once while another process is being
// started: until that is done it has the file too.
func closeLocked(f *os.File) {
	unlockFile(f)
	f.Close()
}
