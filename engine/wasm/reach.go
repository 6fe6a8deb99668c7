package wasm

import (
	"maps"
	"slices"
)

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
