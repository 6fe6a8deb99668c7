package publish

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/sallyport-dev/sallyport/engine/audit"
)

// Kept are the notes of a place that can be read from here.
type Kept struct {
	audit.Published
	Signed time.Time // when a witness signed the note, by its own clock; zero for other places
}

// Notes returns the notes of the places of a configuration: those at the end of each file, and for a witness
// the answer that it gave last, which lies beside the log and is signed by the witness. It has none of other
// places. Errors name the places without a usable note.
func Notes(dir string, places []string) (kept []Kept, err error) {
	taken, err := Read(dir)
	for _, place := range places {
		t, bad := parse(Options{}, place)
		if bad != nil {
			err = errors.Join(err, bad)
			continue
		}
		switch t := t.(type) {
		case file:
			text, bad := tail(string(t), maxNotes)
			if bad != nil && !errors.Is(bad, fs.ErrNotExist) {
				err = errors.Join(err, fmt.Errorf("read published checkpoints: %w", bad))
			}
			if notes := all(text); len(notes) > 0 {
				kept = append(kept, Kept{Published: audit.Published{Place: place, Notes: notes}})
			}
		case *witness:
			for _, k := range taken {
				if k.Target != place || k.Signed == "" {
					continue
				}
				at, bad := t.key.signedAt([]byte(k.Signed))
				if bad != nil {
					err = errors.Join(err, fmt.Errorf("%s in %s: %w", place, stateName, bad))
					continue
				}
				p := audit.Published{Place: place, Notes: [][]byte{[]byte(k.Signed)}, Beside: true}
				kept = append(kept, Kept{p, at})
			}
		}
	}
	return kept, err
}

// all returns the whole notes of a text, the newest first.
func all(text []byte) (notes [][]byte) {
	for len(text) > 0 {
		n := Newest(text)
		if len(n) == len(text) {
			if strings.Contains(string(n), "\n\n— ") && strings.HasSuffix(string(n), "\n") {
				notes = append(notes, n)
			}
			return notes
		}
		notes = append(notes, n)
		text = text[:max(0, strings.LastIndex(string(text), string(n)))]
	}
	return notes
}

// signedAt returns the time in the signature of this witness under a checkpoint.
func (c cosigner) signedAt(signed []byte) (time.Time, error) {
	n, err := note.Open(signed, note.VerifierList(c))
	if err != nil {
		return time.Time{}, fmt.Errorf("the note holds no valid signature of %s: %w", c.name, err)
	}
	raw, err := base64.StdEncoding.DecodeString(n.Sigs[0].Base64)
	if err != nil || len(raw) < 4+8 {
		return time.Time{}, errors.New("the signature cannot be read")
	}
	return time.Unix(int64(binary.BigEndian.Uint64(raw[4:])), 0).UTC(), nil // its size was checked with it
}
