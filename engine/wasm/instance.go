package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
)

// maxBegin bounds the time in which an instance must have begun.
const maxBegin = 2 * time.Second

// instance is a module with a memory of its own. It serves one call at a time.
type instance struct {
	module       api.Module
	memory       api.Memory
	globals      []api.MutableGlobal
	alloc, judge api.Function
}

// checkTypes holds the functions of the interface against their types.
func checkTypes(all map[string]api.FunctionDefinition) error {
	for _, f := range []struct{ name, params, results string }{
		{exportInterface, "", "i"}, {exportAlloc, "i", "i"}, {exportEvaluate, "ii", "I"}, {exportInit, "", ""},
	} {
		d, ok := all[f.name]
		if !ok && f.name == exportInit {
			continue
		}
		if !ok || signature(d.ParamTypes()) != f.params || signature(d.ResultTypes()) != f.results {
			return fmt.Errorf("its %s has another type than the interface says (docs/writing-plugins.md)", f.name)
		}
	}
	return nil
}

// instantiate makes an instance that has not begun, but for a start function of the module.
func (p *pool) instantiate(ctx context.Context) (*instance, error) {
	ctx, c := newCall(ctx, maxBegin, beginning)
	m, err := p.compiled.runtime.InstantiateModule(ctx, p.compiled.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("begin: %w", c.saying(err))
	}
	i := &instance{
		module: m, memory: m.ExportedMemory(exportMemory),
		alloc: m.ExportedFunction(exportAlloc), judge: m.ExportedFunction(exportEvaluate),
	}
	for _, name := range p.module.globals {
		g, ok := m.ExportedGlobal(name).(api.MutableGlobal)
		if !ok {
			i.close()
			return nil, fmt.Errorf("begin: global %s cannot be set", name)
		}
		i.globals = append(i.globals, g)
	}
	return i, nil
}

// begin makes an instance and lets it set itself up.
func (p *pool) begin(ctx context.Context) (*instance, error) {
	i, err := p.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	ctx, c := newCall(ctx, maxBegin, beginning)
	if err := i.setUp(ctx); err != nil {
		i.close()
		return nil, fmt.Errorf("begin: %w", c.saying(err))
	}
	return i, nil
}

func (i *instance) setUp(ctx context.Context) error {
	if f := i.module.ExportedFunction(exportInit); f != nil {
		if _, err := f.Call(ctx); err != nil {
			return err
		}
	}
	version, err := i.module.ExportedFunction(exportInterface).Call(ctx)
	if err != nil {
		return err
	}
	if version[0] != Interface {
		return fmt.Errorf("it speaks interface %d, this build speaks %d", version[0], Interface)
	}
	return nil
}

// evaluate gives the module an input and returns a copy of its output.
func (i *instance) evaluate(ctx context.Context, l Limits, input []byte) (_ []byte, err error) {
	ctx, c := newCall(ctx, l.time(), judging)
	defer func() { err = c.saying(err) }()
	size := uint64(len(input))
	at, err := i.alloc.Call(ctx, size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", exportAlloc, err)
	}
	if at[0] == 0 {
		return nil, fmt.Errorf("%s has no memory for an input of %d bytes", exportAlloc, size)
	}
	if !i.holds(uint32(at[0]), uint32(size)) || !i.memory.Write(uint32(at[0]), input) {
		return nil, fmt.Errorf("%s gives %d bytes at %d, which do not lie in its memory of %d", exportAlloc, size, uint32(at[0]), i.size())
	}
	result, err := i.judge.Call(ctx, at[0], size)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", exportEvaluate, err)
	}
	from, length := uint32(result[0]>>32), uint32(result[0])
	if length > l.output() {
		return nil, fmt.Errorf("its output has %d bytes, the limit is %d", length, l.output())
	}
	output, ok := i.memory.Read(from, length)
	if !ok || !i.holds(from, length) {
		return nil, fmt.Errorf("its output is said to be %d bytes at %d, which do not lie in its memory of %d", length, from, i.size())
	}
	return bytes.Clone(output), nil
}

// size is that of the memory as the module knows it, in bytes: metering keeps it in the last global.
func (i *instance) size() uint64 { return uint64(uint32(i.globals[len(i.globals)-1].Get())) << 16 }

func (i *instance) holds(at, size uint32) bool { return uint64(at)+uint64(size) <= i.size() }

// snapshot is all that a module without lasting state can change.
type snapshot struct {
	memory  []byte
	globals []uint64
}

func (i *instance) snapshot() (*snapshot, error) {
	memory, ok := i.memory.Read(0, i.memory.Size())
	if !ok {
		return nil, errors.New("its memory cannot be read")
	}
	s := &snapshot{memory: bytes.Clone(memory)}
	for _, g := range i.globals {
		s.globals = append(s.globals, g.Get())
	}
	return s, nil
}

// Memory beyond a snapshot is there for a call to grow into, and is cleared after it. A call that
// needs more costs its instance.
const headroom = 32 // pages

// restorePage is what is compared at once: memory that was only read is not written.
const restorePage = 4096

// restore puts an instance back to a snapshot. Its memory has the same size every time, so that not
// even that tells one call about another.
func (i *instance) restore(s *snapshot, limit uint32) error {
	size := uint32(len(s.memory))
	want := min(size+headroom<<16, limit<<16)
	if have := i.memory.Size(); have < want {
		if _, ok := i.memory.Grow((want - have) >> 16); !ok {
			return fmt.Errorf("its memory cannot grow to %d bytes", want)
		}
	} else if have > want {
		return errors.New("its memory grew")
	}
	memory, ok := i.memory.Read(0, want)
	if !ok {
		return errors.New("its memory cannot be read")
	}
	var zero [restorePage]byte
	for at := 0; at < len(memory); at += restorePage {
		page, was := memory[at:at+restorePage], zero[:]
		if at < len(s.memory) {
			was = s.memory[at : at+restorePage]
		}
		if !bytes.Equal(page, was) {
			copy(page, was)
		}
	}
	for n, g := range i.globals {
		g.Set(s.globals[n])
	}
	return nil
}

func (i *instance) close() { _ = i.module.Close(context.Background()) } // an instance holds nothing that could fail to close
