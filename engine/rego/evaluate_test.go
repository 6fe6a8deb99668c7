package rego

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

func TestEvaluateAllowsHarmlessWork(t *testing.T) {
	t.Parallel()
	e := builtin(t, "standard")
	j, err := e.Evaluate(t.Context(), harmless())
	if err != nil {
		t.Fatal(err)
	}
	equal(t, j, engine.Judgement{Effect: engine.Allow, Reasons: []engine.Reason{}})
	equal(t, e.Policy(), engine.PolicyInfo{Revision: "r1", Bundles: map[string]string{}})
}

func TestEvaluateJoinsMetadata(t *testing.T) {
	t.Parallel()
	dir := customRule(t, `deny contains {"command": i} if {
	some i, c in input.commands
	c.name == "ls"
}

warn contains {"path": 0}

warn contains {"msg": "all of it"}

ask contains {}`)
	e := newEvaluator(t, Options{Custom: []string{dir}})
	in := harmless()
	in.Request.Command = "cd x;\n  ls    src # " + strings.Repeat("ä", 200)
	in.Commands[0].Span = facts.Span{Start: 8, End: len(in.Request.Command)}
	j, err := e.Evaluate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	file := dir + "/x.rego"
	span := in.Commands[0].Span
	reason := func(effect engine.Effect, message string, command, path, row int, span *facts.Span) engine.Reason {
		return engine.Reason{
			Rule: "custom/team/x", Effect: effect, Severity: "high", Title: "A rule of the team", Remediation: "Do something else.",
			Message: message, Command: command, Path: path, Span: span, Location: engine.Location{File: file, Row: row},
		}
	}
	equal(t, j, engine.Judgement{Effect: engine.Deny, Reasons: []engine.Reason{
		reason(engine.Deny, "A rule of the team: ls src # "+strings.Repeat("ä", 55)+"…", 0, -1, 8, &span),
		reason(engine.Ask, "A rule of the team", -1, -1, 17, nil),
		reason(engine.Warn, "all of it", -1, -1, 13, nil),
		reason(engine.Warn, "A rule of the team: /w/src", 0, 0, 13, &span),
	}})
	if len(e.Policy().Bundles[dir]) != 32 {
		t.Errorf("the directory has the revision %q", e.Policy().Bundles[dir])
	}
}

// What is not an input of the known version is refused before any policy sees it.
func TestEvaluateRefusesOtherInputs(t *testing.T) {
	t.Parallel()
	e := builtin(t, "standard")
	if _, err := e.Evaluate(t.Context(), nil); err == nil {
		t.Error("nil was judged")
	}
	in := harmless()
	in.Version = 2
	if _, err := e.Evaluate(t.Context(), in); err == nil {
		t.Error("version 2 was judged")
	}
	if _, _, err := e.Explain(t.Context(), nil); err == nil {
		t.Error("nil was explained")
	}
}

// Evaluate cannot encode such inputs; the policies must not allow them all the same.
func TestPoliciesNeverAllowADamagedInput(t *testing.T) {
	t.Parallel()
	e := builtin(t, "standard").topdown
	sound := e.encode.value(harmless())
	if j, err := e.judge(t.Context(), sound); err != nil || j.Effect != engine.Allow {
		t.Fatalf("the sound input: %v, %v", j, err)
	}
	for _, test := range []struct {
		name, place string
		value       *ast.Term // nil takes the place away
	}{
		{"version 2", "version", ast.InternedTerm(2)},
		{"version as text", "version", ast.StringTerm("1")},
		{"no version", "version", nil},
		{"no request", "request", nil},
		{"no runner", "runner", nil},
		{"no shell", "shell", nil},
		{"shell is text", "shell", ast.StringTerm("bash")},
		{"no commands", "commands", nil},
		{"commands null", "commands", ast.NullTerm()},
		{"commands object", "commands", ast.ObjectTerm()},
		{"no paths", "paths", nil},
		{"paths number", "paths", ast.InternedTerm(0)},
	} {
		damaged := with(sound.(ast.Object), test.place, test.value)
		if j, err := e.judge(t.Context(), damaged); err == nil && j.Effect == engine.Allow {
			t.Errorf("%s: allowed", test.name)
		}
	}
	for _, nothing := range []ast.Value{nil, ast.NullValue, ast.NewObject(), ast.String("ls"), ast.NewArray()} {
		if j, err := e.judge(t.Context(), nothing); err == nil && j.Effect == engine.Allow {
			t.Errorf("input %v: allowed", nothing)
		}
	}
}

// with returns object with another value at key, or without the key.
func with(object ast.Object, key string, value *ast.Term) ast.Object {
	changed := ast.NewObject()
	object.Foreach(func(k, v *ast.Term) {
		if k.Value.Compare(ast.String(key)) != 0 {
			changed.Insert(k, v)
		}
	})
	if value != nil {
		changed.Insert(ast.StringTerm(key), value)
	}
	return changed
}

