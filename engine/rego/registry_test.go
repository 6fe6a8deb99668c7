package rego

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	opa "github.com/open-policy-agent/opa/v1/rego"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/policies"
)

// TestStockOPA holds decisions against those of OPA over files: the bundle with the registry, and
// with one in which no rule waits for a fact. OPA leaves out no check, the evaluator does. Inputs are chance, so that rules fire in all mixtures.
func TestStockOPA(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"standard", "readonly"} {
		e := builtin(t, profile)
		over := map[string]opa.PreparedEvalQuery{"the registry": overFiles(t, registryOf(t, e))}
		if profile == "readonly" { // which leaves out no rule of the other's
			never := func(*rule, string) []fact { return nil }
			over["no rule waiting"] = overFiles(t, registry(e.policies.rules, never))
		}
		generate := inputs(t)
		fired := map[string]int{}
		for range 110 { // with more, no other rule fires
			in := generate()
			got := decisionAsText(t, e, in)
			for name, query := range over {
				if want := evalFiles(t, query, in); got != want {
					t.Fatalf("input %s\ndecides\n%s\nbut over files, with %s,\n%s", asText(t, in), got, name, want)
				}
			}
			for _, r := range decoded(t, e, in).Reasons {
				fired[r.Rule]++
			}
		}
		if silent := len(e.policies.byID) - len(fired); len(fired) < 60 {
			t.Errorf("profile %s: only %d rules fired, %d did not: the inputs show little", profile, len(fired), silent)
		}
	}
}

// overFiles prepares the decision as stock OPA would make it of a directory.
func overFiles(t *testing.T, registry string) opa.PreparedEvalQuery {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(dir, policies.FS()); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "registry.rego"), []byte(registry), 0o600); err != nil {
		t.Fatal(err)
	}
	query, err := opa.New(opa.Query("data.sallyport.main.decision"), opa.Load([]string{dir}, nil)).PrepareForEval(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return query
}

func evalFiles(t *testing.T, query opa.PreparedEvalQuery, in *facts.Input) string {
	t.Helper()
	var document any
	if err := json.Unmarshal([]byte(asText(t, in)), &document); err != nil {
		t.Fatal(err)
	}
	results, err := query.Eval(t.Context(), opa.EvalInput(document))
	if err != nil || len(results) != 1 {
		t.Fatalf("evaluate files: %v, %d results", err, len(results))
	}
	return asText(t, results[0].Expressions[0].Value)
}

func decisionAsText(t *testing.T, e *Evaluator, in *facts.Input) string {
	t.Helper()
	term := decisionTerm(t, e, in)
	value, err := ast.JSON(term.Value)
	if err != nil {
		t.Fatal(err)
	}
	return asText(t, value)
}

func registryOf(t *testing.T, e *Evaluator) string {
	t.Helper()
	text, err := e.Registry()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func decisionTerm(t *testing.T, e *Evaluator, in *facts.Input) *ast.Term {
	t.Helper()
	term, err := e.topdown.eval(t.Context(), &e.topdown.decision, e.topdown.encode.value(in))
	if err != nil {
		t.Fatal(err)
	}
	return term
}

func decoded(t *testing.T, e *Evaluator, in *facts.Input) decision {
	t.Helper()
	d, err := decodeDecision(decisionTerm(t, e, in), e.policies.digest)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func asText(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// inputs makes inputs by chance, each as the schema allows, the same ones in every run.
func inputs(t *testing.T) func() *facts.Input {
	t.Helper()
	text, err := os.ReadFile("../../policies/schemas/input.json")
	if err != nil {
		t.Fatal(err)
	}
	var schema node
	if err := json.Unmarshal(text, &schema); err != nil {
		t.Fatal(err)
	}
	dice := rand.New(rand.NewPCG(1, 2))
	return func() *facts.Input {
		in := &facts.Input{}
		if err := json.Unmarshal([]byte(asText(t, schema.roll(dice))), in); err != nil {
			t.Fatal(err)
		}
		in.Version = facts.Version
		return in
	}
}

// node is the part of a JSON schema that says what a value may be.
type node struct {
	Type       string          `json:"type"`
	Format     string          `json:"format"`
	Enum       []any           `json:"enum"`
	Properties map[string]node `json:"properties"`
	Items      *node           `json:"items"`
}

// anyText stands where the schema allows any text: names that rules know, and others.
var anyText = []string{"", "git", "mv", "ssh-copy-id", "docker", "nmap", "hydra", "find -exec", "xargs", "BASH_ENV", "169.254.169.254", "/", "bash", "x"}

func (n node) roll(dice *rand.Rand) any {
	switch {
	case len(n.Enum) > 0:
		return n.Enum[dice.IntN(len(n.Enum))]
	case n.Type == "object":
		object := map[string]any{}
		for _, name := range slices.Sorted(maps.Keys(n.Properties)) { // the dice must fall the same way each time
			object[name] = n.Properties[name].roll(dice)
		}
		return object
	case n.Type == "array":
		values := make([]any, dice.IntN(4))
		for i := range values {
			values[i] = n.Items.roll(dice)
		}
		return values
	case n.Type == "boolean":
		return dice.IntN(3) == 0
	case n.Type == "integer", n.Type == "number":
		return dice.IntN(3)
	case n.Format == "date-time":
		return "2020-01-02T03:04:05Z"
	default:
		return anyText[dice.IntN(len(anyText))]
	}
}
