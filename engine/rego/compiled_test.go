package rego

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/policies"
)

// scripted is a machine that says what it is told.
type scripted struct {
	says map[string]string
	data string
}

func (s *scripted) Evaluate(_ context.Context, entrypoint string, _ *facts.Input) ([]byte, error) {
	text, ok := s.says[entrypoint]
	if !ok {
		return nil, errors.New("trap")
	}
	return []byte(text), nil
}

func (*scripted) Close() error { return nil }

// bySaying is an evaluator whose compiled rules decide and explain as it is told. "DIGEST" stands for theirs.
func bySaying(t *testing.T, opts Options, says map[string]string) (*Evaluator, *scripted) {
	t.Helper()
	m := &scripted{says: map[string]string{}}
	module, rules := policies.Compiled()
	opts.Bundle, opts.Tested, opts.Revision = policies.FS(), true, policies.Revision()
	opts.Compiled = &Compiled{Module: module, Rules: rules, Open: func(_ context.Context, _, data []byte) (Machine, error) {
		m.data = string(data)
		return m, nil
	}}
	e, err := New(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	for entry, text := range says {
		m.says[entry] = strings.ReplaceAll(text, "DIGEST", e.machine.Digest())
	}
	return e, m
}

const compiledAllow = `[{"result":{"version":1,"effect":"allow","evaluated":"DIGEST","reasons":[]}}]`

const compiledDeny = `[{"result":{"version":1,"effect":"deny","evaluated":"DIGEST","reasons":[` +
	`{"rule":"dangerous/privilege","effect":"deny","finding":{"command":0}},{"rule":"git/force_push","effect":"warn","finding":{"msg":"m","path":0}}]}}]`

func TestCompiledDecisions(t *testing.T) {
	t.Parallel()
	e, m := bySaying(t, Options{Config: Config{Levels: map[string]string{"readonly/changes": "deny", "git/force_push": "off"}}}, map[string]string{compiled.DecisionEntry: compiledDeny})
	j, err := e.Evaluate(t.Context(), harmless())
	if err != nil || j.Effect != engine.Deny || len(j.Reasons) != 2 || j.Reasons[0].Rule != "dangerous/privilege" || j.Reasons[0].Remediation == "" || j.Reasons[0].Location.Row == 0 {
		t.Fatalf("%+v, %v", j, err)
	}
	if j.Reasons[1].Message != "m" || j.Reasons[1].Path != 0 || len(j.Spent) != 1 || j.Spent[0].By != "wasm" {
		t.Errorf("%+v", j)
	}
	for _, want := range []string{`"git/force_push":"off"`, `"optional":["readonly"]`} {
		if !strings.Contains(m.data, want) {
			t.Errorf("its data has no %s", want)
		}
	}
	if both, err := e.Agree(t.Context(), harmless()); err == nil || !both || !strings.Contains(err.Error(), "disagree") {
		t.Errorf("%v, %v", both, err)
	}
}

// Each of these differs in one place from a decision that is taken.
func TestCompiledDecisionsThatAreFaults(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ old, changed, want string }{
		{`"version":1`, `"version":2`, "version is not 1"},
		{`"version":1,`, ``, "version is not 1"},
		{`"DIGEST"`, `""`, "not all evaluated"},
		{`"DIGEST"`, `"x"`, "not all evaluated"},
		{`"evaluated":"DIGEST",`, ``, "not all evaluated"},
		{`"effect":"deny","evaluated"`, `"effect":"allow","evaluated"`, "effect is allow where the reasons say deny"},
		{`"effect":"deny","evaluated"`, `"effect":"","evaluated"`, "unknown effect"},
		{`"effect":"deny","finding"`, `"effect":"ask","finding"`, "no reason says so"},
		{`"effect":"deny","finding"`, `"effect":"allow","finding"`, "unknown effect"},
		{`"rule":"dangerous/privilege"`, `"rule":"dangerous/privileges"`, "not loaded"},
		{`"command":0`, `"command":-2`, "not an index"},
		{`"command":0`, `"command":0.5`, "cannot unmarshal"},
		{`"command":0`, `"command":"0"`, "cannot unmarshal"},
		{`"command":0`, `"command":1`, "points at command 1"},
		{`"command":0`, `"comand":0`, "unknown field"},
		{`"msg":"m"`, `"msg":""`, "msg is empty"},
		{`,"finding":{"command":0}`, ``, "finding is missing"},
		{`"reasons":[`, `"more":1,"reasons":[`, "unknown field"},
		{`}}]`, `}},{"result":1}]`, "read compiled decision"},
		{compiledDeny, `[]`, "undefined"},
		{compiledDeny, `[{"result":{}}]`, "version is not 1"},
		{compiledDeny, ``, "undefined"},
		{`"reasons":[`, `"reasons":null,"x":[`, "unknown field"},
	} {
		changed := strings.Replace(compiledDeny, test.old, test.changed, 1)
		if changed == compiledDeny {
			t.Errorf("%s is not in the sound decision", test.old)
		}
		e, _ := bySaying(t, Options{}, map[string]string{compiled.DecisionEntry: changed})
		if j, err := e.Evaluate(t.Context(), harmless()); err == nil || !strings.Contains(err.Error(), test.want) || j.Effect != "" {
			t.Errorf("%s: got %q, %v, want an error with %q", test.changed, j.Effect, err, test.want)
		}
	}
	e, _ := bySaying(t, Options{}, nil)
	if j, err := e.Evaluate(t.Context(), harmless()); err == nil || j.Effect != "" {
		t.Errorf("a trap: %q, %v", j.Effect, err)
	}
}