// A policy that fails or answers nonsense must end in an error.
func TestHostilePoliciesNeverAllow(t *testing.T) {
	t.Parallel()
	for name, rules := range map[string]string{
		"builtin error":     `deny contains {} if 1 / (count(input.commands) - 1) == 0`,
		"swallowed error":   `deny contains {} if not regex.match("(", input.request.command)`,
		"bad json":          `deny contains {} if json.unmarshal("{").x`,
		"finding is text":   `deny contains "no"`,
		"unknown key":       `deny contains {"comand": 0}`,
		"index too large":   `deny contains {"command": 1}`,
		"path too large":    `warn contains {"path": 1}`,
		"index is negative": `deny contains {"command": -7}`,
		"empty message":     `warn contains {"msg": ""}`,
		"conflict": `_f(_) := 1

_f(_) := 2

deny contains {} if _f(1) == 1`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEvaluator(t, Options{Custom: []string{customRule(t, rules)}})
			if j, err := e.Evaluate(t.Context(), harmless()); err == nil || j.Effect == engine.Allow {
				t.Errorf("got the judgement %+v", j)
			}
		})
	}
}

func TestEvaluateEndsWithItsContext(t *testing.T) {
	t.Parallel()
	e := builtin(t, "standard")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if j, err := e.Evaluate(ctx, harmless()); err == nil {
		t.Errorf("got %+v", j)
	}
}

// These would reach out of the evaluation. They must not even compile.
func TestPoliciesCannotReachOut(t *testing.T) {
	t.Parallel()
	for _, call := range []string{
		`http.send({"method": "get", "url": "http://127.0.0.1:1"})`,
		`opa.runtime()`,
		`net.lookup_ip_addr("localhost")`,
		`time.now_ns()`,
		`rand.intn("x", 7)`,
		`uuid.rfc4122("x")`,
	} {
		dir := customRule(t, "deny contains {} if {\n\tx := "+call+"\n\tx != \"\"\n}")
		got := strings.Join(problems(t, Options{Custom: []string{dir}}, dir), "\n")
		if !strings.HasPrefix(got, "x.rego:9:") || !strings.Contains(got, "undefined function") {
			t.Errorf("%s: got %q", call, got)
		}
	}
}

func TestCustomRulesAddAndNeverRemove(t *testing.T) {
	t.Parallel()
	in := harmless()
	in.Commands[0].Flags = []string{"fork_bomb"}
	before, err := builtin(t, "standard").Evaluate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if before.Effect == engine.Allow {
		t.Fatal("the input is harmless: it shows nothing")
	}
	dir := customRule(t, `warn contains {"command": 0, "msg": "seen"}`)
	after, err := newEvaluator(t, Options{Custom: []string{dir}}).Evaluate(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	if after.Effect != before.Effect || len(after.Reasons) != len(before.Reasons)+1 {
		t.Errorf("before %+v\nafter %+v", before, after)
	}
}

// The set of evaluated rules comes from the policies themselves: a rule that they lose on the way is a fault.
func TestALostRuleIsAFault(t *testing.T) {
	t.Parallel()
	bundle := fstest.MapFS{
		"sallyport/main/main.rego": &fstest.MapFile{Data: []byte(`package sallyport.main

decision := {"version": 1, "effect": "allow", "reasons": set(), "evaluated": "` + compiled.DigestOf([]string{"x/kept"}) + `"}

explanation := {}
`)},
		"sallyport/rules/x/kept/kept.rego":   &fstest.MapFile{Data: []byte("package sallyport.rules.x.kept\n\ndeny contains {} if false\n")},
		"sallyport/rules/x/lost/lost.rego":   &fstest.MapFile{Data: []byte("package sallyport.rules.x.lost\n\ndeny contains {}\n")},
		"sallyport/profiles/data.json":       &fstest.MapFile{Data: []byte(`{"standard": {"default": "own"}}`)},
		"sallyport/rules/x/lost/.hidden.txt": &fstest.MapFile{Data: []byte("not read")},
	}
	e := newEvaluator(t, Options{Bundle: bundle})
	if j, err := e.Evaluate(t.Context(), harmless()); err == nil || !errors.Is(err, compiled.ErrNotEvaluated) {
		t.Errorf("got %+v, %v", j, err)
	}
	delete(bundle, "sallyport/rules/x/lost/lost.rego")
	if j, err := newEvaluator(t, Options{Bundle: bundle}).Evaluate(t.Context(), harmless()); err != nil || j.Effect != engine.Allow {
		t.Errorf("without the lost rule: got %+v, %v", j, err)
	}
	if _, _, err := e.Explain(t.Context(), harmless()); err == nil {
		t.Error("an explanation without rules was taken")
	}
}

func TestAPanicIsAnError(t *testing.T) {
	t.Parallel()
	e := builtin(t, "standard")
	if _, err := e.topdown.eval(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "panic") {
		t.Errorf("got %v", err)
	}
}

func TestEvaluateIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	e := builtin(t, "standard")
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			in := harmless()
			want := engine.Allow
			if i%2 == 0 {
				in.Commands[0].Flags = []string{"fork_bomb"}
				want = engine.Deny
			}
			for range 4 {
				if j, err := e.Evaluate(t.Context(), in); err != nil || j.Effect != want {
					t.Errorf("got %v, %v, want %v", j, err, want)
				}
			}
		})
	}
	all.Wait()
	e.topdown.workers.stop()
	if j, err := e.Evaluate(t.Context(), harmless()); err != nil || j.Effect != engine.Allow {
		t.Errorf("after stop: got %v, %v", j, err)
	}
}
