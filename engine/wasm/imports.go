package wasm

import (
	"errors"
	"fmt"
)

// importing keeps functions, adds the tick, and turns an imported memory into the module's own.
func (m *meter) importing(r *reader, w *writer) {
	functions := &writer{}
	for range r.count() {
		i := imported{r.name(), r.name()}
		switch kind := r.byte(); kind {
		case kindFunc:
			t := r.u32()
			if m.reach.keeps(m.imported) {
				functions.name(i.module)
				functions.name(i.name)
				functions.byte(kindFunc)
				functions.u32(t)
				m.imports = append(m.imports, i)
				m.tick++
			}
			m.imported++
		case kindMemory:
			if m.out[secMemory] == nil {
				m.out[secMemory] = &writer{}
			}
			m.least = m.limits(r, m.out[secMemory], "memory", m.pages)
			m.memories++
		default:
			r.fail(fmt.Errorf("%s is a table or a global: only functions can be imported", i))
			return
		}
		if r.err != nil {
			return
		}
	}
	added := m.replacements(r)
	w.u32(m.tick + 1 + uint32(len(m.hosted)))
	w.byte(functions.b...)
	w.name(tickModule)
	w.name(tickName)
	w.byte(kindFunc)
	w.u32(uint32(len(m.params)))
	w.byte(added...)
}

// replacements are the imports of the host's functions that do the work of some of the module's.
func (m *meter) replacements(r *reader) []byte {
	if len(m.replace) == 0 {
		return nil
	}
	types := m.functionTypes()
	w := &writer{}
	found := false
	m.eachName(func(index uint32, name string) {
		found = true
		host, ok := m.replace[name]
		own := int64(index) - int64(m.imported)
		if !ok || own < 0 || own >= int64(len(types)) {
			return
		}
		if _, twice := m.hosted[index]; twice {
			return
		}
		m.hosted[index] = m.tick + 1 + uint32(len(m.hosted))
		w.name(tickModule)
		w.name(host)
		w.byte(kindFunc)
		w.u32(types[own])
	})
	if !found {
		r.fail(errors.New("the module names no functions: build it without stripping names"))
	}
	return w.b
}

// functionTypes looks ahead at the types of the module's own functions.
func (m *meter) functionTypes() []uint32 {
	section := m.sections[secFunction]
	if section == nil {
		return nil
	}
	r := &reader{b: section.b}
	types := make([]uint32, r.count())
	for i := range types {
		types[i] = r.u32()
	}
	return types
}

// function is the new index of a function: those of the module's own make room for the host's.
func (m *meter) function(i uint32) uint32 {
	m.reach.note(i)
	place := m.reach.place(i)
	if i >= m.imported {
		return place + 1 + uint32(len(m.hosted))
	}
	return place
}
