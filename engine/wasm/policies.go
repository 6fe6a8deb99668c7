package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/tetratelabs/wazero/api"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// PoliciesOptions configure Policies.
type PoliciesOptions struct {
	Module []byte // as Metered returns it
	Data   []byte // the document data, JSON
	Cache  string // directory of compiled modules; "" for none
	Time   time.Duration
	Native bool // true: ErrInterpreted where modules do not become native code

	clock func() time.Time // of tests, in place of time.Now
}

// Policies evaluate the entrypoints of a module that OPA has compiled of sources which this build
// trusts: the built-in ones. They are safe for concurrent use.
//
// An instance is used again as OPA means it: by setting its heap back, which is all that an evaluation
// changes. Modules of others are put back byte by byte (pool.go).
type Policies struct {
	compiled *compiled
	data     []byte
	time     time.Duration
	form     form
	keys     []string
	idle     chan *evaluation
	entries  map[string]uint64 // entrypoints, by name
}

// policiesMemory bounds the memory of an instance, in pages of 64 KiB, and usualMemory is its size at the
// beginning; an instance that has taken more than keptMemory is not kept.
const (
	policiesMemory = 256 << 4
	usualMemory    = 8
	keptMemory     = 16 << 20
)

// maxResult bounds the result of an evaluation, in bytes.
const maxResult = 16 << 20

// Metered makes of a module that OPA has compiled one that can be stopped (meter.go), without the functions
// that nothing calls, and with memory for the usual evaluation. It is done where the module is made: at each
// start it would take a third of the time.
func Metered(module []byte) ([]byte, error) {
	first, calls := newMeter(policiesMemory, nil), map[int64][]uint32{}
	first.reach = reach{owner: outside, calls: calls}
	err := first.rewrite(module)
	m := newMeter(policiesMemory, nil)
	if err == nil {
		m.reach, m.begin = reached(calls), usualMemory
		err = m.rewrite(module)
	}
	if err != nil {
		return nil, fmt.Errorf("meter compiled policies: %w", err)
	}
	return m.binary, nil
}

// OpenPolicies compiles a module, or reads the compiled form from the cache, and tries it on a sample.
func OpenPolicies(ctx context.Context, o PoliciesOptions) (*Policies, error) {
	p := &Policies{data: o.Data, time: o.Time, idle: make(chan *evaluation, runtime.GOMAXPROCS(0))}
	names := map[string]bool{}
	var err error
	if p.form, err = formOf(reflect.TypeFor[facts.Input](), names); err != nil {
		return nil, fmt.Errorf("lay out policy input: %w", err)
	}
	p.keys = slices.Sorted(maps.Keys(names))
	host := &policy{functions: func(string) Function { return nil }}
	m := &metered{binary: o.Module, native: o.Native}
	if p.compiled, err = compile(ctx, m, host.imports(), o.Cache, maxCompile); err != nil {
		return nil, fmt.Errorf("load compiled policies: %w", err)
	}
	if o.clock != nil {
		p.compiled.clock = o.clock
	}
	if !slices.ContainsFunc(p.compiled.module.ImportedFunctions(), func(d api.FunctionDefinition) bool {
		module, name, _ := d.Import()
		return module == tickModule && name == tickName
	}) {
		return nil, fmt.Errorf("load compiled policies: %w",
			errors.Join(errors.New("they are not metered: nothing could end a loop in them"), p.Close()))
	}
	if err := p.try(ctx, tried(o.Cache)); err != nil {
		return nil, fmt.Errorf("try compiled policies: %w", errors.Join(err, p.Close()))
	}
	return p, nil
}

// try makes the first instance and lets it judge a sample, laid out and as JSON: if the runtime had
// another idea of values than layout.go, they would differ. The file named tried records that they do not.
func (p *Policies) try(ctx context.Context, tried string) error {
	if err := new(policy).check(p.compiled.module.ExportedFunctions()); err != nil {
		return err
	}
	e, err := p.begin(ctx)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(tried); err == nil {
		p.idle <- e
		return nil
	}
	in := sampleInput()
	text, err := encode(in)
	if err != nil {
		return err
	}
	ctx, c := p.compiled.newCall(ctx, maxBegin, judging)
	for _, name := range slices.Sorted(maps.Keys(p.entries)) {
		laidOut, err := p.run(ctx, e, p.entries[name], in)
		if err != nil {
			return c.saying(err)
		}
		parsed, err := e.parsed(ctx, p.entries[name], text)
		if err != nil {
			return c.saying(err)
		}
		if !bytes.Equal(laidOut, parsed) {
			return fmt.Errorf(
				"%s says of a sample %s, and of the same as JSON %s: this build and the module have different ideas "+
					"of values", name, laidOut, parsed)
		}
	}
	p.idle <- e
	if tried != "" {
		_ = os.WriteFile(tried, nil, 0o600) // without it, the next process tries again
	}
	return nil
}

// Close frees the module. Nothing may be under way.
func (p *Policies) Close() error { return p.compiled.close() }

// Kept says where the compiled form is kept, for people: a directory, or "memory: " and why.
func (p *Policies) Kept() string { return p.compiled.kept }

// Evaluate returns the result of an entrypoint for an input: JSON, with sets as lists in no order. An error
// ends the instance, and does not affect the next evaluation.
func (p *Policies) Evaluate(ctx context.Context, entrypoint string, in *facts.Input) (_ []byte, err error) {
	entry, ok := p.entries[entrypoint]
	if !ok {
		return nil, fmt.Errorf("compiled policies have no %s", entrypoint)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var e *evaluation
	select {
	case e = <-p.idle:
	default:
		if e, err = p.begin(ctx); err != nil {
			return nil, err
		}
	}
	ctx, c := p.compiled.newCall(ctx, p.time, judging)
	result, err := p.run(ctx, e, entry, in)
	if err != nil || e.memory.Size() > keptMemory {
		e.close()
		return result, c.saying(err)
	}
	select {
	case p.idle <- e:
	default:
		e.close()
	}
	return result, nil
}
