package wasm

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

func (m *meter) code(r *reader, w *writer) {
	n := r.count()
	if int(n) != len(m.functions) {
		r.fail(fmt.Errorf("%d bodies for %d functions", n, len(m.functions)))
		return
	}
	list, kept := &writer{}, uint32(0)
	for i, t := range m.functions {
		if int(t) >= len(m.params) {
			r.fail(fmt.Errorf("type %d does not exist", t))
			return
		}
		body := &reader{b: r.bytes(r.u32())}
		index := m.imported + uint32(i)
		if !m.reach.keeps(index) {
			continue
		}
		kept++
		m.reach.owner = int64(index)
		if host, ok := m.hosted[index]; ok {
			list.vector(forward(host, m.params[t]))
			continue
		}
		f := function{m: m, r: body, params: m.params[t]}
		f.rewrite()
		if body.err != nil {
			r.fail(body.err)
		}
		if r.err != nil {
			return
		}
		list.vector(f.head.b)
	}
	m.reach.owner = outside
	w.u32(kept)
	w.byte(list.b...)
}

// forward is a function body that lets another function do its work.
func forward(to uint32, params int) []byte {
	w := &writer{b: []byte{0}}
	for i := range params {
		w.byte(opLocalGet)
		w.u32(uint32(i))
	}
	w.byte(opCall)
	w.u32(to)
	w.byte(opEnd)
	return w.b
}

// function is the rewriting of one function body.
type function struct {
	m      *meter
	r      *reader
	params int
	head   writer // locals, and in the end all
	w      writer // instructions
	locals uint64 // after which come two of ours: a counter and a size
	due    bool   // the passage of the function is not paid for yet
	open   []int  // for each open block, the passage that it belongs to
	passes []passage
}

func (f *function) rewrite() {
	groups := &writer{}
	n := f.r.count()
	for range n {
		count, t := f.r.u32(), f.r.byte()
		f.locals += uint64(count)
		groups.u32(count)
		groups.byte(t)
	}
	if f.locals += uint64(f.params); f.locals > 50_000 {
		f.r.fail(fmt.Errorf("a function with %d locals", f.locals))
		return
	}
	f.passes, f.open, f.due = []passage{{cost: 1}}, []int{0}, true
	for len(f.open) > 0 && f.r.err == nil {
		f.instruction()
	}
	f.r.end()
	for _, p := range f.passes {
		for _, gap := range p.gaps {
			f.w.fill(gap, p.cost)
		}
	}
	f.head.u32(n + 2)
	f.head.byte(groups.b...)
	f.head.byte(1, valI64, 1, valI32)
	f.head.byte(f.w.b...)
}

func (f *function) instruction() {
	r, w := f.r, &f.w
	f.passes[f.open[len(f.open)-1]].cost++
	op := r.byte()
	if f.due {
		f.before(op)
	}
	switch {
	case op >= opFirstPlain && op <= opLastPlain, op == opRefIsNull,
		op == opUnreachable, op == opNop, op == opReturn, op == opDrop, op == opSelect:
		w.byte(op)
	case op >= opFirstMemory && op <= opLastMemory:
		w.byte(op)
		w.u32(r.u32())
		w.u32(r.u32())
	case op >= opLocalGet && op <= opLocalTee:
		index := r.u32()
		if uint64(index) >= f.locals {
			r.fail(fmt.Errorf("local %d does not exist", index))
		}
		w.byte(op)
		w.u32(index)
	case op == opBr, op == opBrIf, op == opTableGet:
		w.byte(op)
		w.u32(r.u32())
	default:
		f.special(op)
	}
}

