package wasm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// builtin opens the built-in policies with the data that engine/rego would give them.
func builtin(t *testing.T) *Policies {
	t.Helper()
	var p *Policies
	module, rules := policies.Compiled()
	_, err := rego.New(t.Context(), rego.Options{
		Bundle: policies.FS(), Tested: true, Revision: policies.Revision(),
		Compiled: &rego.Compiled{Module: module, Rules: rules, Open: func(ctx context.Context, module, data []byte) (rego.Machine, error) {
			var err error
			p, err = OpenPolicies(ctx, PoliciesOptions{Module: module, Data: data, Time: await.Guard, clock: steps()})
			return unclosed{p}, err
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// unclosed is closed by its test, not when its evaluator is forgotten.
type unclosed struct{ *Policies }

func (unclosed) Close() error { return nil }

const decisionEntry = "sallyport/main/decision"

func TestPoliciesDecide(t *testing.T) {
	t.Parallel()
	p := builtin(t)
	harmless, disaster := sampleInput(), sampleInput()
	disaster.Commands[0].Flags = []string{"privilege_escalation"}
	disaster.Commands[0].Effects = []string{"privilege"}
	want := map[*facts.Input]string{}
	for in, effect := range map[*facts.Input]string{harmless: `"effect":"allow"`, disaster: `"effect":"deny"`} {
		text, err := p.Evaluate(t.Context(), decisionEntry, in)
		if err != nil || !strings.Contains(string(text), effect) {
			t.Fatalf("%s, %v, want %s", text, err, effect)
		}
		want[in] = string(text)
	}
	// Nothing of one evaluation is left for the next, nor for another at the same time.
	var all sync.WaitGroup
	for n := range 8 {
		all.Go(func() {
			for i := range 50 {
				in := harmless
				if (n+i)%2 == 0 {
					in = disaster
				}
				if text, err := p.Evaluate(t.Context(), decisionEntry, in); err != nil || string(text) != want[in] {
					t.Errorf("%s, %v, want %s", text, err, want[in])
					return
				}
			}
		})
	}
	all.Wait()
	if _, err := p.Evaluate(t.Context(), "sallyport/main/other", harmless); err == nil {
		t.Error("an entrypoint that is not there was evaluated")
	}
}

// What ends an evaluation is an error, and the next one is as if it had not been.
func TestPoliciesThatDoNotEndInTime(t *testing.T) {
	t.Parallel()
	p := builtin(t)
	in := sampleInput()
	for i := range 3000 {
		c := in.Commands[0]
		c.Name = fmt.Sprint("x", i)
		in.Commands = append(in.Commands, c)
	}
	p.time = time.Nanosecond
	if text, err := p.Evaluate(t.Context(), decisionEntry, in); !errors.Is(err, errTime) {
		t.Errorf("%s, %v", text, err)
	}
	p.time = await.Guard
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if text, err := p.Evaluate(ctx, decisionEntry, in); !errors.Is(err, context.Canceled) {
		t.Errorf("%s, %v", text, err)
	}
	text, err := p.Evaluate(t.Context(), decisionEntry, sampleInput())
	if err != nil || !strings.Contains(string(text), `"effect":"allow"`) {
		t.Errorf("%s, %v", text, err)
	}
}

// A large input is judged, and the memory that it took is given back.
func TestPoliciesOfManyPaths(t *testing.T) {
	t.Parallel()
	p := builtin(t)
	in := sampleInput()
	for i := range 24_000 {
		path := in.Paths[0]
		path.Path = fmt.Sprintf("/srv/%d", i)
		in.Paths = append(in.Paths, path)
	}
	text, err := p.Evaluate(t.Context(), decisionEntry, in)
	if err != nil || !strings.Contains(string(text), `"effect":"allow"`) {
		t.Fatalf("%s, %v", text, err)
	}
	select {
	case e := <-p.idle:
		t.Errorf("an instance with %d bytes waits for the next input", e.memory.Size())
	default:
	}
}

func TestPoliciesThatAreNotOpened(t *testing.T) {
	t.Parallel()
	module, _ := policies.Compiled()
	raw, _, err := rego.Compile(t.Context(), policies.FS(), "")
	if err != nil {
		t.Fatal(err)
	}
	metered, err := Metered(raw)
	if err != nil || !bytes.Equal(metered, module) {
		t.Errorf("it is metered in another way, %v", err)
	}
	if _, err := Metered([]byte("x")); err == nil {
		t.Error("nonsense was metered")
	}
	for name, tt := range map[string]struct {
		module []byte
		data   string
		want   string
	}{
		"nonsense":    {[]byte("x"), "{}", "compile"},
		"not metered": {raw, "{}", "not metered"},
		"cut off":     {module[:len(module)/2], "{}", "compile"},
		"no data":     {module, "{", "data is not understood"},
	} {
		if _, err := OpenPolicies(t.Context(), PoliciesOptions{Module: tt.module, Data: []byte(tt.data), Time: await.Guard, clock: steps()}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want an error with %q", name, err, tt.want)
		}
	}
}

// The module reads what was laid out as the JSON of the same value.
func TestLayout(t *testing.T) {
	t.Parallel()
	p := builtin(t)
	e, err := p.begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, _ := p.compiled.newCall(t.Context(), await.Guard, judging)
	in := sampleInput()
	in.Commands[0].Argv = []string{"", "ü\u2028\x00\x07\"\\/", "\xff\xc3ü\xed\xa0\x80", strings.Repeat("long ", 100_000)}
	in.Request.TimeoutSeconds = 0.125
	in.Commands[0].Span = facts.Span{Start: -1, End: math.MaxInt32}
	for i := range 300 { // more than there are shared indexes
		in.Commands[0].Inputs = append(in.Commands[0].Inputs, i)
	}
	for range 2 { // the second time at the address of the first
		if _, err := p.run(ctx, e, p.entries[decisionEntry], in); err != nil {
			t.Fatal(err)
		}
		value := p.form(&layouts{base: e.input.base, b: nil}, &e.shared, reflect.ValueOf(in).Elem())
		at, err := e.call(ctx, policyDumpJSON, uint64(value))
		if err != nil {
			t.Fatal(err)
		}
		text, err := textAt(e.memory, at, maxResult)
		if err != nil {
			t.Fatal(err)
		}
		if !utf8.ValidString(text) {
			t.Error("laid out is what JSON cannot hold")
		}
		want, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var got, wanted any
		if err := errors.Join(json.Unmarshal([]byte(text), &got), json.Unmarshal(want, &wanted)); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wanted, got); diff != "" {
			t.Error(diff)
		}
	}
	if _, err := formOf(reflect.TypeFor[map[string]int](), map[string]bool{}); err == nil {
		t.Error("a map has a form")
	}
	if _, err := formOf(reflect.TypeFor[struct{ NoName int }](), map[string]bool{}); err == nil {
		t.Error("a field without a name has a form")
	}
}

// A program tries the module once for each cache; without the record of it, it tries again.
func TestPoliciesAreTriedOnce(t *testing.T) {
	t.Parallel()
	module, _ := policies.Compiled()
	dir := t.TempDir()
	open := func() {
		t.Helper()
		p, err := OpenPolicies(t.Context(), PoliciesOptions{
			Module: module, Data: []byte(`{"sallyport":{}}`), Cache: dir, Time: await.Guard, clock: steps(),
			Native: true,
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	open()
	first, err := os.Stat(tried(dir))
	if err != nil {
		t.Fatal(err)
	}
	open()
	if again, err := os.Stat(tried(dir)); err != nil || !again.ModTime().Equal(first.ModTime()) {
		t.Errorf("it was tried twice, %v", err)
	}
	if err := os.Remove(tried(dir)); err != nil {
		t.Fatal(err)
	}
	open()
	if _, err := os.Stat(tried(dir)); err != nil {
		t.Errorf("it was not tried again: %v", err)
	}
	if tried("") != "" {
		t.Error("a trial is recorded without a cache")
	}
}
