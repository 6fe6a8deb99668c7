package wasm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// evaluation is an instance with the state of its use.
type evaluation struct {
	*instance
	context uint64 // of an evaluation, in memory, with the data set
	heap    uint64 // where each evaluation begins
	shared  shared
	input   layouts // its base is where the last input was written
}

// begin makes an instance with the data and the constants that inputs share.
func (p *Policies) begin(ctx context.Context) (*evaluation, error) {
	i, err := (&pool{compiled: p.compiled, module: &metered{}}).instantiate(ctx)
	if err != nil {
		return nil, err
	}
	e := &evaluation{instance: i}
	ctx, c := p.compiled.newCall(ctx, maxBegin, beginning)
	if err := p.prepare(ctx, e); err != nil {
		i.close()
		return nil, fmt.Errorf("begin: %w", c.saying(err))
	}
	return e, nil
}

func (p *Policies) prepare(ctx context.Context, e *evaluation) error {
	if version := e.module.ExportedGlobal(policyVersion); version == nil ||
		uint32(version.Get()) != supportedABI {
		return errors.New("it is not of version 1 of OPA's ABI")
	}
	if p.entries == nil { // the first instance is made alone
		if err := p.learn(ctx, e); err != nil {
			return err
		}
	}
	at, err := e.place(ctx, p.data)
	if err != nil {
		return err
	}
	if e.data, err = e.call(ctx, policyParseJSON, at, uint64(len(p.data))); err != nil {
		return err
	} else if e.data == 0 {
		return errors.New("its data is not understood")
	}
	// The shared constants lie at the address that the second allocation of the same size returns.
	var l layouts
	l.share(p.keys)
	if at, err = e.call(ctx, policyMalloc, uint64(len(l.b))); err != nil {
		return err
	}
	size := len(l.b)
	l = layouts{b: l.b[:0], base: uint32(at)}
	e.shared = l.share(p.keys)
	if len(l.b) != size || !e.memory.Write(uint32(at), l.b) {
		return errors.New("there is no memory for keys")
	}
	if e.context, err = e.call(ctx, policyContext); err != nil {
		return err
	}
	if _, err = e.call(ctx, policySetData, e.context, e.data); err != nil {
		return err
	}
	e.heap, err = e.call(ctx, policyHeap)
	return err
}

// Names of the other exports of a compiled policy.
const (
	policyContext  = "opa_eval_ctx_new"
	policySetData  = "opa_eval_ctx_set_data"
	policySetInput = "opa_eval_ctx_set_input"
	policySetEntry = "opa_eval_ctx_set_entrypoint"
	policyResult   = "opa_eval_ctx_get_result"
	policyRun      = "eval"
	policySetHeap  = "opa_heap_ptr_set"
)

func (p *Policies) learn(ctx context.Context, e *evaluation) error {
	var needs map[string]uint32
	if err := e.ask(ctx, policyBuiltins, &needs); err != nil {
		return err
	}
	if len(needs) > 0 {
		return fmt.Errorf("it calls %s, which OPA's runtime has not",
			strings.Join(slices.Sorted(maps.Keys(needs)), ", "))
	}
	p.entries = map[string]uint64{}
	return e.ask(ctx, policyEntrypoints, &p.entries)
}

// place puts bytes into memory that the module gives.
func (e *evaluation) place(ctx context.Context, b []byte) (uint64, error) {
	at, err := e.call(ctx, policyMalloc, uint64(len(b)))
	if err == nil && !e.memory.Write(uint32(at), b) {
		err = fmt.Errorf("%s gives %d bytes at %d, where there is no memory", policyMalloc, len(b), uint32(at))
	}
	return at, err
}

// ask calls a function that returns a value and reads its JSON form.
func (i *instance) ask(ctx context.Context, name string, into any) error {
	value, err := i.call(ctx, name)
	if err != nil {
		return err
	}
	at, err := i.call(ctx, policyDumpJSON, value)
	if err != nil {
		return err
	}
	text, err := textAt(i.memory, at, maxManifest)
	if err == nil {
		err = json.Unmarshal([]byte(text), into)
	}
	return prefixed(name, err)
}

// run evaluates an input that is laid out in memory.
func (p *Policies) run(ctx context.Context, e *evaluation, entry uint64, in *facts.Input) ([]byte, error) {
	if _, err := e.call(ctx, policySetHeap, e.heap); err != nil {
		return nil, err
	}
	v := reflect.ValueOf(in).Elem()
	e.input.b = e.input.b[:0]
	value := p.form(&e.input, &e.shared, v)
	at, err := e.call(ctx, policyMalloc, uint64(len(e.input.b)))
	if err != nil {
		return nil, err
	}
	if uint32(at) != e.input.base { // the first time, or from a block of another kind
		size := len(e.input.b)
		e.input = layouts{b: e.input.b[:0], base: uint32(at)}
		if value = p.form(&e.input, &e.shared, v); len(e.input.b) != size {
			return nil, errors.New("the input changed while it was read")
		}
	}
	if !e.memory.Write(uint32(at), e.input.b) {
		return nil, errors.New("there is no memory for the input")
	}
	if _, err := e.call(ctx, policySetInput, e.context, uint64(value)); err != nil {
		return nil, err
	}
	if _, err := e.call(ctx, policySetEntry, e.context, entry); err != nil {
		return nil, err
	}
	if status, err := e.call(ctx, policyRun, e.context); err != nil {
		return nil, err
	} else if status != 0 {
		return nil, fmt.Errorf("it ended with status %d", status)
	}
	result, err := e.call(ctx, policyResult, e.context)
	if err != nil {
		return nil, err
	}
	if at, err = e.call(ctx, policyDumpJSON, result); err != nil {
		return nil, err
	}
	text, err := textAt(e.memory, at, maxResult)
	return []byte(text), err
}

// parsed evaluates an input that the module parses itself.
func (e *evaluation) parsed(ctx context.Context, entry uint64, input []byte) ([]byte, error) {
	if _, err := e.call(ctx, policySetHeap, e.heap); err != nil {
		return nil, err
	}
	at, err := e.place(ctx, input)
	if err != nil {
		return nil, err
	}
	heap, err := e.call(ctx, policyHeap)
	if err != nil {
		return nil, err
	}
	if at, err = e.call(ctx, policyEval, 0, entry, e.data, at, uint64(len(input)), heap, 0); err != nil {
		return nil, err
	}
	text, err := textAt(e.memory, at, maxResult)
	return []byte(text), err
}
