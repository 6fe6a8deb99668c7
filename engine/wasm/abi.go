package wasm

import (
	"bytes"
	"context"
	"fmt"

	"github.com/tetratelabs/wazero/api"
)

// An abi is how one speaks with the modules of a kind.
type abi interface {
	// check compares a module's exports with the called functions.
	check(exports map[string]api.FunctionDefinition) error
	// begin lets a new instance set itself up.
	begin(ctx context.Context, i *instance) error
	// judge gives an instance an input and returns copies of its outputs.
	judge(ctx context.Context, i *instance, l Limits, input []byte) ([][]byte, error)
}

// rules speaks the interface of rule plugins, docs/writing-plugins.md.
type rules struct{}

// checkTypes holds functions against the types of an interface: i for 32 bits, I for 64.
func checkTypes(all map[string]api.FunctionDefinition, want map[string][2]string) error {
	for name, types := range want {
		d, ok := all[name]
		if !ok || signature(d.ParamTypes()) != types[0] || signature(d.ResultTypes()) != types[1] {
			return fmt.Errorf(
				"its %s is missing or has another type than the interface says (docs/writing-plugins.md)", name)
		}
	}
	return nil
}

func (rules) check(all map[string]api.FunctionDefinition) error {
	want := map[string][2]string{exportInterface: {"", "i"}, exportAlloc: {"i", "i"},
		exportEvaluate: {"ii", "I"}}
	if _, ok := all[exportInit]; ok {
		want[exportInit] = [2]string{}
	}
	return checkTypes(all, want)
}

func (rules) begin(ctx context.Context, i *instance) error {
	if i.module.ExportedFunction(exportInit) != nil {
		if _, err := i.call(ctx, exportInit); err != nil {
			return err
		}
	}
	version, err := i.call(ctx, exportInterface)
	if err != nil {
		return err
	}
	if version != Interface {
		return fmt.Errorf("it speaks interface %d, this build speaks %d", version, Interface)
	}
	return nil
}

func (rules) judge(ctx context.Context, i *instance, l Limits, input []byte) ([][]byte, error) {
	size := uint64(len(input))
	at, err := i.call(ctx, exportAlloc, size)
	if err != nil {
		return nil, err
	}
	if at == 0 {
		return nil, fmt.Errorf("%s has no memory for an input of %d bytes", exportAlloc, size)
	}
	if !i.holds(uint32(at), uint32(size)) || !i.memory.Write(uint32(at), input) {
		return nil, fmt.Errorf("%s gives %d bytes at %d, which do not lie in its memory of %d", exportAlloc, size,
			uint32(at), i.size())
	}
	result, err := i.call(ctx, exportEvaluate, at, size)
	if err != nil {
		return nil, err
	}
	from, length := uint32(result>>32), uint32(result)
	if length > l.output() {
		return nil, fmt.Errorf("its output has %d bytes, the limit is %d", length, l.output())
	}
	output, ok := i.memory.Read(from, length)
	if !ok || !i.holds(from, length) {
		return nil, fmt.Errorf("its output is said to be %d bytes at %d, which do not lie in its memory of %d",
			length, from, i.size())
	}
	return [][]byte{bytes.Clone(output)}, nil
}
