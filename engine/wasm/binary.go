package wasm

import (
	"errors"
	"math"
	"unicode/utf8"
)

// A reader takes a WebAssembly binary apart. The first thing that is wrong stays in err and all
// further reads return zero, so that callers look once.
type reader struct {
	b   []byte
	at  int
	err error
}

var (
	errShort    = errors.New("it ends too early")
	errInteger  = errors.New("an integer is too long")
	errTrailing = errors.New("a part is longer than its content")
	errName     = errors.New("a name is not UTF-8")
)

func (r *reader) fail(err error) {
	if r.err == nil {
		r.err = err
		r.at = len(r.b)
	}
}

func (r *reader) more() bool { return r.err == nil && r.at < len(r.b) }

func (r *reader) byte() byte {
	if r.at >= len(r.b) {
		r.fail(errShort)
		return 0
	}
	r.at++
	return r.b[r.at-1]
}

func (r *reader) bytes(n uint32) []byte {
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.fail(errShort)
		return nil
	}
	r.at += int(n)
	return r.b[r.at-int(n) : r.at]
}

// u32 reads an unsigned LEB128 number of at most 32 bits.
func (r *reader) u32() uint32 {
	var v uint64
	for shift := 0; shift < 35; shift += 7 {
		c := r.byte()
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			if v > math.MaxUint32 {
				r.fail(errInteger)
				return 0
			}
			return uint32(v)
		}
	}
	r.fail(errInteger)
	return 0
}

// signed reads a signed LEB128 number of at most the given number of bits.
func (r *reader) signed(bits int) int64 {
	var v int64
	for shift := 0; shift < (bits+6)/7*7; shift += 7 {
		c := r.byte()
		v |= int64(c&0x7f) << shift
		if c >= 0x80 {
			continue
		}
		if shift += 7; shift < 64 && c&0x40 != 0 {
			v |= -1 << shift
		}
		if bits < 64 && (v < -1<<(bits-1) || v >= 1<<(bits-1)) {
			break
		}
		if shift > 63 && c != 0 && c != 0x7f { // the last byte of 64 bits holds the sign and nothing else
			break
		}
		return v
	}
	r.fail(errInteger)
	return 0
}

func (r *reader) name() string {
	b := r.bytes(r.u32())
	if !utf8.Valid(b) {
		r.fail(errName)
		return ""
	}
	return string(b)
}

// count reads the length of a list. Every element takes at least a byte, so that a length which
// the rest cannot hold is refused before anything is made of it.
func (r *reader) count() uint32 {
	n := r.u32()
	if uint64(n) > uint64(len(r.b)-r.at) {
		r.fail(errShort)
		return 0
	}
	return n
}

// end fails if something is left.
func (r *reader) end() {
	if r.more() {
		r.fail(errTrailing)
	}
}

// A writer puts a binary together, each number in its shortest form. The content of a module is read and
// written anew, number by number, so that the running module is the inspected one.
type writer struct{ b []byte }

func (w *writer) byte(b ...byte) { w.b = append(w.b, b...) }

func (w *writer) u32(v uint32) {
	for v >= 0x80 {
		w.b = append(w.b, byte(v)|0x80)
		v >>= 7
	}
	w.b = append(w.b, byte(v))
}

func (w *writer) signed(v int64) {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			w.b = append(w.b, c)
			return
		}
		w.b = append(w.b, c|0x80)
	}
}

func (w *writer) name(s string) { w.vector([]byte(s)) }

// vector writes the length of b and b.
func (w *writer) vector(b []byte) {
	w.u32(uint32(len(b)))
	w.b = append(w.b, b...)
}

// gap leaves room for a cost that is known later; fill writes it there.
func (w *writer) gap() int {
	w.b = append(w.b, make([]byte, gapSize)...)
	return len(w.b) - gapSize
}

const (
	gapSize = 4
	maxCost = 1<<(7*gapSize-1) - 1
)

func (w *writer) fill(at int, cost int) {
	cost = min(cost, maxCost)
	for i := range gapSize {
		w.b[at+i] = byte(cost>>(7*i)) & 0x7f
		if i < gapSize-1 {
			w.b[at+i] |= 0x80
		}
	}
}
