package wasm

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// Function is a builtin function of Rego. Arguments and the result are values in Rego's notation; a
// result of "" means undefined.
type Function = func(ctx context.Context, args []string) (string, error)

// native lists the functions of OPA's own runtime that the host replaces, and their replacements. That
// runtime has regular expressions and globs of its own: with more than a hundred patterns they corrupt its
// memory, a glob does not match a line break, and a broken pattern is no error.
func native() map[string]string {
	return map[string]string{
		"opa_regex_match":                    "regex.match",
		"opa_regex_is_valid":                 "regex.is_valid",
		"opa_regex_find_all_string_submatch": "regex.find_all_string_submatch_n",
		"opa_glob_match":                     "glob.match",
	}
}

// policy speaks with policies that `opa build -t wasm` has compiled: version 1 of OPA's ABI
// (https://www.openpolicyagent.org/docs/wasm).
type policy struct {
	data      []byte // the document data, JSON
	functions func(name string) Function
	rules     []string // that the manifest names

	builtins map[uint32]Function // by the module's own number
	names    map[uint32]string
	entries  []entry // in the order of their names
}

// An entry is a set of findings: data.<package>.<effect>, where the last part of the package is the rule.
type entry struct {
	id           uint64
	rule, effect string
}

// Names of the exports and imports of a compiled policy.
const (
	policyModule      = "env"
	policyVersion     = "opa_wasm_abi_version"
	policyMalloc      = "opa_malloc"
	policyParseJSON   = "opa_json_parse"
	policyDumpJSON    = "opa_json_dump"
	policyParse       = "opa_value_parse"
	policyDump        = "opa_value_dump"
	policyHeap        = "opa_heap_ptr_get"
	policyEval        = "opa_eval"
	policyEntrypoints = "entrypoints"
	policyBuiltins    = "builtins"
	supportedABI      = 1
)

func (p *policy) check(all map[string]api.FunctionDefinition) error {
	return checkTypes(all, map[string][2]string{
		policyMalloc: {"i", "i"}, policyParseJSON: {"ii", "i"}, policyDumpJSON: {"i", "i"},
		policyParse: {"ii", "i"}, policyDump: {"i", "i"},
		policyHeap: {"", "i"}, policyEval: {"iiiiiii", "i"}, policyEntrypoints: {"", "i"},
		policyBuiltins: {"", "i"},
	})
}

// imports are the functions that a compiled policy can import.
func (p *policy) imports() map[imported]hostFunction {
	all := map[imported]hostFunction{
		{policyModule, "opa_abort"}:   {"i", "", abort},
		{policyModule, "opa_println"}: {"i", "", say},
	}
	for n := range 5 {
		all[imported{policyModule, "opa_builtin" + strconv.Itoa(n)}] = hostFunction{
			"ii" + strings.Repeat("i", n), "i", func(ctx context.Context, m api.Module, stack []uint64) {
				id := uint32(stack[0])
				stack[0] = dispatch(ctx, m, p.names[id], p.builtins[id], stack[2:2+n])
			},
		}
	}
	for name, params := range map[string]string{
		"regex.match": "ii", "regex.is_valid": "i", "regex.find_all_string_submatch_n": "iii", "glob.match": "iii",
	} {
		f := p.functions(name)
		all[imported{tickModule, name}] = hostFunction{params, "i",
			func(ctx context.Context, m api.Module, stack []uint64) {
				stack[0] = dispatch(ctx, m, name, f, stack[:len(params)])
			}}
	}
	return all
}

func abort(_ context.Context, m api.Module, stack []uint64) {
	text, _ := textAt(m.Memory(), stack[0], maxSaid)
	panic(fmt.Errorf("it gave up: %q", text))
}

func say(ctx context.Context, m api.Module, stack []uint64) {
	c := callOf(ctx)
	c.mustGoOn()
	text, _ := textAt(m.Memory(), stack[0], maxSaid)
	c.said = append(c.said, text[:min(len(text), maxSaid-len(c.said))]...)
}

// textAt reads a text that a zero byte ends.
func textAt(m api.Memory, at uint64, most uint32) (string, error) {
	b, ok := m.Read(uint32(at), min(most+1, m.Size()-min(uint32(at), m.Size())))
	if !ok {
		return "", fmt.Errorf("a text at %d does not lie in its memory", uint32(at))
	}
	end := bytes.IndexByte(b, 0)
	if end < 0 {
		return "", fmt.Errorf("a text has more than the limit of %d bytes", most)
	}
	return string(b[:end]), nil
}

