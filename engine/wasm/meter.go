package wasm

import (
	"errors"
	"fmt"
	"strconv"
)

// Metering rewrites a module before it is compiled:
//
//   - A counter of steps is added, and code at the head of every function and loop that takes the
//     price of one passage from it; bulk instructions are charged by their number of bytes.
//     When the counter is spent the module calls the host, which ends it or lets it go on. This
//     makes calls a fifth slower (Go, compiled); the runtime's own way to stop a module at a
//     deadline makes them three to five times as slow. Without either, a loop would stop the whole
//     process at its next garbage collection.
//   - Selected functions are replaced by host calls (policy.go).
//   - Tables and memories get the limits of this package.
//   - The module's idea of how large its memory is becomes a global of its own. The memory itself may
//     be larger, so that a module which grows it a little for each call can be put back: the real
//     size cannot.
//   - Mutable globals are exported, so that an instance can be put back to where it began.
//   - Function names are kept for stack traces; all other custom sections are dropped.
const (
	tickModule = "sallyport" // of the function that the host is asked by
	tickName   = "tick"
	globalName = "sallyport.global." // with the index: the names under which mutable globals are exported
	maxTable   = 1 << 17             // entries of a table
	maxTables  = 8
	maxTypes   = 1 << 16
)

// A metered module and the facts that were gathered while it was rewritten.
type metered struct {
	binary  []byte
	native  bool // it is an error to interpret it
	imports []imported
	exports map[string]byte // name to kind
	globals []string        // exported names of the mutable globals
	// lasting names the state of the module that cannot be reset; "" for none.
	lasting string
}

type imported struct{ module, name string }

func (i imported) String() string { return i.module + "." + i.name }

// meter is the rewriting of one module.
type meter struct {
	metered
	sections  map[byte]*reader
	names     []byte // the name section
	params    []int  // number of parameters of each type
	functions []uint32
	pages     uint32 // limit of the memory
	memories  int
	replace   map[string]string // functions of the module, by name, that the host replaces; and the host's names
	imported  uint32            // functions that the module imports
	tick      uint32            // index of the tick: after the imports that are kept
	hosted    map[uint32]uint32 // index of a replaced function to that of the host's
	mutable   []uint32          // indexes of the mutable globals
	declared  uint32            // globals; also the index of the counter, after which comes the size of the memory
	least     uint32            // pages with which the memory begins
	out       map[byte]*writer
	reach     reach
	begin     uint32 // pages that the memory has at least from the beginning
}

// rewrite makes a metered module with a memory of at most the given number of pages. replace names functions
// of the module and their replacements by the host.
func rewrite(binary []byte, pages uint32, replace map[string]string) (*metered, error) {
	m := newMeter(pages, replace)
	return &m.metered, m.rewrite(binary)
}

func newMeter(pages uint32, replace map[string]string) *meter {
	return &meter{
		metered: metered{exports: map[string]byte{}}, sections: map[byte]*reader{}, pages: pages,
		out:     map[byte]*writer{},
		replace: replace, hosted: map[uint32]uint32{},
	}
}

func (m *meter) rewrite(binary []byte) error {
	if err := m.split(binary); err != nil {
		return err
	}
	for _, part := range []struct {
		id   byte
		name string
		do   func(*reader, *writer)
	}{
		{secType, "types", m.types}, {secImport, "imports", m.importing},
		{secFunction, "functions", m.declarations},
		{secTable, "tables", m.tables}, {secMemory, "memory", m.memory}, {secGlobal, "globals", m.globalsOf},
		{secExport, "exports", m.exporting}, {secStart, "start", m.start}, {secElement, "elements", m.elements},
		{secDataCount, "data count", m.dataCount}, {secCode, "code", m.code}, {secData, "data", m.data},
	} {
		r, w := m.sections[part.id], &writer{}
		if r == nil {
			r = &reader{b: nil}
			if part.id == secDataCount || part.id == secStart {
				continue // these are no lists: absent is not empty
			}
			r.b = []byte{0}
		}
		part.do(r, w)
		r.end()
		if r.err != nil {
			return fmt.Errorf("%s: %w", part.name, r.err)
		}
		m.out[part.id] = w
	}
	m.join()
	return nil
}

func (m *meter) split(binary []byte) error {
	if len(binary) < len(header) || string(binary[:len(header)]) != header {
		return errors.New("it is not a WebAssembly module of version 1")
	}
	r := &reader{b: binary, at: len(header)}
	for r.more() {
		id := r.byte()
		content := &reader{b: r.bytes(r.u32())}
		switch {
		case r.err != nil:
		case id == secCustom:
			if content.name() == "name" {
				m.names = content.b[content.at:]
			}
		case id > secDataCount:
			return fmt.Errorf("section %d is not known: compile for WebAssembly 2.0 without later extensions", id)
		case m.sections[id] != nil:
			return fmt.Errorf("section %d comes twice", id)
		default:
			m.sections[id] = content
		}
	}
	return r.err
}

