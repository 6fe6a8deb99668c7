package wasm

import (
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// onBad makes a plugin that does something only where the input is not the sample: it compares the
// length, which lies in local 1. So it can be opened, does harm when it is asked, and can be asked
// again for something else.
func onBad(does ...[]byte) assembly {
	a := newAssembly()
	a.evaluate = code(op(opLocalGet, 1), i32(5000), op(0x4b, opIf, blockEmpty), code(does...), op(opEnd), a.evaluate) // i32.gt_u
	return a
}

const (
	opI32Store = 0x36
	opI32Mul   = 0x6c
	opI32GtU   = 0x4b
	opI32GeU   = 0x4f
	endlessMS  = 50 // of plugins that do not end
)

// hostile lists plugins that do harm, and what their fault must say.
func hostile() map[string]struct {
	module assembly
	want   string
} {
	ret := func(at, size uint32) []byte { return code(result(at, size), op(opReturn)) }
	fill := code(i32(0), i32(0), i32(8<<16), op(opMore, moreMemoryFill, 0))
	type list = map[string]struct {
		module assembly
		want   string
	}
	all := list{
		"endless loop":           {onBad(forever()), "did not end in time"},
		"endless loop with work": {onBad(forever(i32(0), op(opLocalGet, 2), i32(1), op(opI32Add, opLocalTee, 2, opI32Store8, 0, 0))), "did not end in time"},
		"loop of small calls":    {onBad(forever(i32(1), op(opCall, 1, opDrop))), "did not end in time"},
		"loop of large fills":    {onBad(forever(fill)), "did not end in time"},
		"endless recursion":      {onBad(op(opLocalGet, 0, opLocalGet, 1, opCall, 2, opDrop)), "stack overflow|did not end in time"},
		"recursion, unbalanced":  {onBad(op(opLocalGet, 0, opLocalGet, 1, opCall, 2, opReturn)), "stack overflow|did not end in time"},
		"memory bomb":            {onBad(forever(i32(1), op(opMemoryGrow, 0, opDrop))), "did not end in time"},
		"memory bomb that traps": {onBad(forever(i32(1), op(opMemoryGrow, 0), i32(-1), op(opI32Eq, opIf, blockEmpty, opUnreachable, opEnd))), "unreachable"},
		"memory at once":         {onBad(i32(65536), op(opMemoryGrow, 0), i32(-1), op(opI32Eq, opIf, blockEmpty, opUnreachable, opEnd)), "unreachable"},
		"trap":                   {onBad(op(opUnreachable)), "unreachable"},
		"division by zero":       {onBad(i32(1), i32(0), op(0x6d, opDrop)), "integer divide by zero"},
		"load out of memory":     {onBad(i32(-1), op(opI32Load8, 0, 0, opDrop)), "out of bounds memory access"},
		"output out of memory":   {onBad(ret(0xffff_0000, 100)), "do not lie in its memory"},
		"output over the end":    {onBad(ret(8<<16-10, 100)), "do not lie in its memory"},
		"huge output":            {onBad(ret(0, 8<<16)), "the limit is 65536"},
		"output of 4 GB":         {onBad(ret(0, 0xffff_ffff)), "the limit is 65536"},
		"empty output":           {onBad(ret(0, 0)), "not a JSON object"},
		"garbage":                {onBad(ret(outputAt+3, 9)), "not a JSON object"},
		"input as output":        {onBad(op(opReturn)), ""},
	}
	input := all["input as output"]
	input.module = onBad(op(opLocalGet, 0, opI64ExtendU), i64(32), op(opI64Shl, opLocalGet, 1, opI64ExtendU, opI64Add, opReturn))
	input.want = "unknown key"
	all["input as output"] = input
	for name, at := range map[string]int64{"input at nothing": 0, "input out of memory": -1, "input over the end": 8<<16 - 100} {
		a := newAssembly()
		want := "do not lie in its memory"
		if at == 0 {
			want = "has no memory"
		}
		a.alloc = code(op(opLocalGet, 0), i32(5000), op(opI32GtU, opIf, valI32), i32(at), op(opElse), i32(inputAt), op(opEnd))
		all[name] = struct {
			module assembly
			want   string
		}{a, want}
	}
	table := onBad(forever(op(opRefNull, refFunc), i32(1<<20), op(opMore, moreTableGrow, 0, opDrop)))
	table.table = 1
	all["table bomb"] = struct {
		module assembly
		want   string
	}{table, "did not end in time"}
	return all
}

// TestHostilePlugins: each gives a fault in time, and the next request is served by the same plugin.
func TestHostilePlugins(t *testing.T) {
	t.Parallel()
	bad := sampleInput()
	bad.Request.Command = strings.Repeat("x", 6000)
	for name, tt := range hostile() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ms := testLimits().TimeMS
			if strings.Contains(tt.want, "in time") {
				ms = endlessMS
			}
			p := openedFor(t, tt.module, ms)
			for range 2 {
				j, err := p.Evaluate(t.Context(), bad)
				if err == nil || !slices.ContainsFunc(strings.Split(tt.want, "|"), func(w string) bool { return strings.Contains(err.Error(), w) }) {
					t.Errorf("got %v, want an error with %q", err, tt.want)
				}
				if j.Effect == engine.Allow {
					t.Error("allowed")
				}
				if j, err := p.Evaluate(t.Context(), sampleInput()); err != nil || j.Effect != engine.Allow {
					t.Errorf("the next request: %v, %v", j.Effect, err)
				}
			}
		})
	}
}

