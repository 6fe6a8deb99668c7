package wasm

import (
	"bytes"
	"context"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

func TestNumbers(t *testing.T) {
	t.Parallel()
	for _, v := range []int64{0, 1, -1, 63, 64, -64, -65, 127, 128, math.MaxInt32, math.MinInt32, math.MaxInt64, math.MinInt64} {
		w := &writer{}
		w.signed(v)
		r := &reader{b: w.b}
		if got := r.signed(64); got != v || r.more() || r.err != nil {
			t.Errorf("%d is read as %d, %v", v, got, r.err)
		}
		r = &reader{b: w.b}
		if got := r.signed(32); (v == int64(int32(v))) != (r.err == nil && got == v) {
			t.Errorf("%d as 32 bits is read as %d, %v", v, got, r.err)
		}
		w = &writer{}
		w.u32(uint32(v))
		r = &reader{b: w.b}
		if got := r.u32(); got != uint32(v) || r.more() || r.err != nil {
			t.Errorf("%d is read as %d, %v", uint32(v), got, r.err)
		}
	}
	for name, b := range map[string][]byte{
		"no end": {0x80}, "too long": {0x80, 0x80, 0x80, 0x80, 0x80, 0}, "more than 32 bits": {0xff, 0xff, 0xff, 0xff, 0x1f}, "empty": {},
	} {
		if r := (&reader{b: b}); r.u32() != 0 || r.err == nil {
			t.Errorf("%s: read as a number", name)
		}
	}
	w := &writer{}
	for _, cost := range []int{1, 100, 1 << 20, maxCost, maxCost + 5} {
		w.fill(w.gap(), cost)
	}
	r := &reader{b: w.b}
	for _, cost := range []int64{1, 100, 1 << 20, maxCost, maxCost} {
		if got := r.signed(64); got != cost {
			t.Errorf("a cost of %d is read as %d", cost, got)
		}
	}
}

// everything is a function that uses each kind of operand once and gives the same as without metering.
func everything() []byte {
	return code(
		op(opBlock, valI32), i32(7), op(opLocalGet, 0, opBrTable, 1, 0, 0, opEnd, opLocalSet, 2), // block, br_table
		op(opLoop, blockEmpty, opLocalGet, 2), i32(1), op(opI32Sub, opLocalTee, 2, opBrIf, 0, opEnd), // a loop that ends
		i32(100), i32(5), i32(16), op(opMore, moreMemoryFill, 0), // bulk
		i32(200), i32(100), i32(8), op(opMore, moreMemoryCopy, 0, 0),
		i32(3), op(opMemoryGrow, 0, opDrop),
		op(opF64Const, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, opMore, 6, opDrop), // i64.trunc_sat_f64_s
		op(opF32Const, 0, 0, 0x80, 0x3f, opMore, 0, opDrop),
		i32(1), i32(2), i32(0), op(opSelectTyped, 1, valI32, opDrop),
		op(opRefFunc, 0, opRefIsNull, opDrop),
		op(opMemorySize, 0, opI64ExtendU), i64(32), op(opI64Shl),
		i32(200), op(0x29, 3, 0), // i64.load
		op(opI64Add),
		op(opLocalGet, 1, opCall, 1, opI64ExtendU, opI64Add),
		op(opGlobalGet, 0, opI64ExtendU, opI64Add),
		i32(1), op(opGlobalSet, 0),
	)
}

// TestMeteringChangesNothing runs the same module with metering and without.
func TestMeteringChangesNothing(t *testing.T) {
	t.Parallel()
	a := newAssembly()
	a.evaluate, a.globals, a.table = everything(), []byte{valI32}, 3
	// A segment that declares function 0, as ref.func wants.
	a.extra = nil
	binary := insert(a.binary(), secElement, []byte{2, 3, 0, 1, 0, 0, opI32Const, 0, opEnd, 2, 1, 0})
	m, err := rewrite(binary, 64, nil)
	if err != nil {
		t.Fatal(err)
	}
	run := func(binary []byte) []uint64 {
		ctx := context.Background()
		r := wazero.NewRuntime(ctx)
		defer r.Close(ctx)
		host := r.NewHostModuleBuilder(tickModule)
		host = host.NewFunctionBuilder().WithGoModuleFunction(api.GoModuleFunc(func(_ context.Context, _ api.Module, s []uint64) { s[0] = 5 }),
			nil, []api.ValueType{api.ValueTypeI64}).Export(tickName)
		if _, err := host.Instantiate(ctx); err != nil {
			t.Fatal(err)
		}
		i, err := r.Instantiate(ctx, binary)
		if err != nil {
			t.Fatal(err)
		}
		var all []uint64
		for range 3 {
			out, err := i.ExportedFunction(exportEvaluate).Call(ctx, 0, 12)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, out...)
		}
		return all
	}
	if diff := cmp.Diff(run(binary), run(m.binary)); diff != "" {
		t.Error(diff)
	}
	again, err := rewrite(binary, 64, nil)
	if err != nil || !bytes.Equal(again.binary, m.binary) {
		t.Errorf("rewriting it again gives something else: %v", err)
	}
}

// insert puts a section where it belongs.
func insert(binary []byte, id byte, content []byte) []byte {
	out := &writer{b: []byte(header)}
	before := map[byte]bool{}
	for _, s := range order {
		if s == id {
			break
		}
		before[s] = true
	}
	done := false
	for r := (&reader{b: binary, at: len(header)}); r.more(); {
		at, old := r.byte(), r.bytes(r.u32())
		if !before[at] && !done {
			out.byte(id)
			out.vector(content)
			done = true
		}
		out.byte(at)
		out.vector(old)
	}
	return out.b
}

// A module must not reach what metering adds: its globals and its function have indexes that did
// not exist before.
func TestMeteringCannotBeReached(t *testing.T) {
	t.Parallel()
	for name, body := range map[string][]byte{
		"reads the counter":  op(opGlobalGet, 0, opDrop),
		"sets the counter":   code(i64(1<<60), op(opGlobalSet, 0)),
		"sets the size":      code(i32(1000), op(opGlobalSet, 1)),
		"calls past the end": op(opCall, 4),
		"sets a local":       code(i64(0), op(opLocalSet, 6)),
	} {
		a := newAssembly()
		a.evaluate = code(body, a.evaluate)
		m, err := rewrite(a.binary(), 64, nil)
		if err != nil {
			continue
		}
		r := wazero.NewRuntime(t.Context())
		if _, err := r.CompileModule(t.Context(), m.binary); err == nil {
			t.Errorf("%s: it is taken", name)
		}
		r.Close(t.Context())
	}
}

// FuzzRewrite: whatever bytes come, rewriting ends, and what was a module before is one after.
func FuzzRewrite(f *testing.F) {
	f.Add(newAssembly().binary())
	for _, h := range hostile() {
		f.Add(h.module.binary())
	}
	for _, c := range counters() {
		f.Add(c.binary())
	}
	f.Fuzz(func(t *testing.T, binary []byte) {
		m, err := rewrite(binary, 64, nil)
		if err != nil || len(binary) > 1<<16 {
			return
		}
		ctx := context.Background()
		r := wazero.NewRuntimeWithConfig(ctx, wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2).WithMemoryLimitPages(1024))
		defer r.Close(ctx)
		if _, err := r.CompileModule(ctx, binary); err != nil {
			return
		}
		if _, err := r.CompileModule(ctx, m.binary); err != nil {
			t.Errorf("it compiles only before it is rewritten: %v", err)
		}
	})
}
