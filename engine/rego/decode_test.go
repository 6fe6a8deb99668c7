package rego

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
)

const loadedRules = "x/a x/b"

func TestDecodeDecision(t *testing.T) {
	t.Parallel()
	got, err := decodeDecision(ast.MustParseTerm(`{"version": 1, "effect": "ask", "evaluated": "x/a x/b", "reasons": {
		{"rule": "x/a", "effect": "ask", "finding": {"command": 1, "path": -1, "msg": "m"}},
		{"rule": "x/b", "effect": "warn", "finding": {}}}}`), loadedRules)
	if err != nil {
		t.Fatal(err)
	}
	if got.Effect != engine.Ask || len(got.Reasons) != 2 {
		t.Errorf("got %+v", got)
	}
	for _, r := range got.Reasons {
		if r.Rule == "x/a" && r.Finding != (finding{Command: 1, Path: -1, Message: "m"}) || r.Rule == "x/b" && r.Finding != (finding{Command: -1, Path: -1}) {
			t.Errorf("got %+v", r)
		}
	}
}

// Each of these differs in one place from a decision that is taken.
func TestDecodeDecisionRefuses(t *testing.T) {
	t.Parallel()
	const sound = `{"version": 1, "effect": "deny", "evaluated": "x/a x/b", "reasons": {{"rule": "x/a", "effect": "deny", "finding": {"command": 0}}}}`
	if _, err := decodeDecision(ast.MustParseTerm(sound), loadedRules); err != nil {
		t.Fatalf("the sound decision: %v", err)
	}
	for _, test := range []struct{ old, changed, want string }{
		{`"version": 1`, `"version": 2`, "version is 2"},
		{`"version": 1`, `"version": "1"`, "version is"},
		{`"version": 1, `, ``, "version is missing"},
		{`"effect": "deny", "evaluated"`, `"effect": "allow", "evaluated"`, "effect is allow where the reasons say deny"},
		{`"effect": "deny", "evaluated"`, `"effect": "ask", "evaluated"`, "effect is ask where the reasons say deny"},
		{`"effect": "deny", "evaluated"`, `"effect": "warn", "evaluated"`, "unknown effect"},
		{`"effect": "deny", "evaluated"`, `"effect": true, "evaluated"`, "unknown effect"},
		{`"effect": "deny", "finding"`, `"effect": "ask", "finding"`, "the effect is deny and no reason says so"},
		{`"effect": "deny", "finding"`, `"effect": "allow", "finding"`, "unknown effect"},
		{`"effect": "deny", "finding"`, `"effect": "block", "finding"`, "unknown effect"},
		{`"x/a x/b"`, `"x/a"`, "not all evaluated"},
		{`"x/a x/b"`, `""`, "not all evaluated"},
		{`"x/a x/b"`, `["x/a x/b"]`, "not all evaluated"},
		{`"evaluated": "x/a x/b", `, ``, "evaluated is missing"},
		{`"reasons": {{`, `"extra": 1, "reasons": {{`, "unknown key"},
		{`"reasons": {{`, `7: 1, "reasons": {{`, "unknown key"},
		{`"rule": "x/a"`, `"rule": 7`, "not a string"},
		{`"rule": "x/a", `, ``, "rule is missing"},
		{`{"command": 0}`, `{"command": "0"}`, "not an index"},
		{`{"command": 0}`, `{"command": -2}`, "not an index"},
		{`{"command": 0}`, `{"command": 0.5}`, "not an index"},
		{`{"command": 0}`, `{"path": null}`, "not an index"},
		{`{"command": 0}`, `{"comand": 0}`, "unknown key"},
		{`{"command": 0}`, `{"msg": ""}`, "not a text"},
		{`{"command": 0}`, `{"msg": ["a"]}`, "not a text"},
		{`{"command": 0}`, `"rm is bad"`, "not an object"},
		{`{{"rule"`, `[{"rule"`, "not a set"},
		{`{{"rule"`, `{"x", {"rule"`, "not an object"},
	} {
		text := strings.Replace(sound, test.old, test.changed, 1)
		if test.old == `{{"rule"` && strings.Contains(test.changed, "[") {
			text = strings.Replace(text, "}}}}", "}}]}", 1)
		}
		if text == sound {
			t.Fatalf("%q does not stand in the decision", test.old)
		}
		_, err := decodeDecision(ast.MustParseTerm(text), loadedRules)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s\ngot error %v, want one about %q", text, err, test.want)
		}
	}
	if _, err := decodeDecision(ast.MustParseTerm(`["allow"]`), loadedRules); err == nil {
		t.Error("an array was taken for a decision")
	}
}
