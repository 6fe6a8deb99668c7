package policies_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/policies"
)

// The compiled rules are a policy like any other: OPA's SDK for Node decides by them as sallyport does.
func TestNodeDecidesAlike(t *testing.T) {
	t.Parallel()
	leftout.Full(t, leftout.Packages)
	node := leftout.Command(t, "node")
	dir, err := filepath.Abs("../bin/opa-wasm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		leftout.Skip(t, leftout.Packages, "no OPA SDK for Node in bin/opa-wasm: run `make opa-wasm`")
	}
	sample := sampled(t)
	module, _, err := rego.Compile(t.Context(), policies.FS(), policies.Revision())
	if err != nil {
		t.Fatal(err)
	}
	machine, data := decider(t)
	files := t.TempDir()
	for name, text := range map[string][]byte{"policy.wasm": module, "data.json": data} {
		if err := os.WriteFile(filepath.Join(files, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	script, err := filepath.Abs("../testdata/opa-wasm/decide.mjs")
	if err != nil {
		t.Fatal(err)
	}
	const entrypoint = "sallyport/main/decision"
	cmd := exec.Command(node, script, filepath.Join(files, "policy.wasm"), filepath.Join(files, "data.json"), entrypoint)
	cmd.Dir, cmd.Stderr = dir, os.Stderr
	var inputs bytes.Buffer
	encoder := json.NewEncoder(&inputs)
	for _, in := range sample {
		if err := encoder.Encode(in); err != nil {
			t.Fatal(err)
		}
	}
	cmd.Stdin = &inputs
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	theirs := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if len(theirs) != len(sample) {
		t.Fatalf("%d decisions about %d inputs", len(theirs), len(sample))
	}
	effects := map[string]int{}
	for i, in := range sample {
		ours, err := machine.Evaluate(t.Context(), entrypoint, in)
		if err != nil {
			t.Fatal(err)
		}
		got, want := decided(t, theirs[i]), decided(t, ours)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%q: sallyport decides -, OPA's SDK +:\n%s", in.Request.Command, diff)
		}
		effects[want.Effect]++
	}
	t.Logf("%d inputs: %v", len(sample), effects)
	if len(effects) != 3 {
		t.Errorf("decisions are %v: the sample should have all three", effects)
	}
}

// sampled are inputs of every fifth case that needs no settings.
func sampled(t *testing.T) []*facts.Input {
	t.Helper()
	cases := readCases(t)
	var all []*facts.Input
	n := 0
	for _, group := range slices.Sorted(maps.Keys(cases)) {
		for _, c := range cases[group] {
			if !reflect.DeepEqual(c.Config, settings{}) {
				continue
			}
			if n++; n%5 == 0 {
				q, _ := c.question(t)
				all = append(all, q.input())
			}
		}
	}
	return all
}

// decider is what judges here, and the document data that it has.
func decider(t *testing.T) (rego.Machine, []byte) {
	t.Helper()
	var machine rego.Machine
	var document []byte
	c := compiled()
	open := c.Open
	c.Open = func(ctx context.Context, module, data []byte) (_ rego.Machine, err error) {
		document = data
		machine, err = open(ctx, module, data)
		return machine, err
	}
	e, err := rego.New(t.Context(), rego.Options{Bundle: policies.FS(), Tested: true, Revision: policies.Revision(), Compiled: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Policy() }) // the machine lives as long as its evaluator
	return machine, document
}

type decision struct {
	Version   int
	Effect    string
	Evaluated string
	Reasons   []string
}

// decided reads the list of results that OPA gives. Reasons are a set: they have no order.
func decided(t *testing.T, text []byte) decision {
	t.Helper()
	var results []struct {
		Result struct {
			Version   int               `json:"version"`
			Effect    string            `json:"effect"`
			Evaluated string            `json:"evaluated"`
			Reasons   []json.RawMessage `json:"reasons"`
		} `json:"result"`
	}
	if err := json.Unmarshal(text, &results); err != nil || len(results) != 1 {
		t.Fatalf("%s: %v", text, err)
	}
	d := decision{results[0].Result.Version, results[0].Result.Effect, results[0].Result.Evaluated, nil}
	for _, r := range results[0].Result.Reasons {
		var value any
		if err := json.Unmarshal(r, &value); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(value) // with its keys in order
		if err != nil {
			t.Fatal(err)
		}
		d.Reasons = append(d.Reasons, string(text))
	}
	slices.SortFunc(d.Reasons, cmp.Compare[string])
	return d
}
