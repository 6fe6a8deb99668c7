package policies_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/policies"
)

var update = flag.Bool("update", false, "write docs/rules.md anew from the rules' metadata")

const rulesDoc = "../docs/rules.md"

// TestRulesDocument holds docs/rules.md against the metadata of the rules.
func TestRulesDocument(t *testing.T) {
	t.Parallel()
	evaluator, err := rego.New(t.Context(), rego.Options{Bundle: policies.FS(), Revision: policies.Revision()})
	if err != nil {
		t.Fatal(err)
	}
	rules, err := evaluator.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := document(rules)
	if *update {
		if err := os.WriteFile(rulesDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(rulesDoc)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(got), want); diff != "" {
		t.Errorf("%s is stale, run make generate (-have +want):\n%s", rulesDoc, diff)
	}
}

// document renders the rules as Markdown: a table to look over, then a section for each.
func document(rules []rego.RuleInfo) string {
	var b strings.Builder
	b.WriteString("# Built-in rules\n\n<!-- made from the rules' metadata by make generate -->\n\n")
	b.WriteString("The effect is the one in the profile `standard`: a rule that can deny and ask denies the worse case. `off` rules are for other profiles.\n")
	b.WriteString("`sallyport policy list` shows the levels in force, `sallyport policy show RULE` one rule.\n\n")
	b.WriteString("| rule | effect | severity | title |\n|---|---|---|---|\n")
	for _, r := range rules {
		fmt.Fprintf(&b, "| [`%s`](#%s) | %s | %s | %s |\n", r.ID, anchor(r.ID), effects(r), r.Severity, r.Title)
	}
	for _, r := range rules {
		fmt.Fprintf(&b, "\n## %s\n\n%s. %s\n\n", r.ID, r.Title, oneLine(r.Description))
		fmt.Fprintf(&b, "Instead: %s\n\n", oneLine(r.Remediation))
		if len(r.Config) > 0 {
			config, err := json.Marshal(r.Config)
			if err != nil {
				panic(err) // it was read from YAML
			}
			fmt.Fprintf(&b, "Where this holds: `%s`\n\n", config)
		}
		examples(&b, "Catches", r.Examples)
		examples(&b, "Leaves alone", r.Lookalikes)
	}
	return b.String()
}

func effects(r rego.RuleInfo) string {
	if r.Level != "own" {
		return r.Level
	}
	var out []string
	for _, e := range r.Effects {
		out = append(out, string(e))
	}
	return strings.Join(out, ", ")
}

func examples(b *strings.Builder, title string, commands []string) {
	if len(commands) == 0 {
		return
	}
	fmt.Fprintf(b, "%s:\n\n```\n%s\n```\n\n", title, strings.Join(commands, "\n"))
}

func anchor(id string) string { return strings.ReplaceAll(id, "/", "") }

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
