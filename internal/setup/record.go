package setup

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// record describes a run, so that it can be undone: record.json in a directory of its own, beside copies of
// the former files.
type record struct {
	Version int          `json:"version"`
	Files   []fileRecord `json:"files"`
}

type fileRecord struct {
	File    string `json:"file"`
	Format  format `json:"format"`
	Backup  string `json:"backup"` // beside the record; "" where there was no file
	After   string `json:"after"`  // SHA-256 of the new content
	Reverse []edit `json:"reverse"`
}

// Apply makes changes. Before the first one, copies of the files go to a new directory below dir, which it
// returns.
func Apply(dir string, changes []Change) (string, error) {
	at, err := next(dir)
	if err != nil {
		return "", fmt.Errorf("save the files as they were: %w", err)
	}
	r := record{Version: 1}
	for i, c := range changes {
		f := fileRecord{File: c.File, Format: c.format, After: sum(c.After), Reverse: c.reverse}
		if c.Before != nil {
			f.Backup = strconv.Itoa(i) + "-" + filepath.Base(c.File)
			if err := write(filepath.Join(at, f.Backup), c.Before); err != nil {
				return "", fmt.Errorf("save %s: %w", c.File, err)
			}
		}
		r.Files = append(r.Files, f)
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err == nil {
		err = write(filepath.Join(at, "record.json"), append(text, '\n'))
	}
	if err != nil {
		return "", fmt.Errorf("save the files as they were: %w", err)
	}
	return at, Make(changes)
}

// Make writes changes. A file that is no longer as the change found it is left alone, with those after it.
func Make(changes []Change) error {
	for _, c := range changes {
		_, now, err := read(c.File)
		if err != nil {
			return err
		}
		if !bytes.Equal(now, c.Before) || (now == nil) != (c.Before == nil) {
			return fmt.Errorf("%s was changed meanwhile: run setup again", c.File)
		}
		if c.After == nil {
			err = os.Remove(c.File)
		} else {
			err = write(c.File, c.After)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", c.File, err)
		}
	}
	return nil
}

// Last plans how to take back the newest run below dir, and returns its directory. kept names files that were
// changed since by others and are left alone, with the reason. There being no run is fs.ErrNotExist.
func Last(dir string) (changes []Change, at string, kept []string, err error) {
	numbers, err := runs(dir)
	if err != nil {
		return nil, "", nil, err
	}
	if len(numbers) == 0 {
		return nil, "", nil, fs.ErrNotExist
	}
	at = filepath.Join(dir, strconv.Itoa(numbers[len(numbers)-1]))
	text, err := os.ReadFile(filepath.Join(at, "record.json"))
	if err != nil {
		return nil, "", nil, err
	}
	var r record
	from := json.NewDecoder(bytes.NewReader(text))
	from.DisallowUnknownFields()
	if err := from.Decode(&r); err != nil || r.Version != 1 {
		return nil, "", nil, fmt.Errorf(
			"%s is no record of this version of setup: restore the files beside it by hand",
			filepath.Join(at, "record.json"))
	}
	for _, f := range slices.Backward(r.Files) {
		c, err := f.back(at)
		if err != nil {
			kept = append(kept, fmt.Sprintf("%s: %v", f.File, err))
		} else if c != nil {
			changes = append(changes, *c)
		}
	}
	return changes, at, kept, nil
}

// back plans how one file becomes as it was. In a file that others have changed since, only the keys of setup
// are restored.
func (f fileRecord) back(at string) (*Change, error) {
	_, now, err := read(f.File)
	if err != nil {
		return nil, err
	}
	var was []byte
	if f.Backup != "" {
		if _, was, err = read(filepath.Join(at, f.Backup)); err != nil {
			return nil, err
		}
		if was == nil {
			return nil, errors.New("its copy is gone")
		}
	}
	c := &Change{File: f.File, Before: now, After: was, format: f.Format}
	if now == nil || bytes.Equal(now, was) && was != nil {
		return nil, nil
	}
	if sum(now) != f.After {
		if c.After, err = apply(f.Format, now, f.Reverse); err != nil {
			return nil, err
		}
		if bytes.Equal(c.After, now) {
			return nil, nil
		}
	}
	return c, nil
}

// Forget removes the record of a run that was taken back.
func Forget(at string) error { return os.RemoveAll(at) }

// runs lists the runs below dir that have not been taken back, oldest first.
func runs(dir string) (out []int, err error) {
	all, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range all {
		if n, err := strconv.Atoi(e.Name()); err == nil {
			out = append(out, n)
		}
	}
	slices.Sort(out)
	return out, err
}

// next makes the directory of a new run.
func next(dir string) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	numbers, err := runs(dir)
	if err != nil {
		return "", err
	}
	n := 1
	if len(numbers) > 0 {
		n = numbers[len(numbers)-1] + 1
	}
	at := filepath.Join(dir, strconv.Itoa(n))
	return at, os.Mkdir(at, 0o700)
}

func sum(text []byte) string {
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}

// write puts a file in the place of another at once, with the mode of the one that was there.
func write(file string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(file); err == nil {
		mode = info.Mode().Perm()
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(file), strings.TrimPrefix(filepath.Base(file), ".")+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Chmod(mode), f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the error of writing is the one that counts
	}
	return err
}
