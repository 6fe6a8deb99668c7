package rego

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/open-policy-agent/opa/v1/bundle"
)

// serialKey is the key of the serial in the metadata of a bundle's manifest. The signature covers it.
const serialKey = "sallyport_serial"

// serialOf is the serial of a bundle; 0 without one. One that is no whole number above zero is an error: a
// bundle without a readable serial has no place in the order.
func serialOf(m bundle.Manifest) (int64, error) {
	value, ok := m.Metadata[serialKey]
	if !ok {
		return 0, nil
	}
	var n int64
	switch v := value.(type) {
	case json.Number:
		var err error
		if n, err = v.Int64(); err != nil {
			n = 0
		}
	case float64:
		if v == math.Trunc(v) && v > 0 && v < 1<<53 {
			n = int64(v)
		}
	}
	if n <= 0 {
		return 0, fmt.Errorf("its %s is %v: want a whole number above zero", serialKey, value)
	}
	return n, nil
}

// Serials remembers, for each origin of bundles, the highest serial that judged: an older signed bundle is
// rejected, since somebody who can put an old bundle in its place could undo a fix. The zero value remembers
// nothing and refuses nothing.
//
// The memory is the set of names in a directory, of which the highest counts. So several processes may write
// at once and none can lower it.
type Serials struct {
	Dir string // 0700; made with the first serial
}

func (s Serials) of(place string) string {
	sum := sha256.Sum256([]byte(place))
	return filepath.Join(s.Dir, hex.EncodeToString(sum[:16]))
}

// Last is the highest serial that judged; 0 for none.
func (s Serials) Last(place string) (int64, error) {
	if s.Dir == "" {
		return 0, nil
	}
	entries, err := os.ReadDir(s.of(place))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, fmt.Errorf("read serials of bundles: %w", err)
	}
	var last int64
	for _, e := range entries {
		if n, err := strconv.ParseInt(e.Name(), 10, 64); err == nil {
			last = max(last, n)
		}
	}
	return last, nil
}

// Check refuses a bundle that is older than one that judged.
func (s Serials) Check(place string, serial int64) error {
	last, err := s.Last(place)
	switch {
	case err != nil:
		return err
	case serial >= last:
		return nil
	case serial == 0:
		return fmt.Errorf(
			"it has no serial, and one with serial %d judged before: build it with a later serial, or remove %s to "+
				"begin anew", last, s.of(place))
	default:
		return fmt.Errorf(
			"its serial %d is older than %d, which judged before: build it with a later serial, or remove %s to "+
				"go back", serial, last, s.of(place))
	}
}

// Accept remembers that bundles with these serials judge now, by place.
func (s Serials) Accept(serials map[string]int64) error {
	if s.Dir == "" {
		return nil
	}
	for _, place := range slices.Sorted(maps.Keys(serials)) {
		if err := s.accept(place, serials[place]); err != nil {
			return fmt.Errorf("remember serial of %s: %w", place, err)
		}
	}
	return nil
}

func (s Serials) accept(place string, serial int64) error {
	last, err := s.Last(place)
	if err != nil || serial <= last {
		return err
	}
	dir := s.of(place)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, strconv.FormatInt(serial, 10)), os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if last > 0 { // it is not needed any more, and does no harm where it stays
		_ = os.Remove(filepath.Join(dir, strconv.FormatInt(last, 10)))
	}
	return nil
}
