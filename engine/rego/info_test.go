package rego

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/policies"
)

func TestRulesDescribesAllRules(t *testing.T) {
	t.Parallel()
	dir := customRule(t, `warn contains {} if false`)
	e := newEvaluator(t, Options{Bundle: policies.FS(), Custom: []string{dir}, Config: Config{Levels: map[string]string{"dangerous/fork_bomb": "ask"}}})
	infos, err := e.Rules(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	byID := map[string]RuleInfo{}
	for _, info := range infos {
		if info.Title == "" || info.Remediation == "" || len(info.Effects) == 0 || info.Row == 0 {
			t.Errorf("%s is not fully described: %+v", info.ID, info)
		}
		byID[info.ID] = info
	}
	equal(t, byID["custom/team/x"], RuleInfo{
		ID: "custom/team/x", Title: "A rule of the team", Severity: "high", Remediation: "Do something else.",
		Effects: []engine.Effect{engine.Warn}, Level: "own", LevelFrom: "profile default", Profile: "standard",
		File: dir + "/x.rego", Row: 8, Origin: Custom,
	})
	for id, want := range map[string][2]string{
		"dangerous/fork_bomb": {"ask", "config"},
		"massgen/fork_bomb":   {"off", "profile category"},
		"shell/unparseable":   {"own", "profile default"},
	} {
		if got := [2]string{byID[id].Level, byID[id].LevelFrom}; got != want {
			t.Errorf("%s has level %v, want %v", id, got, want)
		}
	}
}

func TestExplain(t *testing.T) {
	t.Parallel()
	in := harmless()
	in.Commands[0].Flags = []string{"fork_bomb"}
	in.Commands[0].Matches.Exempt = []int{0}
	in.Shell.Legacy = []string{"dd"}
	dir := customRule(t, `warn contains {"command": 0}

deny contains {"path": 0} if input.paths[0].access == "read"`)
	e := newEvaluator(t, Options{
		Bundle: policies.FS(), Custom: []string{dir},
		Config: Config{Levels: map[string]string{"custom/team/x": "ask"}, Exemptions: []Exemption{{Rule: "dangerous/fork_bomb"}}},
	})
	judgement, traces, err := e.Explain(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	same, err := e.Evaluate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, judgement, same)
	if judgement.Effect != engine.Ask || len(judgement.Reasons) != 2 {
		t.Errorf("got %+v", judgement)
	}
	for _, r := range judgement.Reasons {
		if r.Level != "ask" {
			t.Errorf("the level that the operator set is not told: %+v", r)
		}
	}
	if x := judgement.Exempted; len(x) != 1 || x[0].Rule != "dangerous/fork_bomb" || x[0].Effect != engine.Deny || x[0].Command != 0 {
		t.Errorf("exempted: got %+v", x)
	}
	outcomes := map[string]RuleTrace{}
	for _, trace := range traces {
		outcomes[trace.Rule] = trace
	}
	for id, want := range map[string]RuleOutcome{
		"custom/team/x": Fired, "dangerous/fork_bomb": Exempted, "massgen/dd": Off, "git/force_push": Silent,
	} {
		if got := outcomes[id].Outcome; got != want {
			t.Errorf("%s: got %q, want %q", id, got, want)
		}
	}
	found := outcomes["custom/team/x"].Found
	if len(found) != 2 || found[0].Effect != engine.Deny || found[1].Effect != engine.Warn || outcomes["custom/team/x"].Level != "ask" {
		t.Errorf("custom/team/x: got %+v", outcomes["custom/team/x"])
	}
}

// The nine refusals come one at a time, in the predecessor's words.
func TestMassgenProfile(t *testing.T) {
	t.Parallel()
	e := builtin(t, "massgen")
	for _, test := range []struct {
		legacy   []string
		elevated bool
		want     string
	}{
		{nil, false, ""},
		{[]string{"rm_rf_root", "sudo"}, false, "Use of 'rm -rf /' is not allowed"},
		{[]string{"mv_dev_null"}, true, "Moving files to /dev/null is not allowed"},
		{[]string{"dd", "disk_redirect"}, true, "Use of 'dd' command is not allowed"},
		{[]string{"disk_redirect"}, false, "Overwriting disk blocks directly is not allowed"},
		{[]string{"fork_bomb"}, false, "Fork bombs are not allowed"},
		{[]string{"sudo", "chmod"}, false, "Use of 'sudo' is not allowed"},
		{[]string{"su"}, false, "Use of 'su' is not allowed"},
		{[]string{"chown"}, false, "Use of 'chown' is not allowed"},
		{[]string{"chmod"}, false, "Use of 'chmod' is not allowed"},
		{[]string{"sudo", "su", "chown", "chmod"}, true, ""},
	} {
		in := harmless()
		in.Shell.Legacy, in.Runner.Elevated = test.legacy, test.elevated
		j, err := e.Evaluate(t.Context(), in)
		if err != nil {
			t.Fatal(err)
		}
		if test.want == "" {
			if j.Effect != engine.Allow {
				t.Errorf("%v: got %+v", test.legacy, j)
			}
			continue
		}
		if len(j.Reasons) != 1 || j.Effect != engine.Deny || j.Reasons[0].Title != test.want ||
			j.Reasons[0].Message != "Potentially dangerous command detected: "+test.want {
			t.Errorf("%v: got %+v", test.legacy, j)
		}
	}
}

func TestProfilesTurnTheMassgenRulesOff(t *testing.T) {
	t.Parallel()
	for _, profile := range []string{"standard", "team", "strict", "readonly"} {
		e := builtin(t, profile)
		in := harmless()
		in.Shell.Legacy = []string{"rm_rf_root", "dd", "sudo"}
		if j, err := e.Evaluate(t.Context(), in); err != nil || j.Effect != engine.Allow {
			t.Errorf("%s: got %+v, %v", profile, j, err)
		}
	}
}

func TestTeamStrictAndReadonly(t *testing.T) {
	t.Parallel()
	writing := harmless()
	writing.Paths[0].Access = "write"
	unknown := harmless()
	unknown.Commands[0].Known = false
	for _, test := range []struct {
		profile string
		in      *facts.Input
		want    engine.Effect
	}{
		{"standard", writing, engine.Allow}, {"strict", writing, engine.Allow}, {"readonly", writing, engine.Deny},
		{"team", writing, engine.Allow}, {"team", unknown, engine.Ask}, {"team", harmless(), engine.Allow},
		{"standard", unknown, engine.Allow}, {"strict", unknown, engine.Ask}, {"readonly", unknown, engine.Ask},
		{"strict", harmless(), engine.Allow}, {"readonly", harmless(), engine.Allow},
	} {
		e := builtin(t, test.profile)
		if j, err := e.Evaluate(t.Context(), test.in); err != nil || j.Effect != test.want {
			t.Errorf("%s: got %+v, %v, want %s", test.profile, j, err, test.want)
		}
	}
}

// forbiddenCalls fails for what built-in rules must not use: what parses texts or reads clocks,
// and the subtraction of a set that may be undefined.
func forbiddenCalls(t *testing.T, src *source) {
	t.Helper()
	check := func(operator ast.Ref, at *ast.Location, operands []*ast.Term) {
		name := operator.String()
		for _, prefix := range []string{"regex.", "glob.", "sprintf", "time.", "split", "substring", "trim", "indexof", "json."} {
			if strings.HasPrefix(name, prefix) {
				t.Errorf("%v: built-in rules must not call %s", at, name)
			}
		}
		if name != "minus" || len(operands) < 2 {
			return
		}
		if text := operands[1].String(); strings.Contains(text, "lib.with_") || strings.Contains(text, "lib.named") || strings.Contains(text, "lib.in_zone") || strings.Contains(text, "lib.targets") {
			t.Errorf("%v: %s may be undefined: write `not i in …`", at, text)
		}
	}
	ast.WalkExprs(src.module, func(e *ast.Expr) bool {
		if e.IsCall() {
			check(e.Operator(), e.Location, e.Operands())
		}
		return false
	})
	ast.WalkTerms(src.module, func(term *ast.Term) bool {
		if call, ok := term.Value.(ast.Call); ok {
			check(call.Operator(), term.Location, call.Operands())
		}
		return false
	})
}

func TestSettingsGoFromTheParticularToTheGeneral(t *testing.T) {
	t.Parallel()
	profile := func(rule, category, byDefault string) map[string]any {
		return map[string]any{
			"rules":      map[string]any{"x/other": "deny", "x/one": rule},
			"categories": map[string]any{"y": "deny", "x": category},
			"default":    byDefault,
		}
	}
	for _, test := range []struct {
		config  string
		profile map[string]any
		want    compiled.Setting
	}{
		{"ask", profile("off", "off", "off"), compiled.Setting{Level: "ask", From: "config"}},
		{"", profile("warn", "off", "off"), compiled.Setting{Level: "warn", From: "profile rule"}},
		{"", profile("", "off", "own"), compiled.Setting{Level: "off", From: "profile category"}},
		{"", profile("", "", "off"), compiled.Setting{Level: "off", From: "profile default"}},
		{"", profile("", "", ""), compiled.Setting{Level: "own", From: "rule"}},
		{"", nil, compiled.Setting{Level: "own", From: "rule"}},
		{"off", nil, compiled.Setting{Level: "off", From: "config"}},
	} {
		config := Config{Levels: map[string]string{"x/other": "off", "x/one": test.config}}
		if got := config.Setting("x/one", test.profile); got != test.want {
			t.Errorf("config %q, profile %v: got %v, want %v", test.config, test.profile, got, test.want)
		}
	}
}

// A rule that is off is not evaluated: that is how an operator gets past one that fails.
func TestARuleThatIsOffCannotFail(t *testing.T) {
	t.Parallel()
	dir := customRule(t, `deny contains {} if 1 / (count(input.commands) - 1) == 0`)
	if _, err := newEvaluator(t, Options{Custom: []string{dir}}).Evaluate(t.Context(), harmless()); err == nil {
		t.Error("the rule does not fail: it shows nothing")
	}
	e := newEvaluator(t, Options{Custom: []string{dir}, Config: Config{Levels: map[string]string{"custom/team/x": "off"}}})
	if j, err := e.Evaluate(t.Context(), harmless()); err != nil || j.Effect != engine.Allow {
		t.Errorf("got %+v, %v", j, err)
	}
}
