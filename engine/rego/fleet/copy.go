package fleet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/sallyport-dev/sallyport/engine/rego"
)

// delivery is a bundle that passed the door.
type delivery struct {
	text   []byte
	digest string // SHA-256 in hex
	etag   string
	info   rego.BundleInfo
	kept   bool      // it was read from disk
	asked  time.Time // when its server last confirmed it
}

// fresh reports whether the server confirmed the bundle not long ago. A time to come is no time.
func (d *delivery) fresh(within time.Duration) bool {
	age := time.Since(d.asked)
	return age >= 0 && age < within
}

// admit verifies a bundle: its signature, and its place in the order of earlier ones.
func (f *Fleet) admit(place string, text []byte, etag string) (*delivery, error) {
	info, err := rego.VerifyBundle(text, f.o.Keys)
	if err != nil {
		return nil, err
	}
	if len(f.o.Keys) > 0 {
		if err := f.o.Serials.Check(place, info.Serial); err != nil {
			return nil, fmt.Errorf("verify bundle: %w", err)
		}
	}
	sum := sha256.Sum256(text)
	return &delivery{text: text, digest: hex.EncodeToString(sum[:]), etag: etag, info: info, asked: time.Now()},
		nil
}

// about is the description beside a cached bundle.
type about struct {
	Place  string `json:"place"`
	ETag   string `json:"etag"`
	SHA256 string `json:"sha256"` // of the bundle that the etag belongs to
}

// file is the path of a cached bundle. Its description is beside it, in file + ".json".
func (f *Fleet) file(place string) string {
	sum := sha256.Sum256([]byte(place))
	return filepath.Join(f.o.Dir, hex.EncodeToString(sum[:16])+".tar.gz")
}

// kept reads the cached bundle of a place; nil if there is none.
func (f *Fleet) kept(place string) (*delivery, error) {
	if f.o.Dir == "" {
		return nil, nil
	}
	file := f.file(place)
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read kept bundle: %w", err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read kept bundle: %w", err)
	}
	d, err := f.admit(place, text, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	d.kept, d.asked = true, info.ModTime()
	var a about
	if note, err := os.ReadFile(file + ".json"); err == nil && json.Unmarshal(note, &a) == nil &&
		a.SHA256 == d.digest {
		d.etag = a.ETag
	}
	return d, nil
}

// keep puts a bundle where kept finds it.
func (f *Fleet) keep(place string, d *delivery) error {
	if f.o.Dir == "" || f.o.Look {
		return nil
	}
	note, err := json.Marshal(about{place, d.etag, d.digest})
	if err != nil {
		return fmt.Errorf("keep bundle: %w", err)
	}
	file := f.file(place)
	if err := os.MkdirAll(f.o.Dir, 0o700); err != nil {
		return fmt.Errorf("keep bundle: %w", err)
	}
	if err := replace(file, d.text); err != nil {
		return fmt.Errorf("keep bundle: %w", err)
	}
	if err := replace(file+".json", note); err != nil {
		return fmt.Errorf("keep bundle: %w", err)
	}
	return nil
}

// confirmed notes that the server has said again that the bundle of a place is the current one.
func (f *Fleet) confirmed(place string) {
	if f.o.Dir != "" && !f.o.Look {
		now := time.Now()
		_ = os.Chtimes(f.file(place), now, now) // without it the server is asked once more
	}
}

// replace writes a file whole: a reader sees the old or the new one.
func replace(file string, text []byte) error {
	part, err := os.CreateTemp(filepath.Dir(file), ".part-*")
	if err != nil {
		return err
	}
	_, err = part.Write(text)
	err = errors.Join(err, part.Sync(), part.Close())
	if err == nil {
		err = os.Rename(part.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(part.Name()))
	}
	return nil
}