// Rules of the operator's own are interpreted beside the compiled ones: the strictest effect holds, whose it is.
func TestCompiledRulesBesideCustomOnes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		custom, compiled string
		want             engine.Effect
		reasons          int
	}{
		{"deny contains {\"command\": 0}", compiledAllow, engine.Deny, 1},
		{"ask contains {\"command\": 0}", compiledAllow, engine.Ask, 1},
		{"ask contains {\"command\": 0}", compiledDeny, engine.Deny, 3},
		{"warn contains {\"command\": 0} if false", compiledDeny, engine.Deny, 2},
		{"warn contains {\"command\": 0}", compiledAllow, engine.Allow, 1},
		// One that refers to a built-in rule has it interpreted, too, and does not count it twice.
		{"deny contains {} if count(data.sallyport.rules.git.force_push.deny) > 7", compiledAllow, engine.Allow, 0},
	} {
		dir := customRule(t, test.custom)
		e, _ := bySaying(t, Options{Custom: []string{dir}}, map[string]string{
			compiled.DecisionEntry: test.compiled, compiled.ExplanationEntry: explanation(t),
		})
		j, err := e.Evaluate(t.Context(), harmless())
		if err != nil || j.Effect != test.want || len(j.Reasons) != test.reasons {
			t.Errorf("%s beside %s: %s with %d reasons, %v", test.custom, test.compiled, j.Effect, len(j.Reasons), err)
		}
		if _, traces, err := e.Explain(t.Context(), harmless()); err != nil || len(traces) != len(e.policies.rules) {
			t.Errorf("%d traces, %v", len(traces), err)
		}
		infos, err := e.Rules(t.Context())
		if err != nil || len(infos) != len(e.policies.rules) {
			t.Errorf("%d rules, %v", len(infos), err)
		}
	}
	e, _ := bySaying(t, Options{Custom: []string{customRule(t, "deny contains {} if 1 / count(input.commands[0].hosts) == 1")}}, map[string]string{compiled.DecisionEntry: compiledAllow})
	if j, err := e.Evaluate(t.Context(), harmless()); err == nil || j.Effect != "" {
		t.Errorf("a custom rule that fails: %q, %v", j.Effect, err)
	}
}

// explanation is one in which no rule found anything.
func explanation(t *testing.T) string {
	t.Helper()
	var entries []string
	for _, r := range builtin(t, "standard").policies.rules {
		entries = append(entries, `"`+r.id+`":{"found":{"deny":[]},"exempted":[]}`)
	}
	return `[{"result":{` + strings.Join(entries, ",") + `}}]`
}

