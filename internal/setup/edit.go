package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// format is how a file is written.
type format string

const (
	formatJSON format = "json" // with the comments and trailing commas that some agents allow
	formatTOML format = "toml"
	formatYAML format = "yaml"
)

// edit gives one key of a file a value.
type edit struct {
	Path  []string `json:"path"`
	Value any      `json:"value"` // as encoding/json has it
	// Gone removes the key instead, and the tables that are empty then.
	Gone bool `json:"gone,omitempty"`
	// Among adds the elements of Value to a list, or with Gone takes them out, and leaves the others alone.
	Among bool `json:"among,omitempty"`

	elements []any // of Among: those that are added or, with drop, taken out
	drop     bool
}

// decode reads a file into maps, lists and values as encoding/json has them. An empty file is an empty map.
func decode(f format, text []byte) (map[string]any, error) {
	out := map[string]any{}
	if len(bytes.TrimSpace(text)) == 0 {
		return out, nil
	}
	var err error
	switch f {
	case formatJSON:
		var plain []byte
		if plain, err = hujson.Standardize(slices.Clone(text)); err == nil {
			err = json.Unmarshal(plain, &out)
		}
	case formatTOML:
		err = toml.Unmarshal(text, &out)
	case formatYAML:
		err = yaml.Unmarshal(text, &out)
	}
	if err != nil {
		return nil, err
	}
	again, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	out = nil
	if err := json.Unmarshal(again, &out); err != nil {
		return nil, err
	}
	if out == nil {
		return nil, errors.New("it holds null")
	}
	return out, nil
}

// plain is a value as encoding/json has it.
func plain(v any) (out any) {
	text, err := json.Marshal(v)
	if err != nil || json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

// get finds a value by its path.
func get(in map[string]any, path []string) (any, bool) {
	v, ok := in[path[0]]
	if !ok || len(path) == 1 {
		return v, ok
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return nil, false
	}
	return get(inner, path[1:])
}

// put returns the map with one value changed, and the one it was made of as it is.
func put(in map[string]any, path []string, v any, gone bool) (map[string]any, error) {
	out := maps.Clone(in)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) == 1 {
		if gone {
			delete(out, path[0])
		} else {
			out[path[0]] = v
		}
		return out, nil
	}
	inner, isMap := out[path[0]].(map[string]any)
	if _, there := out[path[0]]; there && !isMap {
		return nil, fmt.Errorf("%s is no table there", path[0])
	}
	if gone && !isMap {
		return out, nil
	}
	changed, err := put(inner, path[1:], v, gone)
	if err != nil {
		return nil, err
	}
	if out[path[0]] = changed; gone && len(changed) == 0 {
		delete(out, path[0])
	}
	return out, nil
}

// resolve makes an edit of a whole list from one of elements in it. nil means that there is nothing to do.
func (e edit) resolve(in map[string]any) (*edit, error) {
	now, there := get(in, e.Path)
	if !e.Among {
		if e.Gone && !there || !e.Gone && there && reflect.DeepEqual(now, plain(e.Value)) {
			return nil, nil
		}
		return &edit{Path: e.Path, Value: plain(e.Value), Gone: e.Gone}, nil
	}
	list, isList := now.([]any)
	if there && !isList {
		return nil, fmt.Errorf("%s is no list there", e.Path[len(e.Path)-1])
	}
	given, _ := plain(e.Value).([]any)
	next := slices.Clone(list)
	for _, v := range given {
		at := slices.IndexFunc(next, func(x any) bool { return reflect.DeepEqual(x, v) })
		switch {
		case e.Gone && at >= 0:
			next = slices.Delete(next, at, at+1)
		case !e.Gone && at < 0:
			next = append(next, v)
		}
	}
	if len(next) == len(list) {
		return nil, nil
	}
	do := &edit{Path: e.Path, Value: next, Gone: e.Gone && len(next) == 0}
	if there {
		do.elements, do.drop = given, e.Gone
	}
	return do, nil
}

// reverse is the edit that takes another back, made from the file before it.
func (e edit) reverse(before map[string]any) edit {
	old, there := get(before, e.Path)
	if !e.Among {
		return edit{Path: e.Path, Value: old, Gone: !there}
	}
	was, _ := old.([]any)
	var added []any
	given, _ := plain(e.Value).([]any)
	for _, v := range given {
		if !slices.ContainsFunc(was, func(x any) bool { return reflect.DeepEqual(x, v) }) {
			added = append(added, v)
		}
	}
	return edit{Path: e.Path, Value: added, Gone: true, Among: true}
}

// apply edits a text and leaves all of it alone that the edits do not name: other keys, their order,
// comments. It returns the text as it is if there is nothing to do. A result that does not read back as
// exactly these edits of the former text is an error: a form of the file that the editor does not know is not
// damaged.
func apply(f format, text []byte, edits []edit) ([]byte, error) {
	was, err := decode(f, text)
	if err != nil {
		return nil, fmt.Errorf("it is not valid %s (%w): correct it first", f, err)
	}
	out, want := text, was
	for _, e := range edits {
		do, err := e.resolve(want)
		if err != nil {
			return nil, err
		}
		if do == nil {
			continue
		}
		if want, err = put(want, do.Path, do.Value, do.Gone); err != nil {
			return nil, err
		}
		if f == formatJSON {
			out, err = editJSON(out, *do)
		} else {
			out, err = editLines(f, out, *do)
		}
		if err != nil {
			return nil, err
		}
	}
	got, err := decode(f, out)
	if err != nil || !reflect.DeepEqual(got, want) {
		return nil, errForm
	}
	return out, nil
}
