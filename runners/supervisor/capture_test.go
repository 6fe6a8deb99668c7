package supervisor

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// checkCapture feeds data in pieces of the given size and checks what every capture promises.
func checkCapture(t *testing.T, data []byte, piece, limit int) {
	t.Helper()
	c := newCapture(limit)
	for rest := data; len(rest) > 0; {
		n := min(piece, len(rest))
		c.Write(rest[:n])
		rest = rest[n:]
	}
	s := c.stream()
	sum := sha256.Sum256(data)
	if s.Bytes != int64(len(data)) || s.SHA256 != hex.EncodeToString(sum[:]) {
		t.Fatalf("%d bytes, sha256 %s", s.Bytes, s.SHA256)
	}
	if !utf8.ValidString(s.Text) {
		t.Fatalf("text %q is not valid", s.Text)
	}
	if len(data) <= limit {
		if s.Dropped != 0 || s.Text != strings.ToValidUTF8(string(data), "\uFFFD") {
			t.Fatalf("within the limit, yet %d dropped, text %q", s.Dropped, s.Text)
		}
		return
	}
	// What is left out lies in the middle: the text is head, note and tail of the data.
	kept := len(data) - int(s.Dropped)
	if kept > limit || kept < limit-2*(utf8.UTFMax-1) {
		t.Fatalf("kept %d bytes of %d", kept, limit)
	}
	note := fmt.Sprintf("[... %d bytes left out ...]\n", s.Dropped)
	head, tail, ok := strings.Cut(s.Text, note)
	head = strings.TrimSuffix(head, "\n")
	begins := strings.HasPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), strings.TrimRight(head, "\uFFFD"))
	ends := strings.HasSuffix(strings.ToValidUTF8(string(data), "\uFFFD"), strings.TrimLeft(tail, "\uFFFD"))
	if !ok || !begins || !ends {
		t.Fatalf("data %q, limit %d: text %q", data, limit, s.Text)
	}
}

func TestCapture(t *testing.T) {
	t.Parallel()
	long := []byte(strings.Repeat("0123456789 äöü 目录 🚪\n", 40))
	for _, data := range [][]byte{nil, []byte("x"), []byte("äöü"), []byte("🚪🚪🚪"), long, {0xff, 0xfe, 'a', 0xc3}, bytes.Repeat([]byte{0x80}, 100)} {
		for _, limit := range []int{0, 1, 2, 3, 4, 5, 7, 8, 16, 63, 64, 100, len(data), len(data) + 1} {
			for _, piece := range []int{1, 2, 3, 7, 64, 10_000} {
				checkCapture(t, data, piece, limit)
			}
		}
	}
}

func FuzzCapture(f *testing.F) {
	f.Add([]byte("0123456789äöü🚪"), uint8(3), uint8(8))
	f.Add([]byte{0xff, 0x80, 0xc3, 0xf0, 0x9f}, uint8(1), uint8(2))
	f.Fuzz(func(t *testing.T, data []byte, piece, limit uint8) {
		checkCapture(t, data, int(piece)+1, int(limit))
	})
}

func BenchmarkCapture(b *testing.B) {
	c := newCapture(1 << 20)
	data := bytes.Repeat([]byte("y\n"), chunk/2)
	b.SetBytes(chunk)
	b.ReportAllocs()
	for b.Loop() {
		c.Write(data)
	}
}
