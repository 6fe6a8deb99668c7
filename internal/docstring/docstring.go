// Package docstring reads the documentation of a Python source: signatures and docstrings. It
// reads text and runs nothing, so that reading a module has none of its effects.
//
// It knows as much of the language as that takes: tokens, indentation, and the headers of functions and
// classes. It does not check whether the rest is valid Python, and it takes the syntax of any Python 3,
// that of nested f-strings included. Two things in a docstring stay as they are written, because their
// meaning is in tables that are not here: characters by name (\N{…}) and unpaired surrogates.
package docstring

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Entry is a module, class or function and its documentation.
type Entry struct {
	Name      string `json:"name"`      // "f", "Class.method", "outer.inner"; "" for the module
	Kind      string `json:"kind"`      // "module", "class", "function" or "method"
	Signature string `json:"signature"` // "async def f(x: int = 1) -> str", on one line; "" for the module
	Docstring string `json:"docstring"` // indentation removed as PEP 257 says; "" where there is none
	Line      int    `json:"line"`      // where it is defined, from 1
}

// ErrNotFound is wrapped by the error for a name that the source does not define.
var ErrNotFound = errors.New("not defined there")

// Find returns the documentation of a function, a class or a method ("Class.method"), or of the module itself
// (""). A name that is defined several times (a property and its setter, overloads, the branches of an if) is
// the last of those that have a docstring, or the last of all.
func Find(source []byte, name string) (Entry, error) {
	m, err := parse(source)
	if err != nil {
		return Entry{}, err
	}
	if name == "" {
		return Entry{Kind: "module", Docstring: clean(m.doc), Line: 1}, nil
	}
	at := -1
	for i := range m.definitions {
		d := &m.definitions[i]
		if m.isNamed(d, name) && (at < 0 || d.documented || !m.definitions[at].documented) {
			at = i
		}
	}
	if at < 0 {
		return Entry{}, fmt.Errorf("%s: %w: %s", name, ErrNotFound, m.offer(name))
	}
	return m.entry(&m.definitions[at]), nil
}

// Bounds of the suggestions of an error.
const (
	offered     = 20  // names
	offeredName = 200 // bytes of one
)

// offer suggests similar names.
func (m *module) offer(name string) string {
	var same, names []string
	for i := range m.definitions {
		d := &m.definitions[i]
		if len(d.name) > offeredName || len(same) == offered {
			continue
		}
		full := ""
		if d.name == name || len(names) <= offered && !d.inner && !strings.HasPrefix(d.name, "_") {
			full = m.fullName(d)
		}
		switch {
		case full == "" || len(full) > offeredName:
		case d.name == name && !slices.Contains(same, full):
			same = append(same, full)
		case !d.inner && len(names) <= offered && !slices.Contains(names, full):
			names = append(names, full)
		}
	}
	switch {
	case len(same) > 0:
		return "use " + strings.Join(same, " or ")
	case len(names) == 0:
		return "the source defines no function and no class"
	case len(names) > offered:
		return "it defines " + strings.Join(names[:offered], ", ") + " and more"
	}
	return "it defines " + strings.Join(names, ", ")
}

// Functions returns the public functions of a module, those with names that start with no underscore, in the
// order in which they are defined.
func Functions(source []byte) ([]Entry, error) {
	m, err := parse(source)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	var out []Entry
	for j := range m.definitions {
		d := &m.definitions[j]
		if d.kind != "function" || strings.HasPrefix(d.name, "_") || d.around >= 0 {
			continue
		}
		i, again := at[d.name]
		switch {
		case !again:
			at[d.name] = len(out)
			out = append(out, m.entry(d))
		case d.documented || out[i].Docstring == "":
			out[i] = m.entry(d)
		}
	}
	return out, nil
}

func (m *module) entry(d *definition) Entry {
	return Entry{Name: m.fullName(d), Kind: d.kind, Signature: d.signature, Docstring: clean(d.doc),
		Line: d.line}
}
