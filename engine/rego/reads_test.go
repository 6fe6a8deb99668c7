package rego

import "testing"

func TestReads(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]bool{
		"deny contains {} if input.request.background":                                        false,
		"deny contains {} if input.commands[_].name == \"time\"":                              false,
		"deny contains {} if input.request.time == \"\"":                                      true,
		"deny contains {} if input.request[_] == \"\"":                                        true,
		"deny contains {} if input[_].time == \"\"":                                           true,
		"deny contains {} if count(input.request) == 1":                                       true,
		"deny contains {} if count(input) == 1":                                               true,
		"deny contains {} if {\n\tr := input.request\n\tr.background\n}":                      true,
		"deny contains {} if {\n\tsome x in [input]\n\tx.request.background\n}":               true,
		"import input.request as r\n\ndeny contains {} if r.time == \"\"":                     true,
		"deny contains {} if _f(input)\n\n_f(x) if x.request.background":                      true,
		"deny contains {} if {\n\tsome name\n\tinput.request[name]\n\tname == \"timeout\"\n}": true,
	} {
		e := newEvaluator(t, Options{Custom: []string{customRule(t, rules)}})
		if got := reads(t, e, "request", "time"); got != want {
			t.Errorf("%s\ngot %v", rules, got)
		}
	}
	if e := builtin(t, "standard"); reads(t, e, "request", "id") || reads(t, e, "request", "time") || !reads(t, e, "commands") || !reads(t, e, "request") {
		t.Error("the built-in rules read something else than they do")
	}
}

func reads(t *testing.T, e *Evaluator, field ...string) bool {
	t.Helper()
	found, err := e.Reads(field...)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
