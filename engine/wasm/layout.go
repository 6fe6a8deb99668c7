package wasm

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// How OPA's runtime lays values out in memory (wasm/src/value.h of the release that go.mod names), as
// far as inputs need it. An input that is written in this form need not be parsed, which takes more than
// half of the time of a large decision. OPA promises nothing about the form: a module is used only after
// it has decided a sample alike in this form and as JSON (policies.go).
const (
	valueBoolean = 2
	valueNumber  = 3
	valueString  = 4
	valueArray   = 5
	valueObject  = 6

	numberInt = 1
	numberRef = 2

	booleanSize = 8 // 2, and padding to align the next value
	numberSize  = 24
	stringSize  = 12 // and its bytes
	arraySize   = 16
	elementSize = 8 // an index and a value
	objectSize  = 16
	bucketSize  = 4
	entrySize   = 12 // a key, a value, the next entry of the bucket
)

// layouts is a piece of memory in the making, and the address at which it begins.
type layouts struct {
	b    []byte
	base uint32
}

// take makes room, aligned for anything, and returns its address and its bytes.
func (l *layouts) take(size int) (uint32, []byte) {
	at := len(l.b)
	end := (at + size + 7) &^ 7
	if end > cap(l.b) {
		grown := make([]byte, at, 2*end)
		copy(grown, l.b)
		l.b = grown
	}
	l.b = l.b[:end]
	clear(l.b[at:end])
	return l.base + uint32(at), l.b[at:end]
}

func put(b []byte, at int, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }

func (l *layouts) string(s string) uint32 {
	s = facts.Text(s)
	at, b := l.take(stringSize + len(s))
	b[0] = valueString
	put(b, 4, uint32(len(s)))
	put(b, 8, at+stringSize)
	copy(b[stringSize:], s)
	return at
}

func (l *layouts) integer(n int64) uint32 {
	at, b := l.take(numberSize)
	b[0], b[1] = valueNumber, numberInt
	binary.LittleEndian.PutUint64(b[8:], uint64(n))
	return at
}