// maxArgument bounds an argument of a builtin function, in bytes.
const maxArgument = 16 << 20

// dispatch runs a builtin function of the host's for a module that is in the middle of a call. An
// error ends the call: Rego would leave the rule undefined, and that must not hide a finding.
func dispatch(ctx context.Context, m api.Module, name string, f Function, addresses []uint64) uint64 {
	must := func(v uint64, err error) uint64 {
		if err != nil {
			panic(fmt.Errorf("%s: %w", name, err))
		}
		return v
	}
	callOf(ctx).mustGoOn()
	if f == nil {
		panic(errors.New("it calls a builtin function that it has not declared"))
	}
	args := make([]string, len(addresses))
	for i, address := range addresses {
		at := must(exported(ctx, m, policyDump, address))
		text, err := textAt(m.Memory(), at, maxArgument)
		must(0, err)
		args[i] = text
	}
	result, err := f(ctx, args)
	must(0, err)
	if result == "" {
		return 0
	}
	callOf(ctx).mustGoOn()
	at := must(exported(ctx, m, policyMalloc, uint64(len(result))))
	if !m.Memory().WriteString(uint32(at), result) {
		must(0, errors.New("there is no memory for its result"))
	}
	value := must(exported(ctx, m, policyParse, at, uint64(len(result))))
	if value == 0 {
		must(0, errors.New("its result is not understood"))
	}
	return value
}

func exported(ctx context.Context, m api.Module, name string, args ...uint64) (uint64, error) {
	results, err := m.ExportedFunction(name).Call(ctx, args...)
	if err != nil {
		return 0, err
	}
	return results[0], nil
}

func (p *policy) begin(ctx context.Context, i *instance) error {
	version := i.module.ExportedGlobal(policyVersion)
	if version == nil || uint32(version.Get()) != supportedABI {
		return errors.New("it is not of version 1 of OPA's ABI: build it with opa build -t wasm")
	}
	if p.entries == nil { // the same for all instances; the first is made alone
		if err := p.learn(ctx, i); err != nil {
			return err
		}
	}
	at, err := i.write(ctx, p.data)
	if err != nil {
		return err
	}
	if i.data, err = i.call(ctx, policyParseJSON, at, uint64(len(p.data))); err == nil && i.data == 0 {
		err = errors.New("its data is not understood")
	}
	return err
}

// learn asks the module for its entrypoints and its requirements.
func (p *policy) learn(ctx context.Context, i *instance) error {
	var needs, has map[string]uint32
	for name, into := range map[string]*map[string]uint32{policyBuiltins: &needs, policyEntrypoints: &has} {
		if err := i.ask(ctx, name, into); err != nil {
			return err
		}
	}
	p.builtins, p.names = map[uint32]Function{}, map[uint32]string{}
	for _, name := range slices.Sorted(maps.Keys(needs)) {
		f := p.functions(name)
		if f == nil {
			return fmt.Errorf("it calls %s, which policies may not: a decision depends on the input alone", name)
		}
		p.builtins[needs[name]], p.names[needs[name]] = f, name
	}
	return p.setEntries(has)
}

func (p *policy) setEntries(has map[string]uint32) error {
	judged := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(has)) {
		parts := strings.Split(name, "/")
		if len(parts) < 2 || !slices.Contains([]string{"deny", "ask", "warn"}, parts[len(parts)-1]) {
			return fmt.Errorf(
				"entrypoint %s: it does not end in a rule and deny, ask or warn: build it with -e <package>/<rule>/deny",
				name)
		}
		e := entry{uint64(has[name]), parts[len(parts)-2], parts[len(parts)-1]}
		if !slices.Contains(p.rules, e.rule) {
			return fmt.Errorf("entrypoint %s: the manifest has no rule %q: it has %s", name, e.rule,
				strings.Join(p.rules, ", "))
		}
		if judged[e.rule+"/"+e.effect] {
			return fmt.Errorf("entrypoint %s: there are two of rule %s: give their packages different names", name,
				e.rule)
		}
		judged[e.rule], judged[e.rule+"/"+e.effect] = true, true
		p.entries = append(p.entries, e)
	}
	for _, rule := range p.rules {
		if !judged[rule] {
			return fmt.Errorf("rule %q of the manifest has no entrypoint: it could never find anything", rule)
		}
	}
	return nil
}

