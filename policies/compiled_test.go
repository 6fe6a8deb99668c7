package policies_test

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// nativeCode is where the tests of this package keep the native code of the compiled rules.
var nativeCode string

func TestMain(m *testing.M) {
	dir, err := os.MkdirTemp("", "sallyport-policies-")
	if err != nil {
		panic(err)
	}
	nativeCode = dir
	status := m.Run()
	os.RemoveAll(dir)
	os.Exit(status)
}

// compiled is the bundle as the program judges by it.
func compiled() *rego.Compiled {
	module, rules := policies.Compiled()
	return &rego.Compiled{Module: module, Rules: rules, Open: func(ctx context.Context, module, data []byte) (rego.Machine, error) {
		return wasm.OpenPolicies(ctx, wasm.PoliciesOptions{Module: module, Data: data, Cache: nativeCode, Time: await.Guard})
	}}
}

// TestCompiledIsOfTheseRules makes the compiled form anew: it is that which is in the repository, byte for byte.
func TestCompiledIsOfTheseRules(t *testing.T) {
	t.Parallel()
	module, rules, err := rego.Compile(t.Context(), policies.FS(), policies.Hash())
	if err == nil {
		module, err = wasm.Metered(module)
	}
	if err != nil {
		t.Fatal(err)
	}
	wantModule, wantRules := policies.Compiled()
	if !bytes.Equal(module, wantModule) || !bytes.Equal(rules, wantRules) {
		t.Error("policies/compiled is not made of policies/sallyport as it is: run make generate")
	}
}

// Inputs that no text leads to: facts of all kinds in all mixtures. Each is judged alike by the compiled rules
// and by topdown.
func TestEvaluatorsAgreeOnChance(t *testing.T) {
	t.Parallel()
	e := shared()
	for i, profile := range []string{"standard", "strict", "readonly", "massgen", "team"} {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			evaluator := e.of(t, rego.Config{Profile: profile, Exemptions: []rego.Exemption{{Rule: "git/force_push"}, {Rule: "paths/write_outside"}}})
			reasons := 0
			for n := range 150 {
				in := chance(rand.New(rand.NewPCG(uint64(i), uint64(n))))
				agree(t, evaluator, in)
				if j, err := evaluator.Evaluate(t.Context(), in); err == nil {
					reasons += len(j.Reasons)
				}
			}
			if reasons < 100 {
				t.Errorf("only %d reasons: these inputs are no test", reasons)
			}
		})
	}
}

// Names of files need not be text. What a reason then quotes is the same by both.
func TestEvaluatorsAgreeOnWhatIsNoText(t *testing.T) {
	t.Parallel()
	e := shared()
	in := chance(rand.New(rand.NewPCG(1, 1)))
	in.Commands = []facts.Command{{Known: true}}
	in.Paths = []facts.Path{{Path: "/etc/a\xffb\xc3", Zone: "self", Access: "delete", Certainty: "literal"}}
	evaluator := e.of(t, rego.Config{Profile: "standard"})
	agree(t, evaluator, in)
	j, err := evaluator.Evaluate(t.Context(), in)
	if err != nil || !slices.ContainsFunc(j.Reasons, func(r engine.Reason) bool { return r.Message == "/etc/a\uFFFDb\uFFFD belongs to sallyport" }) {
		t.Errorf("%v; no reason quotes the path: %+v", err, j.Reasons)
	}
}

// FuzzEvaluatorsAgree lets a fuzzer throw the dice.
func FuzzEvaluatorsAgree(f *testing.F) {
	for n := range uint64(4) {
		f.Add(n, n, "rm -rf /")
	}
	f.Add(uint64(9), uint64(9), "\x00\xff\u2028\"\\\n'\U0001F600")
	profiles := []string{"standard", "strict", "readonly", "massgen", "team"}
	e := shared()
	f.Fuzz(func(t *testing.T, a, b uint64, text string) {
		in := chance(rand.New(rand.NewPCG(a, b)))
		in.Request.Command = text
		for i := range in.Commands {
			if i%2 == int(a%2) {
				in.Commands[i].Argv = append(in.Commands[i].Argv, text)
			}
		}
		for i := range in.Paths {
			if i%2 == int(b%2) {
				in.Paths[i].Path = text
			}
		}
		agree(t, e.of(t, rego.Config{Profile: profiles[b%5]}), in)
	})
}

func agree(t *testing.T, e *rego.Evaluator, in *facts.Input) {
	t.Helper()
	if both, err := e.Agree(t.Context(), in); err != nil || !both {
		t.Fatalf("compared: %v; %v\n%+v", both, err, *in)
	}
}

// words are all texts that stand in the rules, and some that do not.
var words = sync.OnceValue(func() []string {
	all := []string{"", "x", "/", "a b", "ü\n\"", "-"}
	err := fs.WalkDir(policies.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, ".rego") {
			return err
		}
		text, err := fs.ReadFile(policies.FS(), name)
		for _, literal := range regexp.MustCompile(`"[^"\n]*"`).FindAllString(string(text), -1) {
			if word, err := strconv.Unquote(literal); err == nil {
				all = append(all, word)
			}
		}
		return err
	})
	if err != nil {
		panic(err)
	}
	slices.Sort(all)
	return slices.Compact(all)
})

// chance is an input of the form that facts have and of no sense.
func chance(dice *rand.Rand) *facts.Input {
	in := &facts.Input{}
	scatter(dice, reflect.ValueOf(in).Elem())
	in.Version = facts.Version
	return in
}

func scatter(dice *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(time.Unix(dice.Int64N(1<<32), 0)))
			return
		}
		for i := range v.NumField() {
			scatter(dice, v.Field(i))
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), dice.IntN(4), 4))
		for i := range v.Len() {
			scatter(dice, v.Index(i))
		}
	case reflect.String:
		v.SetString(words()[dice.IntN(len(words()))])
	case reflect.Bool:
		v.SetBool(dice.IntN(3) == 0)
	case reflect.Int:
		v.SetInt(dice.Int64N(4) - dice.Int64N(2))
	case reflect.Float64:
		v.SetFloat(float64(dice.IntN(100)) / 8)
	default:
		panic(fmt.Sprintf("facts have a %s, of which this test knows nothing", v.Type()))
	}
}
