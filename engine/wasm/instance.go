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
	module    api.Module
	memory    api.Memory
	globals   []api.MutableGlobal
	functions map[string]api.Function
	data      uint64 // where the data of a compiled policy lies in memory
}

// call calls an exported function of checked type. Functions without a result give 0.
func (i *instance) call(ctx context.Context, name string, args ...uint64) (uint64, error) {
	f := i.functions[name]
	if f == nil {
		if f = i.module.ExportedFunction(name); f == nil {
			return 0, fmt.Errorf("it has no %s", name)
		}
		i.functions[name] = f
	}
	results, err := f.Call(ctx, args...)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", name, err)
	}
	if len(results) == 0 {
		return 0, nil
	}
	return results[0], nil
}

// instantiate makes an instance that has not begun, but for a start function of the module.
func (p *pool) instantiate(ctx context.Context) (*instance, error) {
	ctx, c := p.compiled.newCall(ctx, maxBegin, beginning)
	m, err := p.compiled.runtime.InstantiateModule(ctx, p.compiled.module,
		wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("begin: %w", c.saying(err))
	}
	i := &instance{module: m, memory: m.ExportedMemory(exportMemory), functions: map[string]api.Function{}}
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
	ctx, c := p.compiled.newCall(ctx, maxBegin, beginning)
	if err := p.speaks.begin(ctx, i); err != nil {
		i.close()
		return nil, fmt.Errorf("begin: %w", c.saying(err))
	}
	return i, nil
}

// size is that of the memory as the module knows it, in bytes: metering keeps it in the last global.
func (i *instance) size() uint64 { return uint64(uint32(i.globals[len(i.globals)-1].Get())) << 16 }

func (i *instance) holds(at, size uint32) bool { return uint64(at)+uint64(size) <= i.size() }

// snapshot is all that a module without lasting state can change.
type snapshot struct {
	memory  []byte
	globals []uint64
	data    uint64
}

func (i *instance) snapshot() (*snapshot, error) {
	memory, ok := i.memory.Read(0, i.memory.Size())
	if !ok {
		return nil, errors.New("its memory cannot be read")
	}
	s := &snapshot{memory: bytes.Clone(memory), data: i.data}
	for _, g := range i.globals {
		s.globals = append(s.globals, g.Get())
	}
	return s, nil
}

// Memory beyond a snapshot is there for a call to grow into, and is cleared after it. A call that
// needs more costs its instance.
const headroom = 32 // pages

// restorePage is the unit of comparison: memory that was only read is not written.
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
	i.data = s.data
	return nil
}

func (i *instance) close() {
	_ = i.module.Close(context.Background())
} // an instance holds nothing that could fail to close
