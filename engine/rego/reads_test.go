package rego

import (
	"strings"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
)

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

// Equal programs of a command are judged once where no rule of the operator looks at the time.
func TestSteady(t *testing.T) {
	t.Parallel()
	for rules, want := range map[string]bool{
		"deny contains {} if input.request.background":                                         true,
		"deny contains {} if input.request.time == \"\"":                                       false,
		"deny contains {} if input.request[_] == \"\"":                                         false,
		"deny contains {} if count(input) == 1":                                                false,
		"deny contains {} if input.session.counts.deny > 3":                                    false,
		"import data.sallyport.session\n\ndeny contains {} if session.count({}, 60) > 3":       false,
		"import data.sallyport.lib\n\ndeny contains {\"command\": 0} if lib.with_flag.network": true,
	} {
		if e := newEvaluator(t, Options{Custom: []string{customRule(t, rules)}}); e.Steady() != want {
			t.Errorf("%s\nsteady: %v", rules, !want)
		}
	}
	e := builtin(t, "strict")
	if !e.Steady() {
		t.Error("the built-in rules are not steady")
	}
	all, err := e.all()
	if err != nil {
		t.Fatal(err)
	}
	for name, module := range all.policies.compiler.Modules {
		if strings.HasPrefix(module.Package.Path.String(), "data.sallyport.session") {
			continue
		}
		for _, field := range []string{"id", "time"} {
			if readsField(module, ast.MustParseRef("input.request."+field)) {
				t.Errorf("%s reads the %s of the request", name, field)
			}
		}
		for _, field := range []string{"counts", "dropped", "first", "last", "recent"} {
			if readsField(module, ast.MustParseRef("input.session."+field)) {
				t.Errorf("%s reads session.%s", name, field)
			}
		}
	}
}