func (f *function) special(op byte) {
	r, w := f.r, &f.w
	switch op {
	case opMemorySize, opMemoryGrow:
		if r.byte() != 0 {
			r.fail(errors.New("a second memory"))
		}
		f.memory(op)
		return
	case opMore:
		f.more(r.u32())
		return
	}
	w.byte(op)
	switch op {
	case opBlock, opLoop, opIf:
		w.signed(r.signed(33))
		if op == opLoop {
			f.loop()
		} else {
			f.open = append(f.open, f.open[len(f.open)-1])
		}
	case opElse:
	case opEnd:
		f.open = f.open[:len(f.open)-1]
	case opBrTable:
		f.targets()
	case opCall, opRefFunc:
		w.u32(f.m.function(r.u32()))
	case opCallIndirect:
		w.u32(r.u32())
		w.u32(r.u32())
	case opSelectTyped:
		n := r.count()
		w.u32(n)
		w.byte(r.bytes(n)...)
	case opGlobalGet, opGlobalSet:
		w.u32(f.m.global(r))
	case opTableSet:
		f.m.lasting = "a table that it changes"
		w.u32(r.u32())
	case opI32Const:
		w.signed(r.signed(32))
	case opI64Const:
		w.signed(r.signed(64))
	case opF32Const:
		w.byte(r.bytes(4)...)
	case opF64Const:
		w.byte(r.bytes(8)...)
	case opRefNull:
		w.byte(f.m.reference(r))
	default:
		r.fail(
			fmt.Errorf(
				"instruction %#x is not known: compile for WebAssembly 2.0 without SIMD, threads and exceptions", op))
	}
}

func (f *function) targets() {
	n := f.r.count()
	f.w.u32(n)
	for range uint64(n) + 1 {
		f.w.u32(f.r.u32())
	}
	f.passes[f.open[len(f.open)-1]].cost += int(n) / 8
}

// more rewrites the instructions behind opMore.
func (f *function) more(op uint32) {
	r, w := f.r, &f.w
	switch op {
	case moreMemoryInit, moreMemoryCopy, moreMemoryFill:
		f.charge(perByte)
	case moreTableInit, moreTableCopy, moreTableGrow, moreTableFill:
		f.charge(perEntry)
		f.m.lasting = "a table that it changes"
	case moreDataDrop, moreElemDrop:
		f.m.lasting = "a segment that it drops"
	}
	w.byte(opMore)
	w.u32(op)
	switch op {
	case 0, 1, 2, 3, 4, 5, 6, 7: // conversions that saturate
	case moreMemoryInit:
		w.u32(r.u32())
		w.byte(r.byte())
	case moreMemoryFill:
		w.byte(r.byte())
	case moreMemoryCopy:
		w.byte(r.byte(), r.byte())
	case moreDataDrop, moreElemDrop, moreTableGrow, moreTableSize, moreTableFill:
		w.u32(r.u32())
	case moreTableInit, moreTableCopy:
		w.u32(r.u32())
		w.u32(r.u32())
	default:
		r.fail(fmt.Errorf("instruction 0xfc %d is not known: compile for WebAssembly 2.0 without later extensions",
			op))
	}
}

// A reach is the functions of a module that its exports, tables and start function lead to, by their indexes.
// OPA leaves an empty body for each function of its runtime that policies do not need: those are half of all.
type reach struct {
	owner int64              // the function whose body is read; outside for the module itself
	calls map[int64][]uint32 // functions that each owner refers to; nil: not noted
	kept  map[uint32]uint32  // new indexes of the functions that can be called; nil: all are kept
}

// outside owns the references of a module that stand in no function.
const outside = -1

func (r *reach) note(to uint32) {
	if r.calls != nil {
		r.calls[r.owner] = append(r.calls[r.owner], to)
	}
}

// reached follows calls through all functions.
func reached(calls map[int64][]uint32) reach {
	kept := map[uint32]uint32{}
	for next := []int64{outside}; len(next) > 0; {
		owner := next[0]
		next = next[1:]
		for _, to := range calls[owner] {
			if _, ok := kept[to]; !ok {
				kept[to] = 0
				next = append(next, int64(to))
			}
		}
	}
	for n, index := range slices.Sorted(maps.Keys(kept)) {
		kept[index] = uint32(n)
	}
	return reach{kept: kept}
}

func (r *reach) keeps(index uint32) bool {
	_, ok := r.kept[index]
	return ok || r.kept == nil
}

// place is the index of a kept function among those that are kept.
func (r *reach) place(index uint32) uint32 {
	if r.kept == nil {
		return index
	}
	return r.kept[index]
}
