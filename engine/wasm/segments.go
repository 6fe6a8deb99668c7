package wasm

import "fmt"

// The initial state of a module: constants, elements of tables, data, names.

// constant copies a constant expression.
func (m *meter) constant(r *reader, w *writer) {
	for r.err == nil {
		op := r.byte()
		w.byte(op)
		switch op {
		case opEnd:
			return
		case opI32Const:
			w.signed(r.signed(32))
		case opI64Const:
			w.signed(r.signed(64))
		case opF32Const:
			w.byte(r.bytes(4)...)
		case opF64Const:
			w.byte(r.bytes(8)...)
		case opRefNull:
			w.byte(m.reference(r))
		case opRefFunc:
			w.u32(m.function(r.u32()))
		case opGlobalGet:
			w.u32(m.global(r))
		default:
			r.fail(fmt.Errorf("instruction %#x cannot stand in a constant", op))
		}
	}
}

// global reads the index of a global of the module's own, which the counter is not.
func (m *meter) global(r *reader) uint32 {
	i := r.u32()
	if i >= m.declared {
		r.fail(fmt.Errorf("global %d does not exist", i))
	}
	return i
}

// Bits of the kind of an element segment.
const (
	elemPassive  = 1 // passive or declarative
	elemExplicit = 2 // active: names its table; otherwise: declarative
	elemExprs    = 4 // holds expressions, not indexes
)

func (m *meter) elements(r *reader, w *writer) {
	n := r.count()
	w.u32(n)
	for range n {
		kind := r.u32()
		if kind > elemPassive|elemExplicit|elemExprs {
			r.fail(fmt.Errorf("a segment of kind %d is not known", kind))
		}
		if r.err != nil {
			return
		}
		w.u32(kind)
		if kind&elemPassive == 0 {
			if kind&elemExplicit != 0 {
				w.u32(r.u32())
			}
			m.constant(r, w)
		}
		if kind&(elemPassive|elemExplicit) != 0 {
			w.byte(r.byte()) // the kind or type of the elements
		}
		count := r.count()
		w.u32(count)
		for range count {
			if kind&elemExprs != 0 {
				m.constant(r, w)
			} else {
				w.u32(m.function(r.u32()))
			}
			if r.err != nil {
				return
			}
		}
	}
}

func (m *meter) data(r *reader, w *writer) {
	n := r.count()
	w.u32(n)
	for range n {
		kind := r.u32()
		w.u32(kind)
		switch kind {
		case 0:
			m.constant(r, w)
		case 1:
		case 2:
			w.u32(r.u32())
			m.constant(r, w)
		default:
			r.fail(fmt.Errorf("a segment of kind %d is not known", kind))
		}
		if r.err != nil {
			return
		}
		w.vector(r.bytes(r.u32()))
	}
}

// functionNames is the name section with the names of functions under their new indexes; nil where
// there are none. They are for stack traces.
func (m *meter) functionNames() []byte {
	list, n := &writer{}, uint32(0)
	m.reach.calls = nil // a name is no reference
	m.eachName(func(index uint32, name string) {
		if !m.reach.keeps(index) {
			return
		}
		list.u32(m.function(index))
		list.name(name)
		n++
	})
	if n == 0 {
		return nil
	}
	names := &writer{}
	names.u32(n)
	names.byte(list.b...)
	w := &writer{}
	w.name("name")
	w.byte(ofFunctions)
	w.vector(names.b)
	return w.b
}

// ofFunctions is the part of the name section that names functions.
const ofFunctions = 1

// eachName goes through the names of functions. A section that cannot be read breaks nothing, and
// names nothing.
func (m *meter) eachName(each func(index uint32, name string)) {
	type named struct {
		index uint32
		name  string
	}
	var all []named
	for r := (&reader{b: m.names}); r.more(); {
		id := r.byte()
		list := &reader{b: r.bytes(r.u32())}
		if id != ofFunctions || r.err != nil {
			continue
		}
		for range list.count() {
			all = append(all, named{list.u32(), list.name()})
		}
		if list.end(); list.err != nil {
			return
		}
	}
	for _, n := range all {
		each(n.index, n.name)
	}
}
