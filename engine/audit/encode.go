package audit

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// timeFormat has a fixed width, so that times sort as text.
const timeFormat = "2006-01-02T15:04:05.000000000Z"

// payload is a record that is ready to be numbered and linked: all that can fail has been done.
type payload struct {
	kind     engine.Kind
	time     time.Time
	decision string
	body     []byte // members of the record between its envelope and prev, with a leading comma
}

// reserved are the members of the envelope. A body must not name them.
var reserved = []string{"seq", "time", "kind", "decision_id", "writer", "redacted", "named_secrets", "cut",
	"prev"}

// cuts are tried in order until a record fits. The first keeps every text that the gate accepts
// (64 KiB) whole, so that ordinary decisions can be replayed.
var cuts = []limits{{72 << 10, 1 << 30}, {4 << 10, 2048}, {512, 256}, {128, 32}}

const (
	prevMark   = `,"prev":"`
	hashHex    = 64
	tailLen    = len(prevMark) + hashHex + len(`"}`)
	maxID      = 256
	envelopeSz = 512 // more than an envelope with the longest decision id can take
)

// encode marshals the body of a record, replaces secrets and cuts it to size. A panic of a
// marshaller is an error like any other: the record is not written, and the gate denies.
func encode(r engine.Record, now time.Time, red *redact.Redactor, maxRecord int) (p payload, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("encode audit record: panic: %v", v)
		}
	}()
	if r.Time.IsZero() {
		r.Time = now
	}
	if len(r.Decision) > maxID {
		return payload{}, fmt.Errorf("encode audit record: decision id of %d bytes: at most %d", len(r.Decision),
			maxID)
	}
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	n, err := e.bodyNode(r.Body)
	if err != nil {
		return payload{}, fmt.Errorf("encode audit record: %s: %w", r.Kind, err)
	}
	done := e.conceal(red, r.Kind, &n)
	body, err := fit(n, done, maxRecord-envelopeSz-6*len(r.Decision))
	if err != nil {
		return payload{}, fmt.Errorf("encode audit record: %s: %w", r.Kind, err)
	}
	return payload{kind: r.Kind, time: r.Time.UTC(), decision: r.Decision, body: body}, nil
}

