package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
)

func framed(body string) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func TestFrameIsStrict(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		bytes []byte
		want  string
	}{
		"known":           {framed(`{"for":"calls"}`), ""},
		"unknown field":   {framed(`{"for":"calls","more":1}`), "unknown field"},
		"wrong type":      {framed(`{"for":7}`), "cannot unmarshal"},
		"two documents":   {framed(`{"for":"calls"}{}`), "goes on after its document"},
		"blanks behind":   {framed("{\"for\":\"calls\"}\n"), "goes on after its document"},
		"no document":     {framed(`calls`), "invalid character"},
		"not UTF-8":       {framed("{\"for\":\"\xff\"}"), "not UTF-8"},
		"nothing":         {framed(""), "frame of 0 bytes"},
		"too large":       {binary.BigEndian.AppendUint32(nil, maxFrame+1), "frame of 4194305 bytes"},
		"breaks off":      {framed(`{"for":"calls"}`)[:9], "unexpected EOF"},
		"number too long": {framed(`{"for":"output","process":18446744073709551616}`), "cannot unmarshal"},
	} {
		var o opening
		err := readFrame(iotest.OneByteReader(bytes.NewReader(tc.bytes)), &o)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: got %v, want %q", name, err, tc.want)
		}
	}
	if err := writeFrame(io.Discard, strings.Repeat("x", maxFrame)); err == nil {
		t.Error("a frame was sent that nobody takes")
	}
}