// What is hostile from the beginning is not loaded at all.
func TestHostileBeginnings(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		module assembly
		want   string
	}{
		"endless _initialize":      {assembly{begin: forever()}, "begin: _initialize: it did not end in time"},
		"_initialize that traps":   {assembly{begin: op(opUnreachable)}, "begin: _initialize: wasm error: unreachable"},
		"endless start function":   {assembly{begin: forever(), extra: []section{{secStart, []byte{3}}}}, ""},
		"endless when it is asked": {assembly{evaluate: code(forever(), op(opUnreachable))}, "try it on a sample"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := newAssembly()
			a.begin, a.extra = tt.module.begin, tt.module.extra
			if tt.module.evaluate != nil {
				a.evaluate = tt.module.evaluate
			}
			module := installed(t, a.binary(), func(m *Manifest) { m.Limits.TimeMS = endlessMS })
			_, err := Open(t.Context(), Options{Clock: steps(), Module: module})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

// A plugin in a loop must not keep the collector, and with it all other work, waiting until it ends.
func TestLoopDoesNotStopTheCollector(t *testing.T) {
	var looks atomic.Int64
	over := make(chan struct{})
	p := openedBy(t, func() time.Time {
		looks.Add(1)
		select {
		case <-over:
			return time.Unix(3600, 0)
		default:
			return time.Unix(0, 0)
		}
	}, onBad(forever()), 2000)
	bad := sampleInput()
	bad.Request.Command = strings.Repeat("x", 6000)
	done := make(chan error, 1)
	go func() {
		_, err := p.Evaluate(t.Context(), bad)
		done <- err
	}()
	for range 3 {
		before := looks.Load()
		await.True(t, "the plugin is in its loop", func() bool { return looks.Load() > before+1 })
		runtime.GC()
	}
	close(over)
	if err := await.Receive(t, "end of the plugin", done); !errors.Is(err, errTime) {
		t.Error(err)
	}
}

// counters are plugins that count their calls in some place and find something from the third on. (The
// second is the first that anybody sees: a plugin has been tried before.)
func counters() map[string]assembly {
	found := one("", "")
	output := nothing + found
	say := func(a assembly, condition []byte) assembly {
		a.output = output
		a.evaluate = code(condition, op(opIf, valI64), result(outputAt+uint32(len(nothing)), uint32(len(found))),
			op(opElse), result(outputAt, uint32(len(nothing))), op(opEnd))
		return a
	}
	atLeast := func(n int64) []byte { return code(i32(n), op(opI32GeU)) }
	inMemory := func(at int64) []byte {
		return code(i32(at), op(opI32Load8, 0, 0, opLocalSet, 2), i32(at), op(opLocalGet, 2), i32(1), op(opI32Add, opI32Store8, 0, 0, opLocalGet, 2), atLeast(2))
	}
	inGlobal := code(op(opGlobalGet, 0, opLocalSet, 2, opLocalGet, 2, opI32Const, 1, opI32Add, opGlobalSet, 0, opLocalGet, 2), atLeast(2))
	inSize := code(i32(1), op(opMemoryGrow, 0), atLeast(10))
	muchSize := code(i32(25), op(opMemoryGrow, 0), atLeast(58))
	inTable := code(op(opRefNull, refFunc, opI32Const, 1, opMore, moreTableGrow, 0), atLeast(3))
	global, table := newAssembly(), newAssembly()
	global.globals = []byte{valI32}
	table.table = 1
	return map[string]assembly{
		"memory":                   say(newAssembly(), inMemory(40000)),
		"memory that it grew into": say(newAssembly(), code(i32(2), op(opMemoryGrow, 0, opDrop), inMemory(9<<16))),
		"global":                   say(global, inGlobal), "size of memory": say(newAssembly(), inSize), "much larger memory": say(newAssembly(), muchSize),
		"table": say(table, inTable),
	}
}

func TestNothingSurvivesACall(t *testing.T) {
	t.Parallel()
	for name, a := range counters() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, err := rewrite(a.binary(), 1000, nil)
			if err != nil {
				t.Fatal(err)
			}
			// The refusal first: one instance that nobody puts back does find its own traces.
			l := testLimits()
			c, err := compile(t.Context(), m, wasiFunctions(), "", await.Guard)
			if err != nil {
				t.Fatal(err)
			}
			defer c.close()
			p := &pool{compiled: c, module: m, speaks: rules{}, limits: l}
			i, err := p.begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for n := range 3 {
				out, err := p.judge(t.Context(), i, []byte("{}"))
				if err != nil || (string(out[0]) == nothing) != (n < 2) {
					t.Fatalf("call %d of an instance that is not put back: %s, %v", n, out, err)
				}
			}
			plugin := opened(t, a)
			for n := range 10 {
				if j, err := plugin.Evaluate(t.Context(), sampleInput()); err != nil || j.Effect != engine.Allow {
					t.Errorf("call %d: %v, %v: something is left of a call before", n, j.Effect, err)
				}
			}
			info, err := plugin.Info(t.Context(), 2)
			if want := map[bool]string{true: "new instance", false: "snapshot"}[name == "table"]; err != nil || info.Reset.How != want {
				t.Errorf("it is put back by %+v, %v, want %q", info.Reset, err, want)
			}
		})
	}
}

// Memory beyond what a plugin asked for is there, and what it leaves there is not.
func TestMemoryThatIsNotItsOwn(t *testing.T) {
	t.Parallel()
	const at = 9 << 16
	a := onBad(i32(at), op(opI32Load8, 0, 0, opIf, blockEmpty, opUnreachable, opEnd), i32(at), i32(1), op(opI32Store8, 0, 0))
	p := opened(t, a)
	bad := sampleInput()
	bad.Request.Command = strings.Repeat("x", 6000)
	for n := range 10 {
		if _, err := p.Evaluate(t.Context(), bad); err != nil {
			t.Errorf("call %d: %v", n, err)
		}
	}
}

func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	p := opened(t, counters()["memory"])
	var all sync.WaitGroup
	for range 16 {
		all.Go(func() {
			for range 50 {
				if j, err := p.Evaluate(t.Context(), sampleInput()); err != nil || j.Effect != engine.Allow {
					t.Errorf("%v, %v", j.Effect, err)
				}
			}
		})
	}
	all.Wait()
}
