package plugins_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/plugins"
)

// hostileRules are rules that do harm when a command says which.
var hostileRules = map[string]struct{ rule, want string }{
	"memory": {`deny contains {"msg": text} if {
	_asked
	` + doubling(36) + `
	text := substring(s36, 0, 3)
}`, "builds something very large"},
	"memory_in_lists": {`deny contains {"command": 0} if {
	_asked
	x := [[a, b] | some a in numbers.range(1, 20000); some b in numbers.range(1, 20000)]
	count(x) < 0
}`, "builds something very large"},
	"many": {`deny contains {"msg": sprintf("%d", [n])} if {
	_asked
	some n in numbers.range(1, 12000)
}`, "findings: at most"},
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

const endlessRule = `deny contains {} if {
	_asked
	some a in numbers.range(1, 100000)
	some b in numbers.range(1, 100000)
	a + b < 0
}`

// hostilePolicies is a gate with custom rules, by name, that do harm when a command names them.
func hostilePolicies(t *testing.T, timeout time.Duration, rules map[string]string) func(mode string) engine.Outcome {
	t.Helper()
	l := load(t, "policies: [custom]\nevaluator: topdown\n")
	for name, rule := range rules {
		text := "# METADATA\n# title: Hostile\n# custom:\n#   severity: low\n#   remediation: None.\npackage custom." + name + "\n\n_asked if input.commands[0].argv[1] == \"" + name + "\"\n\n" + rule + "\n"
		if err := os.WriteFile(filepath.Join(l.Policies[0], name+".rego"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := plugins.Assemble(t.Context(), l, plugins.Options{CheckOnly: true}.Within(timeout, nil))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return func(mode string) engine.Outcome {
		out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: "echo " + mode})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
}

// An endless policy denies with a fault that names it, and the next request is served.
func TestEndlessPolicy(t *testing.T) {
	t.Parallel()
	check := hostilePolicies(t, 200*time.Millisecond, map[string]string{"loop": endlessRule})
	if out := check("loop"); out.Decision.Effect != engine.Deny || out.Fault == nil || !strings.Contains(out.Fault.Error(), "loop.rego:10: rule custom/loop: evaluate policies: ") {
		t.Errorf("effect %s, fault %.300v", out.Decision.Effect, out.Fault)
	}
	await.True(t, "the next request is served", func() bool { return check("hello").Decision.Effect == engine.Allow })
}

// A policy that does harm denies with a fault, and the next request is served. Not
// parallel: the memory of all that runs here counts.
func TestHostilePolicies(t *testing.T) {
	leftout.Full(t, leftout.Slow)
	rules := map[string]string{}
	for name, h := range hostileRules {
		rules[name] = h.rule
	}
	check := hostilePolicies(t, await.Guard, rules)
	for name, h := range hostileRules {
		out := check(name)
		if out.Decision.Effect != engine.Deny || out.Fault == nil || out.Decision.Fault == "" || !strings.Contains(out.Fault.Error(), h.want) {
			t.Errorf("%s: effect %s, fault %.300v, want a fault with %q", name, out.Decision.Effect, out.Fault, h.want)
		}
		if out := check("hello"); out.Decision.Effect != engine.Allow || out.Fault != nil {
			t.Errorf("the request after %s: effect %s, fault %v", name, out.Decision.Effect, out.Fault)
		}
	}
}

// A rule that is endless by its text alone is not loaded.
func TestRecursivePolicies(t *testing.T) {
	t.Parallel()
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