func TestCompiledExplanationsThatAreFaults(t *testing.T) {
	t.Parallel()
	sound := explanation(t)
	for _, changed := range []string{
		`[{"result":{}}]`, `[{"result":[]}]`, strings.Replace(sound, `,"exempted":[]`, ``, 1), strings.Replace(sound, `"deny":[]`, `"deny":[{"command":"x"}]`, 1),
		strings.Replace(sound, `"deny":[]`, `"allow":[]`, 1), strings.Replace(sound, `"found":{"deny":[]},`, ``, 1), strings.Replace(sound, `"deny":[]`, `"deny":[null]`, 1),
		strings.Replace(sound, `"exempted":[]`, `"exempted":[["deny"]]`, 1), strings.Replace(sound, `"exempted":[]`, `"exempted":[["allow",{}]]`, 1),
		strings.Replace(sound, `"exempted":[]`, `"exempted":[["deny",{},1]]`, 1), strings.Replace(sound, `"exempted":[]`, `"exempted":[["deny",{"x":1}]]`, 1),
	} {
		e, _ := bySaying(t, Options{}, map[string]string{compiled.DecisionEntry: compiledAllow, compiled.ExplanationEntry: changed})
		if _, _, err := e.Explain(t.Context(), harmless()); err == nil {
			t.Errorf("%.100s was taken", changed)
		}
	}
}

// A compiled form of other policies than those of the bundle is not used.
func TestCompiledOfOtherPolicies(t *testing.T) {
	t.Parallel()
	module, rules := policies.Compiled()
	c := &Compiled{Module: module, Rules: rules}
	if _, err := New(t.Context(), Options{Bundle: policies.FS(), Revision: "another", Compiled: c}); !errors.Is(err, ErrOtherBundle) {
		t.Errorf("got %v", err)
	}
	c.Rules = []byte(`{"revision": "another", "rulez": []}`)
	if _, err := New(t.Context(), Options{Bundle: policies.FS(), Revision: "another", Compiled: c}); err == nil {
		t.Error("a description with an unknown key was read")
	}
}

// Policies that were found without mistakes are compiled for the first request that concerns one of them. A
// forged file in the directory makes a mistake in them a fault, not a silent rule.
func TestCheckedPolicies(t *testing.T) {
	t.Parallel()
	allow := map[string]string{compiled.DecisionEntry: compiledAllow}
	rules := customRule(t, `deny contains {"command": i} if input.commands[i].name == "ls"`)
	o := Options{Custom: []string{rules}, Checked: t.TempDir()}
	if e, _ := bySaying(t, o, allow); e.policies.compiler == nil {
		t.Fatal("they were not checked")
	}
	e, _ := bySaying(t, o, allow)
	if e.policies.compiler != nil {
		t.Fatal("they were checked again")
	}
	other := request("pwd")
	other.Commands = []facts.Command{command("pwd")}
	j, err := e.Evaluate(t.Context(), other)
	if err != nil || j.Effect != engine.Allow || e.policies.compiler != nil {
		t.Fatalf("%+v, %v", j, err)
	}
	j, err = e.Evaluate(t.Context(), harmless())
	if err != nil || j.Effect != engine.Deny || j.Reasons[0].Title != "A rule of the team" {
		t.Fatalf("%+v, %v", j, err)
	}

	o.Custom = []string{customRule(t, `deny contains {} if { input.commands[_].name == "ls"; input.nothing }`)}
	o.Bundle, o.Tested, o.Revision, o.Compiled = policies.FS(), true, policies.Revision(), nil
	var mistakes *LoadError
	if _, err := New(t.Context(), o); !errors.As(err, &mistakes) {
		t.Fatalf("a mistake: %v", err)
	}
	o.Custom = []string{customRule(t, `deny contains {} if { input.commands[_].name == "ls"; no.such(1) }`)}
	set := &fileSet{}
	set.read(o.Bundle, "", false, isModule)
	set.readCustom(o.Custom, isModule)
	set.leaveOutCompiled()
	set.checked(o).remember()
	e, _ = bySaying(t, o, allow)
	if j, err := e.Evaluate(t.Context(), harmless()); err == nil {
		t.Errorf("a mistake in policies that are called checked: %+v", j)
	}
}