// encoder is the space that the encoding of a record takes. It is used again for the next record.
type encoder struct {
	buf bytes.Buffer
	nodeParser
	concealer
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

func (e *encoder) bodyNode(body any) (node, error) {
	if body == nil {
		return node{kind: 'o'}, nil
	}
	e.buf.Reset()
	enc := json.NewEncoder(&e.buf)
	enc.SetEscapeHTML(false) // shell text is full of & and >, and people read it
	if err := enc.Encode(body); err != nil {
		return node{}, err
	}
	n, err := e.parse(e.buf.Bytes())
	if err != nil {
		return node{}, err
	}
	if n.kind == 'r' && n.text == "null" {
		return node{kind: 'o'}, nil
	}
	if n.kind != 'o' {
		return node{}, errors.New("the body is not an object")
	}
	for i := range n.kids {
		if k := n.kids[i].key; slices.Contains(reserved, k) {
			return node{}, fmt.Errorf("the body names %q, which belongs to the envelope", k)
		}
	}
	return n, nil
}

// fit writes the body with the mildest cut that keeps it below limit bytes.
func fit(n node, done concealed, limit int) ([]byte, error) {
	var notes []cutNote
	at := make([]byte, 0, 256)
	for _, l := range cuts {
		notes = mergeNotes(notes, n.cut(at, l, nil))
		b := make([]byte, 0, 4096)
		if len(n.kids) > 0 {
			b = n.appendFields(append(b, ','))
		}
		b, err := appendMember(b, "redacted", done.redacted, len(done.redacted))
		if err == nil {
			b, err = appendMember(b, "named_secrets", done.named, len(done.named))
		}
		if err == nil {
			b, err = appendMember(b, "cut", notes, len(notes))
		}
		if err != nil {
			return nil, err
		}
		if len(b) <= limit {
			return b, nil
		}
	}
	return nil, fmt.Errorf("more than %d bytes even with texts and lists cut: shorten the command", limit)
}

// mergeNotes keeps the first note on each place: it has the true length.
func mergeNotes(old, fresh []cutNote) []cutNote {
	for _, f := range fresh {
		if !slices.ContainsFunc(old, func(o cutNote) bool { return o.At == f.At }) {
			old = append(old, f)
		}
	}
	return old
}

func appendMember(b []byte, name string, v any, count int) ([]byte, error) {
	if count == 0 {
		return b, nil
	}
	j, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	n, err := parseNode(j)
	if err != nil {
		return nil, err
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	return n.appendTo(b), nil
}

// appendLine writes the line of a record without its newline.
func appendLine(b []byte, seq int64, p payload, writer string, prev tlog.Hash) []byte {
	b = strconv.AppendInt(append(b, `{"seq":`...), seq, 10)
	b = p.time.AppendFormat(append(b, `,"time":"`...), timeFormat)
	b = append(append(b, `","kind":"`...), p.kind...)
	b = appendString(append(b, `","decision_id":`...), p.decision)
	b = append(append(append(b, `,"writer":"`...), writer...), '"')
	b = append(b, p.body...)
	b = append(b, prevMark...)
	b = hex.AppendEncode(b, prev[:])
	return append(b, '"', '}')
}

// head is the envelope of a line, read from its fixed places.
type head struct {
	seq      int64
	time     []byte // this and the others point into the line
	kind     string
	decision []byte
	writer   []byte
	body     []byte // the members after the writer, up to prev
	prev     tlog.Hash
}

// parseHead reads the envelope without encoding/json, which is ten times slower. It accepts exactly
// what appendLine writes; that the body is JSON is not checked.
func parseHead(line []byte) (h head, ok bool) {
	if len(line) < tailLen || !bytes.HasSuffix(line, []byte(`"}`)) {
		return h, false
	}
	tail := line[len(line)-tailLen:]
	rest, found := bytes.CutPrefix(line[:len(line)-tailLen], []byte(`{"seq":`))
	if !found || !bytes.HasPrefix(tail, []byte(prevMark)) ||
		!hashFromHex(&h.prev, tail[len(prevMark):len(prevMark)+hashHex]) {
		return h, false
	}
	digits := 0
	for digits < len(rest) && digits < 18 && rest[digits] >= '0' && rest[digits] <= '9' {
		h.seq = h.seq*10 + int64(rest[digits]-'0')
		digits++
	}
	if digits == 0 || (rest[0] == '0' && digits > 1) {
		return h, false
	}
	rest = rest[digits:]
	var t, k, d, w []byte
	if t, rest, ok = member(rest, `,"time":"`); !ok || len(t) != len(timeFormat) {
		return h, false
	}
	if k, rest, ok = member(rest, `,"kind":"`); !ok {
		return h, false
	}
	if d, rest, ok = member(rest, `,"decision_id":"`); !ok {
		return h, false
	}
	if w, rest, ok = member(rest, `,"writer":"`); !ok {
		return h, false
	}
	h.time, h.kind, h.decision, h.writer, h.body = t, kindString(k), d, w, rest
	if bytes.IndexByte(d, '\\') >= 0 {
		var id string
		if err := json.Unmarshal([]byte(`"`+string(d)+`"`), &id); err != nil {
			return h, false
		}
		h.decision = []byte(id)
	}
	return h, true
}

// member cuts a string member off b: the mark that opens it, and its bytes up to the closing quote.
func member(b []byte, mark string) (value, rest []byte, ok bool) {
	if len(b) < len(mark) || string(b[:len(mark)]) != mark {
		return nil, nil, false
	}
	b = b[len(mark):]
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case '"':
			return b[:i], b[i+1:], true
		}
	}
	return nil, nil, false
}

// kindString returns the kind without an allocation for those that exist.
func kindString(b []byte) string {
	for _, k := range kinds {
		if string(b) == string(k) {
			return string(k)
		}
	}
	return string(b)
}

var kinds = []engine.Kind{engine.KindDecision, engine.KindOutcome, engine.KindApproval, engine.KindCheckpoint,
	engine.KindStart,
	engine.KindStop, engine.KindPolicy, engine.KindConfig, engine.KindRecovery, engine.KindSegment,
	engine.KindFull, engine.KindPrune}

func hashFromHex(h *tlog.Hash, src []byte) bool {
	for i := range h {
		hi, lo := unhex(src[2*i]), unhex(src[2*i+1])
		if hi > 15 || lo > 15 {
			return false // upper case included: a hash has one spelling
		}
		h[i] = hi<<4 | lo
	}
	return true
}

func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	}
	return 0xff
}