// write puts bytes into memory that the module gives.
func (i *instance) write(ctx context.Context, b []byte) (uint64, error) {
	at, err := i.call(ctx, policyMalloc, uint64(len(b)))
	if err != nil {
		return 0, err
	}
	if !i.holds(uint32(at), uint32(len(b))) || !i.memory.Write(uint32(at), b) {
		return 0, fmt.Errorf("%s gives %d bytes at %d, which do not lie in its memory of %d", policyMalloc, len(b),
			uint32(at), i.size())
	}
	return at, nil
}

func (p *policy) judge(ctx context.Context, i *instance, l Limits, input []byte) ([][]byte, error) {
	at, err := i.write(ctx, input)
	if err != nil {
		return nil, err
	}
	outputs := make([][]byte, len(p.entries))
	for n, e := range p.entries {
		heap, err := i.call(ctx, policyHeap)
		if err != nil {
			return nil, err
		}
		result, err := i.call(ctx, policyEval, 0, e.id, i.data, at, uint64(len(input)), heap, 0)
		if err != nil {
			return nil, err
		}
		text, err := textAt(i.memory, result, l.output())
		if err != nil {
			return nil, fmt.Errorf("its result: %w", err)
		}
		outputs[n] = []byte(text)
	}
	return outputs, nil
}

// Info describes an open plugin, for people.
type Info struct {
	Name      string   `json:"name"`
	Version   string   `json:"version"`
	File      string   `json:"file"`
	SHA256    string   `json:"sha256"`
	Bytes     int      `json:"bytes"`
	Interface int      `json:"interface"`
	Rules     []string `json:"rules"` // ids
	Limits    Limits   `json:"limits"`
	Imports   []string `json:"imports"`
	Reset     Reset    `json:"reset"`
	MemoryKiB int      `json:"memory_kib"` // of an instance that waits for a call
	Compiled  string   `json:"compiled"`   // where the compiled form is kept: a directory, or "memory: " and why
	Cost      Cost     `json:"cost"`
}

// Reset says how state is kept from surviving a call.
type Reset struct {
	How string `json:"how"` // "snapshot" or "new instance"
	Why string `json:"why"` // the state that cannot be reset; "" for a snapshot
}

// Cost is measured on this machine, in microseconds.
type Cost struct {
	Load     float64 `json:"load_us"`     // compiling, or reading the compiled form
	Instance float64 `json:"instance_us"` // making an instance
	Calls    int     `json:"calls"`       // that the next two are of
	Median   float64 `json:"call_p50_us"` // one call with a small input
	Slowest  float64 `json:"call_max_us"`
}

func micros(d time.Duration) float64 { return float64(d.Nanoseconds()/100) / 10 }

// Info describes the plugin, and measures the given number of calls.
func (p *Plugin) Info(ctx context.Context, calls int) (Info, error) {
	m := p.manifest
	info := Info{
		Name: m.Name, Version: m.Version, File: p.file, SHA256: m.SHA256, Bytes: p.size,
		Interface: m.Interface,
		Rules:     slices.Sorted(maps.Keys(p.rules)), Limits: m.Limits, Imports: []string{},
		Reset:     Reset{How: "snapshot"},
		MemoryKiB: int(p.pool.memory >> 10), Compiled: p.pool.compiled.kept,
		Cost: Cost{Load: micros(p.pool.compiled.took), Instance: micros(p.pool.took), Calls: calls},
	}
	if p.pool.start == nil {
		info.Reset = Reset{How: "new instance", Why: p.pool.module.lasting}
	}
	for _, i := range p.imports {
		info.Imports = append(info.Imports, i.String())
	}
	slices.Sort(info.Imports)
	info.Imports = slices.Compact(info.Imports)
	if calls == 0 {
		return info, nil
	}
	took := make([]time.Duration, calls)
	for i := range took {
		start := time.Now()
		if _, err := p.Evaluate(ctx, sampleInput()); err != nil {
			return Info{}, err
		}
		took[i] = time.Since(start)
	}
	slices.Sort(took)
	info.Cost.Median, info.Cost.Slowest = micros(took[calls/2]), micros(took[calls-1])
	return info, nil
}
