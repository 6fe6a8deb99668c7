package wasm

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

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
			return fmt.Errorf("unknown key %q: the keys are %s", key, strings.Join(slices.Sorted(maps.Keys(fields)), ", "))
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
