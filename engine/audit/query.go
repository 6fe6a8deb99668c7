package audit

import (
	"bytes"
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

	"github.com/sallyport-dev/sallyport/engine"
)

// Filter selects entries. The zero value selects all.
type Filter struct {
	Since, Until time.Time     // of the record, Since included and Until not; zero for no bound
	Kind         engine.Kind   // "" for any
	Effect       engine.Effect // of decisions: other kinds are left out; "" for any
	Rule         string        // decisions with a reason of this rule
	Decision     string        // records of this decision
	Digest       string        // records with a tag of these hex digits: see redact.Redactor.Digest
	Named        bool          // records in which a name contains a value that some text calls a secret
	Program      string        // records about programs of this name that commands started, or could not start
	Last         int           // only so many of the newest; 0 for all
}

// Entry is one record of a log, as it was read. Its link to others is not checked: Verify does that.
type Entry struct {
	Seq        int64
	Time       time.Time
	Kind       engine.Kind
	DecisionID string
	Writer     string // process that wrote it
	Raw        []byte // the line without its newline, as it was hashed
}

// Decision returns the body of a decision record. Secrets in it are replaced by tags, and texts
// that Cut names are not whole.
func (e Entry) Decision() (engine.DecisionBody, error) {
	var b engine.DecisionBody
	return b, e.body(engine.KindDecision, &b)
}

// Outcome returns the body of an outcome record.
func (e Entry) Outcome() (engine.OutcomeBody, error) {
	var b engine.OutcomeBody
	return b, e.body(engine.KindOutcome, &b)
}

// Approval returns the body of an approval record.
func (e Entry) Approval() (engine.ApprovalBody, error) {
	var b engine.ApprovalBody
	return b, e.body(engine.KindApproval, &b)
}

// Policy returns the body of a policy record.
func (e Entry) Policy() (engine.PolicyBody, error) {
	var b engine.PolicyBody
	return b, e.body(engine.KindPolicy, &b)
}

// Cut returns the JSON pointers of texts and lists that were too long to be kept whole.
func (e Entry) Cut() ([]string, error) {
	var b struct {
		Cut []cutNote `json:"cut"`
	}
	err := bodyOf(e.Raw, &b)
	var out []string
	for _, c := range b.Cut {
		out = append(out, c.At)
	}
	return out, err
}

func (e Entry) body(k engine.Kind, v any) error {
	if e.Kind != k {
		return fmt.Errorf("read record %d: it is of kind %q, not %q", e.Seq, e.Kind, k)
	}
	if err := bodyOf(e.Raw, v); err != nil {
		return fmt.Errorf("read record %d: %w", e.Seq, err)
	}
	return nil
}

func entryOf(line []byte) (Entry, error) {
	h, ok := parseHead(line)
	if !ok {
		return Entry{}, errors.New("not a record")
	}
	t, err := time.Parse(time.RFC3339, string(h.time))
	if err != nil {
		return Entry{}, err
	}
	return Entry{Seq: h.seq, Time: t, Kind: engine.Kind(h.kind), DecisionID: string(h.decision),
		Writer: string(h.writer), Raw: bytes.Clone(line)}, nil
}

// match says whether e is wanted. Bodies are parsed only where the filter asks for their contents.
func (f Filter) match(e Entry) bool {
	switch {
	case !f.Since.IsZero() && e.Time.Before(f.Since),
		!f.Until.IsZero() && !e.Time.Before(f.Until),
		f.Kind != "" && e.Kind != f.Kind,
		f.Decision != "" && e.DecisionID != f.Decision,
		f.Digest != "" && !bytes.Contains(e.Raw, []byte(":"+f.Digest+"]")),
		f.Named && !bytes.Contains(e.Raw, []byte(`,"named_secrets":[`)): // in a text the quotes would be escaped
		return false
	case f.Program != "" && !e.about(f.Program):
		return false
	case f.Effect == "" && f.Rule == "":
		return true
	case e.Kind != engine.KindDecision:
		return false
	}
	var b struct {
		Result struct {
			Effect  engine.Effect `json:"effect"`
			Reasons []struct {
				Rule string `json:"rule"`
			} `json:"reasons"`
		} `json:"result"`
	}
	if json.Unmarshal(e.Raw, &b) != nil || (f.Effect != "" && b.Result.Effect != f.Effect) {
		return false
	}
	for _, r := range b.Result.Reasons {
		if r.Rule == f.Rule {
			return true
		}
	}
	return f.Rule == ""
}

// about says whether an outcome lists a program of a name, or whether a decision is about one.
func (e Entry) about(name string) bool {
	var b struct {
		Programs engine.Programs `json:"programs"`
		Input    struct {
			Request struct {
				Tool string `json:"tool"`
			} `json:"request"`
			Commands []struct {
				Name string `json:"name"`
			} `json:"commands"`
		} `json:"input"`
	}
	if json.Unmarshal(e.Raw, &b) != nil {
		return false
	}
	if b.Input.Request.Tool == engine.ToolProgram {
		return len(b.Input.Commands) > 0 && b.Input.Commands[0].Name == name
	}
	return slices.ContainsFunc(b.Programs.List, func(p engine.StartedProgram) bool {
		return filepath.Base(p.File) == name
	})
}