// join puts the sections together in m.binary.
func (m *meter) join() {
	w := &writer{b: []byte(header)}
	for _, id := range order {
		if out := m.out[id]; out != nil {
			w.byte(id)
			w.vector(out.b)
		}
	}
	if names := m.functionNames(); names != nil {
		w.byte(secCustom)
		w.vector(names)
	}
	m.binary = w.b
}

func (m *meter) types(r *reader, w *writer) {
	n := r.count()
	if n > maxTypes {
		r.fail(errors.New("too many"))
		return
	}
	w.u32(n + 1)
	for range n {
		if r.byte() != funcType {
			r.fail(errors.New("a type is not that of a function"))
			return
		}
		params, results := r.bytes(r.u32()), r.bytes(r.u32())
		m.params = append(m.params, len(params))
		w.byte(funcType)
		w.vector(params)
		w.vector(results)
	}
	w.byte(funcType, 0, 1, valI64) // of the tick
}

func (m *meter) declarations(r *reader, w *writer) {
	list, kept := &writer{}, uint32(0)
	for i := range r.count() {
		f := r.u32()
		m.functions = append(m.functions, f)
		if m.reach.keeps(m.imported + i) {
			list.u32(f)
			kept++
		}
	}
	w.u32(kept)
	w.byte(list.b...)
}

// limits bounds a memory or a table and returns the size with which it begins.
func (m *meter) limits(r *reader, w *writer, what string, most uint32) uint32 {
	flag := r.byte()
	if flag > hasMaximum {
		r.fail(fmt.Errorf("a %s is shared or has 64 bits: compile without threads and for 32 bits", what))
		return 0
	}
	low, high := r.u32(), most
	if flag == hasMaximum {
		high = min(r.u32(), most)
	}
	if low > most {
		r.fail(fmt.Errorf("a %s begins with a size of %d, the limit is %d", what, low, most))
		return 0
	}
	if what == "memory" {
		low = min(max(low, m.begin), high)
	}
	w.byte(hasMaximum)
	w.u32(low)
	w.u32(high)
	return low
}

func (m *meter) tables(r *reader, w *writer) {
	n := r.count()
	if n > maxTables {
		r.fail(fmt.Errorf("%d, the limit is %d", n, maxTables))
		return
	}
	w.u32(n)
	for range n {
		w.byte(m.reference(r))
		m.limits(r, w, "table", maxTable)
	}
}

func (m *meter) reference(r *reader) byte {
	t := r.byte()
	if t != refFunc && t != refExtern {
		r.fail(fmt.Errorf("reference type %#x is not known", t))
	}
	return t
}

func (m *meter) memory(r *reader, w *writer) {
	own := r.count()
	w.u32(own + uint32(m.memories))
	if taken := m.out[secMemory]; taken != nil {
		w.byte(taken.b...)
	}
	for range own {
		m.least = m.limits(r, w, "memory", m.pages)
	}
}

func (m *meter) globalsOf(r *reader, w *writer) {
	n := r.count()
	m.declared = n
	w.u32(n + 2)
	for i := range n {
		t, mutable := r.byte(), r.byte()
		w.byte(t, mutable)
		m.constant(r, w)
		switch {
		case mutable == 0:
		case t == refFunc || t == refExtern:
			m.lasting = "a global that holds a reference"
		default:
			m.mutable = append(m.mutable, i)
		}
	}
	w.byte(valI64, 1, opI64Const, 0, opEnd) // the counter: the first passage asks the host
	w.byte(valI32, 1, opI32Const)
	w.signed(int64(m.least))
	w.byte(opEnd)
	m.mutable = append(m.mutable, m.size())
}

// size is the index of the global that holds the size of the memory, in pages.
func (m *meter) size() uint32 { return m.declared + 1 }

func (m *meter) exporting(r *reader, w *writer) {
	n := r.count()
	list := &writer{}
	for range n {
		name, kind, index := r.name(), r.byte(), r.u32()
		switch kind {
		case kindFunc:
			index = m.function(index)
		case kindGlobal:
			if index >= m.declared {
				r.fail(fmt.Errorf("%q is a global that does not exist", name))
			}
		}
		m.exports[name] = kind
		list.name(name)
		list.byte(kind)
		list.u32(index)
	}
	for _, i := range m.mutable {
		name := globalName + strconv.FormatUint(uint64(i), 10)
		m.globals = append(m.globals, name)
		list.name(name)
		list.byte(kindGlobal)
		list.u32(i)
		n++
	}
	if _, ok := m.exports[exportMemory]; !ok && m.memories > 0 {
		m.exports[exportMemory] = kindMemory
		list.name(exportMemory)
		list.byte(kindMemory, 0)
		n++
	}
	w.u32(n)
	w.byte(list.b...)
}

func (m *meter) start(r *reader, w *writer) { w.u32(m.function(r.u32())) }

func (m *meter) dataCount(r *reader, w *writer) { w.u32(r.u32()) }
