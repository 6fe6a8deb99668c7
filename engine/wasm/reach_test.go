package wasm

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

func TestReached(t *testing.T) {
	t.Parallel()
	r := reached(map[int64][]uint32{outside: {4}, 4: {1, 6}, 6: {4}, 2: {3}})
	if diff := cmp.Diff(map[uint32]uint32{1: 0, 4: 1, 6: 2}, r.kept); diff != "" {
		t.Error(diff)
	}
	if !r.keeps(1) || r.keeps(2) || r.place(6) != 2 {
		t.Errorf("%+v", r)
	}
	if all := (&reach{}); !all.keeps(7) || all.place(7) != 7 {
		t.Error("a module that nothing was noted of loses functions")
	}
}

// A second pass finds nothing more to remove, and the first one removes about half of the functions.
func TestMeteredKeepsCalledFunctions(t *testing.T) {
	t.Parallel()
	raw, _, err := rego.Compile(t.Context(), policies.FS(), "")
	if err != nil {
		t.Fatal(err)
	}
	kept := func(module []byte) uint32 {
		m := newMeter(policiesMemory, nil)
		if err := m.split(module); err != nil {
			t.Fatal(err)
		}
		return (&reader{b: m.sections[secFunction].b}).count()
	}
	metered, err := Metered(raw)
	if err != nil || bytes.Equal(metered, raw) {
		t.Fatal(err)
	}
	again, err := Metered(metered)
	if err != nil {
		t.Fatal(err)
	}
	all, first, second := kept(raw), kept(metered), kept(again)
	if first == 0 || first*3 > all*2 || second != first {
		t.Errorf("%d functions, %d after the first pass, %d after the second", all, first, second)
	}
}
