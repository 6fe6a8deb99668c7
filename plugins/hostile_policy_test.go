package plugins_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/plugins"
)

// hostileRules are rules that do harm when a command says which.
var hostileRules = map[string]struct{ rule, want string }{
	"loop": {`deny contains {} if {
	_asked
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a + b < 0
}`, "loop.rego:10: rule custom/loop: evaluate policies: "},
	"memory": {`deny contains {"msg": text} if {
	_asked
	` + doubling(36) + `
	text := substring(s36, 0, 3)
}`, "builds something very large"},
	"memory_in_lists": {`deny contains {"command": 0} if {
	_asked
	x := [[a, b] | some a in numbers.range(1, 20000); some b in numbers.range(1, 20000)]
	count(x) < 0
}`, "evaluate policies: "},
	"many": {`deny contains {"msg": sprintf("%d", [n])} if {
	_asked
	some n in numbers.range(1, 12000)
}`, ""}, // too many findings, or, on a slow machine, the deadline,
	"long":    {"deny contains {\"msg\": concat(\"\", [x | some _ in numbers.range(1, 70000); x := \"y\"])} if _asked", "a msg of"},
	"utf8":    {`deny contains {"msg": base64.decode("/w==")} if _asked`, "of valid UTF-8"},
	"types":   {`deny contains {"command": "0"} if _asked`, "command is not an index"},
	"index":   {`warn contains {"command": 1048576} if _asked`, "it points at command 1048576"},
	"text":    {`deny contains "no" if _asked`, "is not an object"},
	"null":    {`ask contains null if _asked`, "is not an object"},
	"key":     {`deny contains {"allow": true} if _asked`, "unknown key"},
	"throw":   {`deny contains {} if { _asked; 1 / (count(input.commands) - 1) == 0 }`, "divide by zero"},
	"swallow": {`deny contains {} if { _asked; not json.unmarshal("{") }`, "json"},
}

func doubling(times int) string {
	var b strings.Builder
	b.WriteString(`s0 := "0123456789"`)
	for n := range times {
		fmt.Fprintf(&b, "\n\ts%d := concat(\"\", [s%d, s%d])", n+1, n, n)
	}
	return b.String()
}

// A policy that does harm denies with a fault within the deadline, and the next request is served. What would be
// endless by its text alone is not loaded at all. Not parallel: one rule is to take much memory before its time is over,
// and that is the memory and the time of all that runs here.
func TestHostilePolicies(t *testing.T) {
	l := load(t, "policies: [custom]\nevaluator: topdown\n")
	for name, h := range hostileRules {
		text := "# METADATA\n# title: Hostile\n# custom:\n#   severity: low\n#   remediation: None.\npackage custom." + name + "\n\n_asked if input.commands[0].argv[1] == \"" + name + "\"\n\n" + h.rule + "\n"
		if err := os.WriteFile(filepath.Join(l.Policies[0], name+".rego"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{CheckOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	check := func(mode string) engine.Outcome {
		out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: "echo " + mode})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for name, h := range hostileRules {
		start := time.Now()
		out := check(name)
		if out.Decision.Effect != engine.Deny || out.Fault == nil || out.Decision.Fault == "" || !faultSays(out.Fault, h.want, name == "memory", "deadline exceeded") {
			t.Errorf("%s: effect %s, fault %.300v, want a fault with %q", name, out.Decision.Effect, out.Fault, h.want)
		}
		if took := time.Since(start); took > 30*time.Second { // the deadline is 5 s
			t.Errorf("%s: refused after %v", name, took)
		}
		if out := check("hello"); out.Decision.Effect != engine.Allow || out.Fault != nil {
			t.Errorf("the request after %s: effect %s, fault %v", name, out.Decision.Effect, out.Fault)
		}
	}
	for name, rule := range map[string]string{
		"recursion":        "deny contains {} if _f(1)\n\n_f(x) if _f(x)",
		"recursive set":    "deny contains {} if count(deny) == 0",
		"its own decision": "deny contains {} if data.sallyport.main.decision.effect == \"allow\"",
	} {
		text := "# METADATA\n# title: Hostile\n# custom:\n#   severity: low\n#   remediation: None.\npackage custom.recursive\n\n" + rule + "\n"
		l := load(t, "policies: [custom]\n")
		if err := os.WriteFile(filepath.Join(l.Policies[0], "x.rego"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if s, err := plugins.Assemble(t.Context(), l, plugins.Options{CheckOnly: true}); err == nil || !strings.Contains(err.Error(), "recurs") {
			t.Errorf("%s: %v", name, err)
			if err == nil {
				s.Close()
			}
		}
	}
}
