package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
)

// acceptance names the breaks behind which an operator lets the log go on.
type acceptance struct {
	ids     []string
	by, why string
}

// has reports whether the operator accepted the break that err tells of.
func (a acceptance) has(err error) bool { return slices.Contains(a.ids, refusedID(err)) }

// passes reports whether Open goes on behind a break. Behind one that the operator accepted it does so in any
// case, because the log is then changed already: a further break is put on record as one that nobody
// accepted.
func (l *Log) passes(err error) bool {
	l.passing = l.passing || l.o.accept.has(err)
	return l.passing
}

// refusedError says that a log is not continued behind a break.
type refusedError struct{ cause error }

// refusal makes the error of Open for a break that nobody accepted.
func refusal(cause error) error { return &refusedError{cause} }

func (e *refusedError) Error() string {
	return fmt.Sprintf("open audit log: %v: look at it with sallyport audit verify; to go on after the break: "+
		"sallyport audit accept-break %s", e.cause, refusedID(e.cause))
}

func (e *refusedError) Unwrap() error { return e.cause }

// breakID is the name of a break: the same for the same break, whichever process tells of it.
func breakID(hash [sha256.Size]byte) string { return "B" + hex.EncodeToString(hash[:4]) }

func refusedID(err error) string { return breakID(sha256.Sum256([]byte(err.Error()))) }

// Breaks returns the breaks of the log in o.Dir that nobody has accepted: those on record, those that a
// process saved below torn/, and one behind which Open does not go on.
func Breaks(o Options) ([]Break, error) {
	if err := o.complete(); err != nil {
		return nil, err
	}
	all := recordedBreaks(o.Dir)
	cuts, err := cutsIn(o.fs, o.Dir)
	if err != nil {
		return nil, err
	}
	all = append(all, cuts...)
	l, err := Open(o)
	var refused *refusedError
	switch {
	case errors.As(err, &refused):
		return append(all, Break{ID: refusedID(refused.cause), Seq: -1, Reason: refused.cause.Error()}), nil
	case err != nil:
		return nil, err
	default:
		err = l.Close()
	}
	return all, err
}

// recordedBreaks returns the breaks on record that nobody has accepted. Lines that are no records are left to
// Verify.
func recordedBreaks(dir string) (open []Break) {
	for e, err := range Read(dir, Filter{Kind: engine.KindRecovery}) {
		var b recoveryBody
		if err != nil || bodyOf(e.Raw, &b) != nil {
			continue
		}
		if b.Break && !b.Accepted {
			open = append(open, b.on(e.Seq, e.Raw))
		}
		open = slices.DeleteFunc(open, func(known Break) bool { return slices.Contains(b.Accepts, known.Seq) })
	}
	return open
}

// on is the break of a recovery record.
func (b recoveryBody) on(seq int64, line []byte) Break {
	return Break{ID: breakID(tlog.RecordHash(line)), Seq: seq, File: b.File, Reason: b.Reason,
		Accepted: b.Accepted, By: b.By}
}

// cutsIn returns the cuts that processes saved below torn/ and nobody has accepted.
func cutsIn(fsys fileSystem, dir string) (cuts []Break, err error) {
	names, err := fsys.ReadDir(filepath.Join(dir, "torn"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, name := range names {
		if !strings.HasSuffix(name, cutSuffix) {
			continue
		}
		text, err := readAll(fsys, filepath.Join(dir, "torn", name), 4*recentBytes)
		if err != nil {
			return nil, fmt.Errorf("read saved cut: %w", err)
		}
		var b recoveryBody
		if json.Unmarshal(text, &b) != nil {
			b.Reason = "a process found the log cut"
		}
		cuts = append(cuts, Break{ID: breakID(sha256.Sum256(text)), Seq: -1, File: "torn/" + name,
			Reason: b.Reason})
	}
	return cuts, err
}

// AcceptBreaks puts on record that an operator knows of the breaks with these ids, and goes on behind one at
// which Open refuses the log: records that cannot be linked are moved to torn/. An id that Breaks does not
// return is an error, and then nothing is changed.
func AcceptBreaks(o Options, ids []string, by, why string) error {
	if strings.TrimSpace(by) == "" || strings.TrimSpace(why) == "" {
		return errors.New("accept breaks of the audit log: missing the name of the person, or the reason")
	}
	open, err := Breaks(o)
	if err != nil {
		return err
	}
	var accepts []int64
	var cuts []string
	for _, id := range ids {
		i := slices.IndexFunc(open, func(b Break) bool { return b.ID == id })
		switch {
		case i < 0:
			return fmt.Errorf("accept break %s: the log in %s has no break of this id that nobody has accepted", id,
				o.Dir)
		case open[i].Seq >= 0:
			accepts = append(accepts, open[i].Seq)
		case open[i].File != "":
			cuts = append(cuts, strings.TrimPrefix(open[i].File, "torn/"))
		}
	}
	o.accept = acceptance{ids, by, why}
	l, err := Open(o)
	if err != nil {
		return err
	}
	if len(accepts)+len(cuts) > 0 {
		err = l.noteAcceptance(accepts, cuts)
	}
	return errors.Join(err, l.Close())
}

func (l *Log) noteAcceptance(records []int64, cuts []string) error {
	a := l.o.accept
	p, err := l.ownPayload(engine.KindRecovery, recoveryBody{Accepts: records, Cuts: cuts, By: a.by, Why: a.why})
	if err == nil {
		err = l.enqueue(&request{records: []payload{p}, result: make(chan error, 1)})
	}
	for _, name := range cuts {
		if err == nil {
			to := strings.TrimSuffix(name, cutSuffix) + "-accepted.json"
			err = l.o.fs.Rename(l.path("torn/"+name), l.path("torn/"+to))
		}
	}
	return err
}
