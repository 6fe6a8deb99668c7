package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// Entries are elements of lists in a JSON file of an agent, such as hooks.
type Entries struct {
	File   string
	Always map[string]any // top-level keys that such a file needs
	Lists  []Entry
	// Mark is a text that all elements of ours contain, and no others.
	Mark string
}

// Entry is the wanted element of one list.
type Entry struct {
	Path  []string
	Value any
}

// Install plans the change that puts the entries into the file, once and in place of older ones of ours; nil
// if they are there.
func (s Entries) Install() (*Change, error) { return s.plan(true) }

// Remove plans the change that takes all entries of ours out of the file; nil if there are none.
func (s Entries) Remove() (*Change, error) { return s.plan(false) }

// Installed returns the entries of ours in the file.
func (s Entries) Installed() ([]any, error) {
	now, err := s.read()
	if err != nil {
		return nil, err
	}
	var out []any
	for _, e := range s.Lists {
		out = append(out, s.ours(now, e.Path)...)
	}
	return out, nil
}

// Keys plans the change that gives keys of a JSON file their values or, without install, takes out those that
// have them; nil if there is nothing to do.
func Keys(file string, keys []Entry, install bool) (*Change, error) {
	p := place{file: file, format: formatJSON}
	for _, k := range keys {
		now, err := At(file, k.Path)
		if err != nil {
			return nil, err
		}
		if same := reflect.DeepEqual(now, plain(k.Value)); same != install {
			p.edits = append(p.edits, edit{Path: k.Path, Value: k.Value, Gone: !install})
		}
	}
	if len(p.edits) == 0 {
		return nil, nil
	}
	return plan(p, nil)
}

// Text plans the change that makes a file of ours or, without install, removes it; nil if there is nothing to
// do. A file without the mark is not ours and an error.
func Text(file, mark, text string, install bool) (*Change, error) {
	real, before, err := read(file)
	switch {
	case err != nil:
		return nil, err
	case before != nil && !strings.Contains(string(before), mark) && install:
		return nil, fmt.Errorf("%s is not a file of sallyport: move it away first", file)
	case before == nil && !install, before != nil && !strings.Contains(string(before), mark):
		return nil, nil
	case install && string(before) == text && before != nil:
		return nil, nil
	}
	c := &Change{File: real, Before: before}
	if install {
		c.After = []byte(text)
	}
	return c, nil
}

// At returns a value of a settings file in JSON or, by its name, TOML; nil for none.
func At(file string, key []string) (any, error) {
	real, text, err := read(file)
	if err != nil {
		return nil, err
	}
	form := formatJSON
	if filepath.Ext(file) == ".toml" {
		form = formatTOML
	}
	all, err := decode(form, text)
	if err != nil {
		return nil, fmt.Errorf("%s: it is not valid %s (%w): correct it first", real, form, err)
	}
	v, _ := get(all, key)
	return v, nil
}

func (s Entries) read() (now map[string]any, err error) {
	file, text, err := read(s.File)
	if err != nil {
		return nil, err
	}
	if now, err = decode(formatJSON, text); err != nil {
		return nil, fmt.Errorf("%s: it is not valid json (%w): correct it first", file, err)
	}
	return now, nil
}

func (s Entries) ours(in map[string]any, path []string) (out []any) {
	v, _ := get(in, path)
	list, _ := v.([]any)
	for _, one := range list {
		if text, err := json.Marshal(one); err == nil && strings.Contains(string(text), s.Mark) {
			out = append(out, one)
		}
	}
	return out
}

func (s Entries) plan(install bool) (*Change, error) {
	now, err := s.read()
	if err != nil {
		return nil, err
	}
	p := place{file: s.File, format: formatJSON}
	for _, e := range s.Lists {
		old := s.ours(now, e.Path)
		if install {
			old = slices.DeleteFunc(old, func(v any) bool { return reflect.DeepEqual(v, plain(e.Value)) })
		}
		if len(old) > 0 {
			p.edits = append(p.edits, edit{Path: e.Path, Value: old, Among: true, Gone: true})
		}
		if install {
			p.edits = append(p.edits, edit{Path: e.Path, Value: []any{e.Value}, Among: true})
		}
	}
	for key, v := range s.Always {
		if _, there := now[key]; install && !there {
			p.edits = append(p.edits, edit{Path: []string{key}, Value: v})
		}
	}
	if len(p.edits) == 0 {
		return nil, nil
	}
	c, err := plan(p, nil)
	if c != nil && !install && s.empty(c.After) {
		c.After = nil
	}
	return c, err
}

// empty reports whether a file has nothing but the keys that it always has, and no comment.
func (s Entries) empty(text []byte) bool {
	var left map[string]any
	if json.Unmarshal(bytes.TrimSpace(text), &left) != nil {
		return false
	}
	for key := range s.Always {
		delete(left, key)
	}
	return len(left) == 0
}
