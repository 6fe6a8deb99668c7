package wasm

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// assembly is a small module, written by hand: tests need no toolchain for it. Without changes it is
// a sound plugin named "test" that finds nothing.
type assembly struct {
	speaks   int64    // what sallyport_interface says
	pages    uint32   // of its memory
	imports  []string // "module.name", of type (i32, i32) -> i32
	globals  []byte   // types of mutable globals, each 0 at first
	table    uint32   // entries of its table, which may grow; 0 for none
	alloc    []byte   // bodies, without their end
	evaluate []byte
	begin    []byte // of _initialize; nil for none
	output   string // lies at outputAt
	extra    []section
	omit     string // an export to leave out
}

type section struct {
	id      byte
	content []byte
}

const (
	inputAt  = 2 << 16
	outputAt = 64
	nothing  = `{"findings":[]}`
)

func newAssembly() assembly {
	return assembly{speaks: Interface, pages: 8, alloc: i32(inputAt), output: nothing, evaluate: result(outputAt, uint32(len(nothing)))}
}

// says makes the plugin give back a text.
func (a assembly) says(text string) assembly {
	a.output, a.evaluate = text, result(outputAt, uint32(len(text)))
	return a
}

func code(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}

func i32(v int64) []byte {
	w := writer{b: []byte{opI32Const}}
	w.signed(int64(int32(v)))
	return w.b
}

func i64(v int64) []byte {
	w := writer{b: []byte{opI64Const}}
	w.signed(v)
	return w.b
}

// result is what sallyport_evaluate returns for an output at a place.
func result(at, size uint32) []byte { return i64(int64(at)<<32 | int64(size)) }

func op(b ...byte) []byte { return b }

// Instructions that only tests use.
const (
	opI32Load8  = 0x2d
	opI32Store8 = 0x3a
	opI64Store  = 0x37
	opI32Eqz    = 0x45
)

// forever is a loop around a body.
func forever(body ...[]byte) []byte {
	return code(op(opLoop, blockEmpty), code(body...), op(opBr, 0, opEnd))
}

// binary puts the module together.
func (a assembly) binary() []byte {
	imports := &writer{}
	imports.u32(uint32(len(a.imports)))
	for _, i := range a.imports {
		module, name, _ := strings.Cut(i, ".")
		imports.name(module)
		imports.name(name)
		imports.byte(kindFunc, 4)
	}
	first := byte(len(a.imports))
	exports := &writer{}
	n := 0
	export := func(name string, kind, index byte) {
		if name != a.omit {
			exports.name(name)
			exports.byte(kind, index)
			n++
		}
	}
	export(exportMemory, kindMemory, 0)
	export(exportInterface, kindFunc, first)
	export(exportAlloc, kindFunc, first+1)
	export(exportEvaluate, kindFunc, first+2)
	if a.begin != nil {
		export(exportInit, kindFunc, first+3)
	}
	out := &writer{b: []byte(header)}
	put := func(id byte, content []byte) {
		out.byte(id)
		out.vector(content)
	}
	put(secType, []byte{5,
		funcType, 0, 1, valI32,
		funcType, 1, valI32, 1, valI32,
		funcType, 2, valI32, valI32, 1, valI64,
		funcType, 0, 0,
		funcType, 2, valI32, valI32, 1, valI32})
	put(secImport, imports.b)
	put(secFunction, []byte{4, 0, 1, 2, 3})
	if a.table > 0 {
		w := &writer{b: []byte{1, refFunc, 0}}
		w.u32(a.table)
		put(secTable, w.b)
	}
	memory := &writer{b: []byte{1, 0}}
	memory.u32(a.pages)
	put(secMemory, memory.b)
	globals := &writer{}
	globals.u32(uint32(len(a.globals)))
	for _, t := range a.globals {
		globals.byte(t, 1)
		if t == refFunc {
			globals.byte(opRefNull, refFunc, opEnd)
		} else {
			globals.byte(map[byte]byte{valI32: opI32Const, valI64: opI64Const}[t], 0, opEnd)
		}
	}
	put(secGlobal, globals.b)
	put(secExport, append([]byte{byte(n)}, exports.b...))
	bodies := &writer{b: []byte{4}}
	for _, body := range [][]byte{i32(a.speaks), a.alloc, a.evaluate, a.begin} {
		bodies.vector(code(op(1, 4, valI32), body, op(opEnd))) // four locals of 32 bits after the parameters
	}
	put(secCode, bodies.b)
	data := &writer{b: []byte{1, 0, opI32Const}}
	data.signed(outputAt)
	data.byte(opEnd)
	data.name(a.output)
	put(secData, data.b)
	for _, s := range a.extra {
		put(s.id, s.content)
	}
	return out.b
}

// testLimits give as much time as there can be: what does end must not meet the limit while it waits for a processor.
func testLimits() Limits { return Limits{MemoryMiB: 4, TimeMS: 4000, OutputKiB: 64} }

// installed writes a module and its manifest into a directory of its own.
func installed(t testing.TB, binary []byte, change func(*Manifest)) string {
	t.Helper()
	module := filepath.Join(t.TempDir(), "test.wasm")
	m := Manifest{
		Name: "test", Version: "1.0.0", Interface: Interface, SHA256: fmt.Sprintf("%x", sha256.Sum256(binary)),
		Rules: []string{"rule", "other"}, Limits: testLimits(),
	}
	if change != nil {
		change(&m)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{module: binary, ManifestFile(module): text} {
		if err := os.WriteFile(file, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return module
}

func opened(t testing.TB, a assembly) *Plugin {
	t.Helper()
	return openedFor(t, a, testLimits().TimeMS)
}

// steps is a clock by which each look at it takes a millisecond. A module is looked after once a quantum of its steps.
func steps() func() time.Time {
	var looks atomic.Int64
	return func() time.Time { return time.UnixMilli(looks.Add(1)) }
}

// openedFor opens a plugin that has so many milliseconds.
func openedFor(t testing.TB, a assembly, ms int) *Plugin {
	t.Helper()
	return openedBy(t, steps(), a, ms)
}

// openedBy opens it under a clock.
func openedBy(t testing.TB, clock func() time.Time, a assembly, ms int) *Plugin {
	t.Helper()
	p, err := Open(t.Context(), Options{Clock: clock, Module: installed(t, a.binary(), func(m *Manifest) { m.Limits.TimeMS = ms })})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}
