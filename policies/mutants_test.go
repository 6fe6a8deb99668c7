package policies_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

var (
	mutantCount = flag.Int("mutants.count", 100, "how many mutants TestMutants tries; 0 for all")
	mutantSeed  = flag.Uint64("mutants.seed", 1, "the seed that chooses them")
	mutantsOf   = flag.String("mutants.of", "", "try the mutants of files with this prefix alone")
)

// equivalent is an entry of testdata/equivalent-mutants.yaml: a change after which the policies judge every
// input as before.
type equivalent struct {
	File  string `yaml:"file"`
	Was   string `yaml:"was"`
	Is    string `yaml:"is"`
	Nth   int    `yaml:"nth"` // of the changes of the file that read alike, from 1; 0 stands for the first
	Proof string `yaml:"proof"`
}

// key names a change by its text, which an edit elsewhere in the file does not change.
func (e equivalent) key() equivalent {
	return equivalent{File: e.File, Was: e.Was, Is: e.Is, Nth: max(1, e.Nth)}
}

func equivalents(t *testing.T) []equivalent {
	t.Helper()
	text, err := os.ReadFile("../testdata/equivalent-mutants.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var all []equivalent
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(&all); err != nil {
		t.Fatalf("read equivalent mutants: %v", err)
	}
	for _, e := range all {
		if len(e.Proof) < 20 {
			t.Errorf("%s: %s → %s has no proof", e.File, e.Was, e.Is)
		}
	}
	return all
}

// expectation is the input of a case, an example or a look-alike, and the condition for its decision.
type expectation struct {
	*rego.Recorded
	holds func(engine.Judgement) bool
}

// expectations records the inputs of all questions.
func expectations(t *testing.T, m *rego.Mutation) []expectation {
	t.Helper()
	e := shared()
	questions, holds := asked(t)
	all := make([]expectation, len(questions))
	each(len(questions), func(i int) {
		q, c := questions[i], questions[i].settings.config()
		in := q.input()
		judgement, err := e.of(t, c).Evaluate(t.Context(), in)
		if err == nil {
			all[i].Recorded, err = m.Record(c, in, judgement)
		}
		all[i].holds = holds[i]
		if err != nil || !holds[i](judgement) {
			t.Errorf("record %q %v: %v%s", q.command, q.touches, err, reasons(judgement))
		}
	})
	return all
}

// each calls do for all indexes below n, on all processors.
func each(n int, do func(int)) {
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				do(i)
			}
		})
	}
	for i := range n {
		next <- i
	}
	close(next)
	workers.Wait()
}

// TestMutants changes one place of the built-in policies after the other: a case, an example, a look-alike or
// a unit test notices each change but those that are proved equivalent, which are tried in any case.
func TestMutants(t *testing.T) {
	m, err := rego.NewMutation(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	mutants := slices.DeleteFunc(m.Mutants(), func(m rego.Mutant) bool {
		return !strings.HasPrefix(m.File, *mutantsOf)
	})
	keys := make([]equivalent, len(mutants))
	seen := map[equivalent]int{}
	for i, m := range mutants {
		key := equivalent{File: m.File, Was: m.Was, Is: m.Is}
		seen[key]++
		key.Nth = seen[key]
		keys[i] = key
	}
	proved := map[equivalent]bool{}
	for _, e := range equivalents(t) {
		if proved[e.key()] {
			t.Errorf("%s: %s → %s stands there twice", e.File, e.Was, e.Is)
		}
		if strings.HasPrefix(e.File, *mutantsOf) {
			proved[e.key()] = true
		}
	}
	chosen := rand.New(rand.NewPCG(*mutantSeed, 0)).Perm(len(mutants))
	if *mutantCount > 0 && *mutantCount < len(mutants) {
		chosen = chosen[:*mutantCount]
		for i, key := range keys {
			if proved[key] && !slices.Contains(chosen, i) {
				chosen = append(chosen, i)
			}
		}
	}
	all := expectations(t, m)
	if t.Failed() {
		return
	}
	var mu sync.Mutex
	table := map[string]map[string]int{}
	each(len(chosen), func(i int) {
		mutant, key := mutants[chosen[i]], keys[chosen[i]]
		outcome, err := tried(t.Context(), m, mutant, all)
		mu.Lock()
		defer mu.Unlock()
		switch {
		case err != nil:
			t.Errorf("%s: %v", mutant, err)
		case outcome == "survived" && proved[key]:
			outcome = "equivalent"
		case outcome == "survived":
			t.Errorf("survived, number %d of these: %s", key.Nth, mutant)
		case proved[key]:
			t.Errorf("not equivalent, noticed by a %s: %s", outcome, mutant)
		}
		delete(proved, key)
		for _, row := range []string{path.Dir(mutant.File), "all"} {
			if table[row] == nil {
				table[row] = map[string]int{}
			}
			table[row][outcome]++
		}
	})
	for e := range proved {
		t.Errorf("no change of the policies: %s: %s → %s (nth %d)", e.File, e.Was, e.Is, e.Nth)
	}
	t.Logf("%-46s %6s %6s %11s %9s %8s", "module", "unit", "case", "equivalent", "survived", "invalid")
	for _, row := range slices.SortedFunc(maps.Keys(table), cmp.Compare[string]) {
		n := table[row]
		t.Logf("%-46s %6d %6d %11d %9d %8d",
			row, n["unit"], n["case"], n["equivalent"], n["survived"], n["invalid"])
	}
}

// tried names the test that noticed a mutant: a unit test, or else a case or an example.
func tried(ctx context.Context, m *rego.Mutation, mutant rego.Mutant, all []expectation) (string, error) {
	c, err := m.Change(mutant)
	passed := false
	if err == nil {
		passed, err = c.Tests(ctx) // these take the least time
	}
	switch {
	case errors.Is(err, rego.ErrMutantInvalid):
		return "invalid", nil
	case err != nil:
		return "", err
	case !passed:
		return "unit", nil
	}
	for _, first := range []bool{true, false} { // those that the rules find something in
		for _, e := range all {
			if len(c.Rules) == 0 || e.Names(c.Rules) != first {
				continue
			}
			if j, err := c.Decide(ctx, e.Recorded); err != nil || !e.holds(j) {
				return "case", nil
			}
		}
	}
	return "survived", nil
}
