package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

// MaxEvent is the length of the longest event that is read, in bytes.
const MaxEvent = 16 << 20

// Event is one event of a host: a call of a tool before it runs, or after.
type Event struct {
	Name    string
	Session string
	Dir     string // the working directory of the host
	Tool    string
	Call    string // the host's name of the call; "" where it has none
	Input   map[string]any
	After   bool
	home    string
	// attended: see Options.
	attended bool
	all      map[string]any
}

// Read reads an event. All that is not exactly an event of this host is an error.
func (h *Host) Read(from io.Reader) (Event, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxEvent+1))
	switch {
	case err != nil:
		return Event{}, fmt.Errorf("read event: %w", err)
	case len(text) > MaxEvent:
		return Event{}, fmt.Errorf("read event: it is longer than %d bytes", MaxEvent)
	}
	return h.Parse(text)
}

// Parse reads the text of an event.
func (h *Host) Parse(text []byte) (Event, error) {
	e, err := h.parse(text)
	if err != nil {
		return Event{}, fmt.Errorf("read event: %w", err)
	}
	return e, nil
}

func (h *Host) parse(text []byte) (e Event, err error) {
	if !utf8.Valid(text) {
		return e, errors.New("it is not UTF-8")
	}
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	if err := from.Decode(&e.all); err != nil {
		return e, fmt.Errorf("it is not a JSON object: %w", err)
	}
	if _, err := from.Token(); !errors.Is(err, io.EOF) {
		return e, errors.New("more text follows the JSON object")
	}
	for _, part := range []struct {
		at     string
		into   *string
		needed bool
	}{
		{h.Event.Name, &e.Name, true}, {h.Event.Session, &e.Session, false}, {h.Event.Dir, &e.Dir, false},
		{h.Event.Tool, &e.Tool, true}, {h.Event.Call, &e.Call, false},
	} {
		if *part.into, err = textAt(e.all, part.at, part.needed); err != nil {
			return e, err
		}
	}
	if _, e.After = h.After[e.Name]; !e.After && !slices.Contains(h.Before, e.Name) {
		return e, fmt.Errorf("%s %q is not an event that sallyport answers: it answers %s",
			h.Event.Name, e.Name, strings.Join(h.Before, ", "))
	}
	if before := h.Pairs[e.Name]; before != "" {
		e.Tool = before
	}
	if e.Input = e.all; h.Event.Input != "" {
		e.Input, err = object(e.all, h.Event.Input)
		if text, ok := e.all[h.Event.Input].(string); err != nil && ok && h.Event.Text {
			e.Tool, e.Input, err = e.Tool+" text", map[string]any{"text": text}, nil
		}
		if err != nil {
			return e, err
		}
	}
	return e, nil
}

// object is an object of an event. Some hosts send it as JSON in a text.
func object(in map[string]any, path string) (map[string]any, error) {
	v, _ := at(in, path)
	if text, ok := v.(string); ok {
		from := json.NewDecoder(strings.NewReader(text))
		from.UseNumber()
		var inner map[string]any
		if err := from.Decode(&inner); err != nil || from.More() {
			return nil, fmt.Errorf("%s is a text, and not that of a JSON object", path)
		}
		v = inner
	}
	inner, ok := v.(map[string]any)
	if !ok || inner == nil {
		return nil, fmt.Errorf("%s is not a JSON object", path)
	}
	return inner, nil
}

// at finds a value; a dot in the path goes into an object.
func at(in map[string]any, path string) (any, bool) {
	first, rest, deeper := strings.Cut(path, ".")
	v, ok := in[first]
	if !ok || !deeper {
		return v, ok
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	return at(inner, rest)
}

// textsAt is a list of texts of an event, or nothing without a path.
func textsAt(in map[string]any, path string) (out []string, err error) {
	if path == "" {
		return nil, nil
	}
	v, _ := at(in, path)
	list, ok := v.([]any)
	if !ok || len(list) == 0 {
		return nil, fmt.Errorf("%s is not a list with an element", path)
	}
	for _, one := range list {
		s, ok := one.(string)
		if !ok || s == "" {
			return nil, fmt.Errorf("%s has an element that is not a text", path)
		}
		out = append(out, s)
	}
	return out, nil
}

// textAt is a text of an event. One that is not there is an error only if it is needed.
func textAt(in map[string]any, path string, needed bool) (string, error) {
	if path == "" {
		return "", nil
	}
	v, ok := at(in, path)
	if !ok || v == nil {
		if needed {
			return "", fmt.Errorf("%s is missing", path)
		}
		return "", nil
	}
	s, ok := v.(string)
	if !ok {
		return "", fmt.Errorf("%s is not a text", path)
	}
	if s == "" && needed {
		return "", fmt.Errorf("%s is empty", path)
	}
	return s, nil
}