// Read returns the entries of the log in dir that f selects, oldest first. A line that is no
// record yields an error and reading goes on; an error of the disk ends it. It may be used while
// the log is written to.
func Read(dir string, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		segments, err := segmentsIn(osFS{}, dir)
		if err != nil && !yield(Entry{}, err) {
			return
		}
		if f.Last > 0 {
			readLast(dir, segments, f, yield)
			return
		}
		for _, n := range segments {
			if !readSegment(dir, n, f, yield) {
				return
			}
		}
	}
}

// readLast reads files from the newest backwards until it has enough.
func readLast(dir string, segments []int, f Filter, yield func(Entry, error) bool) {
	type item struct {
		e   Entry
		err error
	}
	var all []item
	for _, n := range slices.Backward(segments) {
		var part []item
		readSegment(dir, n, f, func(e Entry, err error) bool {
			if len(part) == f.Last {
				part = append(part[:0], part[1:]...)
			}
			part = append(part, item{e, err})
			return true
		})
		all = append(part, all...)
		if len(all) >= f.Last {
			all = all[len(all)-f.Last:]
			break
		}
	}
	for _, it := range all {
		if !yield(it.e, it.err) {
			return
		}
	}
}

// readSegment reads one file and says whether to go on.
func readSegment(dir string, n int, f Filter, yield func(Entry, error) bool) bool {
	file, err := osFS{}.OpenFile(filepath.Join(dir, segmentName(n)), os.O_RDONLY, 0)
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	defer file.Close() // read only: nothing can be lost
	fi, err := file.Stat()
	if err != nil {
		yield(Entry{}, err)
		return false
	}
	_, more := readPart(file, segmentName(n), 0, fi.Size, f, yield)
	return more
}

// readPart reads whole lines from off to size. It returns where the next line begins.
func readPart(file file, name string, off, size int64, f Filter, yield func(Entry, error) bool) (next int64,
	more bool) {
	r := newLineReader(file, off, size)
	for {
		line, whole, err := r.next()
		if errors.Is(err, io.EOF) || (err == nil && !whole) {
			return off, true // a record that is being written is not there yet
		}
		if err != nil {
			yield(Entry{}, fmt.Errorf("read %s: %w", name, err))
			return off, false
		}
		e, err := entryOf(line)
		at := off
		off += int64(len(line)) + 1
		if err != nil {
			if !yield(Entry{}, fmt.Errorf("read %s: at byte %d: %w", name, at, err)) {
				return off, false
			}
			continue
		}
		if f.match(e) && !yield(e, nil) {
			return off, false
		}
	}
}

// followPause is how often Follow looks for new records.
const followPause = 200 * time.Millisecond

// Follow returns the entries of Read and then every new entry that f selects, until ctx is done.
func Follow(ctx context.Context, dir string, f Filter) iter.Seq2[Entry, error] {
	return follow(ctx, dir, f, func() {
		select {
		case <-ctx.Done():
		case <-time.After(followPause):
		}
	})
}

// follow pauses between two looks.
func follow(ctx context.Context, dir string, f Filter, pause func()) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		segment, err := newest(dir)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		off, last := int64(0), int64(-1)
		for e, err := range Read(dir, f) {
			if !yield(e, err) {
				return
			}
			last = max(last, e.Seq)
		}
		f.Last = 0
		fresh := func(e Entry, err error) bool { return err == nil && e.Seq <= last || yield(e, err) }
		for ctx.Err() == nil {
			var more bool
			if segment, off, more = followOn(dir, segment, off, f, fresh); !more {
				return
			}
			pause()
		}
	}
}

// newest returns the number of the newest file, at whose start Follow goes on. It is asked for
// before the old entries are read; an entry that is then read twice is dropped by its number.
func newest(dir string) (int, error) {
	segments, err := segmentsIn(osFS{}, dir)
	if err != nil && !errors.Is(err, ErrTampered) {
		return 0, err
	}
	if len(segments) == 0 {
		return 1, nil
	}
	return segments[len(segments)-1], nil
}

// followOn yields the entries that were added to the files from a place on.
func followOn(dir string, segment int, off int64, f Filter, yield func(Entry, error) bool) (int, int64,
	bool) {
	for {
		_, err := osFS{}.Lstat(filepath.Join(dir, segmentName(segment+1)))
		later := err == nil
		file, err := osFS{}.OpenFile(filepath.Join(dir, segmentName(segment)), os.O_RDONLY, 0)
		if errors.Is(err, fs.ErrNotExist) {
			return segment, off, true // nothing has been written yet
		}
		if err != nil {
			yield(Entry{}, err)
			return segment, off, false
		}
		fi, err := file.Stat()
		more := err == nil
		if err == nil && fi.Size > off {
			off, more = readPart(file, segmentName(segment), off, fi.Size, f, yield)
		}
		if err = errors.Join(err, file.Close()); err != nil {
			yield(Entry{}, err)
			return segment, off, false
		}
		if !more || !later {
			return segment, off, more
		}
		segment, off = segment+1, 0
	}
}

// ReadFile returns the entries of one file of records that f selects, in its order: a file of a log, or what
// was copied out of one. Errors are as those of Read. f.Last is not heeded.
func ReadFile(name string, f Filter) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		file, err := osFS{}.OpenFile(name, os.O_RDONLY, 0)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer file.Close() // read only: nothing can be lost
		info, err := file.Stat()
		if err != nil {
			yield(Entry{}, err)
			return
		}
		readPart(file, filepath.Base(name), 0, info.Size, f, yield)
	}
}