func (l *layouts) float(f float64) uint32 {
	if n := int64(f); float64(n) == f {
		return l.integer(n)
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	at, b := l.take(numberSize + len(text))
	b[0], b[1] = valueNumber, numberRef
	put(b, 8, at+numberSize)
	put(b, 12, uint32(len(text)))
	copy(b[numberSize:], text)
	return at
}

// shared are values that every input refers to and that stay in an instance.
type shared struct {
	no, yes, empty, nothing uint32
	indexes                 []uint32
	keys                    map[string]uint32
}

// indexes of arrays up to this length are shared.
const sharedIndexes = 256

// share lays out the constants that inputs share.
func (l *layouts) share(names []string) shared {
	s := shared{keys: make(map[string]uint32, len(names))}
	boolean := func(v byte) uint32 {
		at, b := l.take(booleanSize)
		b[0], b[1] = valueBoolean, v
		return at
	}
	s.no, s.yes = boolean(0), boolean(1)
	s.empty = l.string("")
	at, b := l.take(arraySize)
	b[0], s.nothing = valueArray, at
	for i := range sharedIndexes {
		s.indexes = append(s.indexes, l.integer(int64(i)))
	}
	for _, name := range names {
		s.keys[name] = l.string(name)
	}
	return s
}

// index is a whole number that is not negative.
func (s *shared) index(l *layouts, i int) uint32 {
	if i < len(s.indexes) {
		return s.indexes[i]
	}
	return l.integer(int64(i))
}

// A form lays values of one Go type out as their JSON would be. Forms know the types of facts, and are built
// once for a type.
type form func(l *layouts, s *shared, v reflect.Value) uint32

// formOf also names the keys of all objects.
func formOf(t reflect.Type, names map[string]bool) (form, error) {
	if t == reflect.TypeFor[time.Time]() {
		return func(l *layouts, _ *shared, v reflect.Value) uint32 {
			return l.string(v.Interface().(time.Time).UTC().Format(time.RFC3339Nano))
		}, nil
	}
	switch t.Kind() {
	case reflect.String:
		return func(l *layouts, s *shared, v reflect.Value) uint32 {
			if v.Len() == 0 {
				return s.empty
			}
			return l.string(v.String())
		}, nil
	case reflect.Bool:
		return func(_ *layouts, s *shared, v reflect.Value) uint32 {
			if v.Bool() {
				return s.yes
			}
			return s.no
		}, nil
	case reflect.Int:
		return func(l *layouts, s *shared, v reflect.Value) uint32 {
			n := v.Int()
			if n < 0 {
				return l.integer(n)
			}
			return s.index(l, int(n))
		}, nil
	case reflect.Float64:
		return func(l *layouts, _ *shared, v reflect.Value) uint32 { return l.float(v.Float()) }, nil
	case reflect.Slice:
		return arrayForm(t, names)
	case reflect.Struct:
		return objectForm(t, names)
	default:
		return nil, fmt.Errorf("a %s has no form", t)
	}
}

func arrayForm(t reflect.Type, names map[string]bool) (form, error) {
	element, err := formOf(t.Elem(), names)
	if err != nil {
		return nil, err
	}
	return func(l *layouts, s *shared, v reflect.Value) uint32 {
		n := v.Len()
		if n == 0 {
			return s.nothing
		}
		at, b := l.take(arraySize + n*elementSize)
		b[0] = valueArray
		put(b, 4, at+arraySize)
		put(b, 8, uint32(n))
		put(b, 12, uint32(n))
		offset := int(at-l.base) + arraySize
		for i := range n {
			index, value := s.index(l, i), element(l, s, v.Index(i)) // l.b may move
			put(l.b, offset+i*elementSize, index)
			put(l.b, offset+i*elementSize+4, value)
		}
		return at
	}, nil
}

// hash is opa_string_hash.
func hash(s string) uint32 {
	h := uint32(2166136261)
	for i := range len(s) {
		h *= 16777619
		h ^= uint32(s[i])
	}
	return h
}

func objectForm(t reflect.Type, names map[string]bool) (form, error) {
	n := t.NumField()
	buckets := 8
	for buckets < n+n/2 {
		buckets *= 2
	}
	entries := objectSize + buckets*bucketSize
	fields, keys := make([]form, n), make([]string, n)
	first, next := make([]int, buckets), make([]int, n) // numbers of entries, from 1
	for i := range n {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || options != "" || f.Anonymous || !f.IsExported() {
			return nil, fmt.Errorf("field %s.%s must have a plain JSON name", t, f.Name)
		}
		var err error
		if fields[i], err = formOf(f.Type, names); err != nil {
			return nil, err
		}
		keys[i], names[name] = name, true
		bucket := hash(name) % uint32(buckets)
		next[i], first[bucket] = first[bucket], i+1
	}
	return func(l *layouts, s *shared, v reflect.Value) uint32 {
		at, b := l.take(entries + n*entrySize)
		entry := func(number int) uint32 {
			if number == 0 {
				return 0
			}
			return at + uint32(entries+(number-1)*entrySize)
		}
		b[0] = valueObject
		put(b, 4, at+objectSize)
		put(b, 8, uint32(buckets))
		put(b, 12, uint32(n))
		for i, number := range first {
			put(b, objectSize+i*bucketSize, entry(number))
		}
		offset := int(at-l.base) + entries
		for i := range n {
			value := fields[i](l, s, v.Field(i)) // l.b may move
			b := l.b[offset+i*entrySize:]
			put(b, 0, s.keys[keys[i]])
			put(b, 4, value)
			put(b, 8, entry(next[i]))
		}
		return at
	}, nil
}

// decodeObject reads one JSON object into the values that fields points at, more strictly than
// encoding/json does: every key is known, spelt exactly and there once, no value is null, and
// nothing follows. Keys that are not there leave their values alone.
func decodeObject(text []byte, fields map[string]any) error {
	if !utf8.Valid(text) {
		return errors.New("it is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("it is not a JSON object%s", cause(err))
	}
	seen := map[string]bool{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return fmt.Errorf("it is not JSON%s", cause(err))
		}
		key, _ := t.(string)
		into, known := fields[key]
		switch {
		case !known:
			return fmt.Errorf("unknown key %q: the keys are %s", key,
				strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
		case seen[key]:
			return fmt.Errorf("key %q comes twice", key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return fmt.Errorf("%s: it is not JSON%s", key, cause(err))
		}
		if string(value) == "null" {
			return fmt.Errorf("%s is null: leave the key out", key)
		}
		if err := json.Unmarshal(value, into); err != nil {
			return fmt.Errorf("%s: %w", key, wrongType(err))
		}
	}
	if _, err := d.Token(); err != nil {
		return fmt.Errorf("it is not JSON%s", cause(err))
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the object")
	}
	return nil
}

func cause(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}

// wrongType translates a type error of encoding/json from Go's terms to JSON's.
func wrongType(err error) error {
	var mismatch *json.UnmarshalTypeError
	if !errors.As(err, &mismatch) {
		return err
	}
	want := "a text"
	switch mismatch.Type.String() {
	case "int":
		want = "a whole number"
	case "[]json.RawMessage", "[]string":
		want = "a list"
	case "json.RawMessage":
		want = "an object"
	}
	return fmt.Errorf("it is a %s, not %s", mismatch.Value, want)
}