// FuzzReadFrame reads what either side may send. What is understood means the same when it is sent on.
func FuzzReadFrame(f *testing.F) {
	for _, seed := range []string{
		`{"for":"process","process":1}`, `{"start":{"id":"a","text":["/w=="],"work_dir":"/","env":"A=b\u0000","timeout":1,"grace":0,"output":9}}`,
		`{"exit":{"code":0,"duration":1,"user":0,"system":0,"max_rss":0,"stdout":{"bytes":1,"dropped":0,"sha256":""},"stderr":{"bytes":0,"dropped":0,"sha256":""}}}`,
		`{"op":"fs.lstat","path":"/x"}`, `{"info":{"name":"x","size":1,"mode":420,"sec":1,"nano":2}}`, `{"entries":[{"name":"a","type":0}],"more":true}`,
		`{"workspace":"/","venv":"","env":null}`, `{"error":{"is":"not_exist","text":"no"}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, v := range []any{&opening{}, &order{}, &report{}, &request{}, &reply{}, &hello{}, &welcome{}} {
			if decode(body, v) != nil {
				continue
			}
			again, err := json.Marshal(v)
			if err != nil {
				t.Fatalf("%T %q: %v", v, body, err)
			}
			w := reflect.New(reflect.TypeOf(v).Elem()).Interface()
			if err := decode(again, w); err != nil {
				t.Fatalf("%T: %s does not read back: %v", v, again, err)
			}
			if third, _ := json.Marshal(w); !bytes.Equal(again, third) {
				t.Errorf("%T: %s became %s", v, again, third)
			}
			if r, ok := v.(*report); ok && r.Exit != nil {
				if e, err := r.Exit.checked(streamless, streamless); err == nil && (e.Duration < 0 || e.MaxRSS < 0 || e.Survivors < 0) {
					t.Errorf("%s passes as %+v", body, e)
				}
			}
		}
	})
}

func FuzzExact(f *testing.F) {
	f.Add([]byte("plain"))
	f.Add([]byte("a\x00\xff\"\u2028<"))
	f.Fuzz(func(t *testing.T, b []byte) {
		text, err := json.Marshal(exact(b))
		if err != nil {
			t.Fatal(err)
		}
		var back exact
		if err := json.Unmarshal(text, &back); err != nil || string(back) != string(b) {
			t.Errorf("%q became %q by %s: %v", b, back, text, err)
		}
	})
}

func TestChunks(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, maxChunk - 1, maxChunk, maxChunk + 1, 3*maxChunk + 7} {
		want := bytes.Repeat([]byte("0123456789"), size/10+1)[:size]
		var sent bytes.Buffer
		if n, read, write := sendChunks(&sent, bytes.NewReader(want)); int(n) != size || read != nil || write != nil {
			t.Fatalf("%d bytes: sent %d, %v, %v", size, n, read, write)
		}
		whole := sent.Bytes()
		got, err := io.ReadAll(&chunks{r: iotest.HalfReader(bytes.NewReader(whole))})
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: got %d, %v", size, len(got), err)
		}
		for _, cut := range []int{1, 3, 4, 5, 6, 1000} {
			if cut > len(whole) {
				continue
			}
			if _, err := io.ReadAll(&chunks{r: bytes.NewReader(whole[:len(whole)-cut])}); !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d bytes, %d cut off: %v", size, cut, err)
			}
		}
	}
	if _, err := io.ReadAll(&chunks{r: bytes.NewReader(binary.BigEndian.AppendUint32(nil, maxChunk+1))}); !errors.Is(err, errProtocol) {
		t.Errorf("a chunk that is too large: %v", err)
	}
	failing := errors.New("disk on fire")
	if _, read, _ := sendChunks(io.Discard, iotest.ErrReader(failing)); !errors.Is(read, failing) {
		t.Errorf("an error of the content: %v", read)
	}
}

// Pings are counted wherever the pieces are cut in which they arrive; other frames are not.
func TestPings(t *testing.T) {
	t.Parallel()
	frame := func(kind, flags byte, body int) []byte {
		b := []byte{0, kind, 0, flags, 0, 0, 0, 1, 0, 0, 0, 0}
		binary.BigEndian.PutUint32(b[8:], uint32(body))
		if kind == typeData {
			b = append(b, bytes.Repeat([]byte{typePing}, body)...)
		}
		return b
	}
	now := time.Unix(1, 0)
	for _, piece := range []int{1, 5, 12, 13, 4096} {
		f := frames{calls: burst, now: func() time.Time { return now }}
		feed := func(b []byte) error {
			for len(b) > 0 {
				n := min(piece, len(b))
				if err := f.pass(b[:n]); err != nil {
					return err
				}
				b = b[n:]
			}
			return nil
		}
		other := append(append(frame(typeData, 0, 100), frame(1, 0, 1000)...), frame(typePing, 2, 7)...)
		if err := feed(bytes.Repeat(other, 500)); err != nil {
			t.Errorf("pieces of %d: %v", piece, err)
		}
		if err := feed(bytes.Repeat(frame(typePing, flagSYN, 1), burst)); err != nil {
			t.Errorf("pieces of %d, some pings: %v", piece, err)
		}
		now = now.Add(3 * time.Second)
		if err := feed(bytes.Repeat(frame(typePing, flagSYN, 1), 3)); err != nil {
			t.Errorf("pieces of %d, pings after a while: %v", piece, err)
		}
		if err := feed(frame(typePing, flagSYN, 1)); !errors.Is(err, errProtocol) {
			t.Errorf("pieces of %d, a ping too many: %v", piece, err)
		}
	}
}

func TestInfo(t *testing.T) {
	t.Parallel()
	far := fileInfo{info{File: "f", Bits: 0o644, Sec: 1 << 62, Nano: 5}}
	if _, err := far.ModTime().MarshalJSON(); err != nil {
		t.Errorf("a time that cannot be written down: %v", err)
	}
	f := failureOf(errors.Join(errors.New("x"), io.EOF))
	if diff := cmp.Diff(&failure{Text: "x\nEOF"}, f); diff != "" {
		t.Error(diff)
	}
	for name, kind := range kinds() {
		if err := failureOf(kind).err(); !errors.Is(err, kind) {
			t.Errorf("%s is lost: %v", name, err)
		}
	}
	if err := (&failure{Text: strings.Repeat("ä\xff", maxWords)}).err(); len(err.Error()) > 2*maxWords {
		t.Errorf("an error of %d bytes", len(err.Error()))
	}
}

// streamless is a stream of which nothing is known.
var streamless engine.Stream

// A NUL in a variable would make two of it.
func TestVariables(t *testing.T) {
	t.Parallel()
	for _, want := range []variables{{}, {"A=b"}, {"A=b", "", "C=\xff\"d\n"}} {
		text, err := json.Marshal(want)
		var back variables
		if err != nil || json.Unmarshal(text, &back) != nil || !slices.Equal(back, want) {
			t.Errorf("%q became %q by %s: %v", want, back, text, err)
		}
	}
	if text, err := json.Marshal(variables{"A=b\x00LD_PRELOAD=x"}); err == nil {
		t.Errorf("a variable with NUL is sent: %s", text)
	}
	for _, text := range []string{`"A=b"`, `["A=b"]`, `[]`, `1`} {
		var v variables
		if err := json.Unmarshal([]byte(text), &v); err == nil {
			t.Errorf("%s is read as %q", text, v)
		}
	}
}
