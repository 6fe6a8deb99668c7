package rego

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/policies"
)

// told writes clauses for comparison: row, name, failed row, text, values.
func told(t *testing.T, clauses []Clause) string {
	t.Helper()
	var lines []string
	for _, c := range clauses {
		line := fmt.Sprintf("%d %s", c.Location.Row, c.Name)
		switch f := c.Failed; {
		case c.Holds:
			line += " holds"
		case f == nil:
			line += " gives nothing"
		default:
			line += fmt.Sprintf(": %d× %d: %s", f.Attempts, f.Location.Row, strings.Join(strings.Fields(f.Text), " "))
			if f.Negated {
				line += "; negated"
			}
			if len(f.Missing) > 0 {
				line += "; no " + strings.Join(f.Missing, ", no ")
			}
			for _, v := range f.Values {
				text, err := json.Marshal(v.Value)
				if err != nil {
					t.Fatal(err)
				}
				switch {
				case v.Undefined:
					line += "; " + v.Name + " undefined"
				case v.Same != "":
					line += "; " + v.Name + " = " + v.Same
				default:
					line += "; " + v.Name + " = " + string(text)
				}
			}
			if len(f.Below) > 0 {
				line += " [" + told(t, f.Below) + "]"
			}
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

func TestWhyNot(t *testing.T) {
	t.Parallel()
	npm := func(in *facts.Input) {
		first := &in.Commands[0]
		first.Name, first.Subcommand, first.Flags = "npm", "pack", []string{"recursive"}
		in.Commands = append(in.Commands, in.Commands[0], in.Commands[0])
		in.Commands[1].Subcommand, in.Commands[2].Name = "publish", "ls"
		in.Commands[1].Elevated = true
	}
	for name, test := range map[string]struct{ rules, want string }{
		"the first attempt that came furthest": {
			`deny contains {"command": i} if {
	some i, c in input.commands
	c.name == "npm"
	c.subcommand == "install"
}`,
			`10 deny: 2× 13: c.subcommand == "install"; c.subcommand = "pack"`,
		},
		"a set of facts that is empty": {
			`deny contains {"command": i} if some i in lib.with_flag.force`,
			`10 deny: 1× 10: some i in lib.with_flag.force; no command with the flag force; lib.with_flag.force undefined`,
		},
		"a function of the library": {
			`deny contains {"command": i} if some i, _ in lib.commands({"pip"})`,
			`10 deny: 1× 10: some i, _ in lib.commands({"pip"}); no command pip; lib.commands({"pip"}) = {}`,
		},
		"a negation": {
			`deny contains {"command": 1} if {
	c := input.commands[1]
	not c.elevated
}`,
			`10 deny: 1× 12: not c.elevated; negated; c.elevated = true`,
		},
		"helpers, as far down as they fail": {
			`deny contains {"command": i} if {
	some i, c in input.commands
	c.name == "npm"
	_careless(c)
}

_careless(c) if c.background

_careless(c) if {
	"recursive" in c.flags
	not _known(c)
}

_known(c) if c.known`,
			`10 deny: 2× 13: _careless(c); c = input.commands[0] ` +
				`[16 _careless: 1× 16: c.background; c.background = false` + "\n" +
				`18 _careless: 1× 20: not _known(c); negated; c = input.commands[0]]`,
		},
		"a set that an earlier clause has looked at": {
			`deny contains {"command": i} if some i in _odd

deny contains {"command": i} if {
	some i in lib.with_flag.recursive
	i in _odd
}

_odd contains i if some i in lib.named.odd`,
			`10 deny: 1× 10: some i in _odd; no command odd; _odd = [] ` +
				`[17 _odd: 1× 17: some i in lib.named.odd; no command odd; lib.named.odd undefined]` + "\n" +
				`12 deny: 3× 14: i in _odd; no command odd; i = 0; _odd = [] ` +
				`[17 _odd: 1× 17: some i in lib.named.odd; no command odd; lib.named.odd undefined]`,
		},
		"a lookup with an index": {
			`deny contains {"command": i} if {
	some i in lib.with_flag.recursive
	lib.with_flag.force[i]
}`,
			`10 deny: 3× 12: lib.with_flag.force[i]; no command with the flag force; ` +
				`lib.with_flag.force[i] undefined; i = 0`,
		},
		"an expression of several lines": {
			`deny contains {"command": 0} if {
	count({i |
		some i, c in input.commands
		c.name == "npm"
	}) > 2
}`,
			`10 deny: 1× 11: count({i | some i, c in input.commands c.name == "npm" }) > 2`,
		},
		"a head without a value": {
			`deny contains {"command": 0, "msg": input.commands[0].argv[9]} if input.version == 1`,
			`10 deny: 1× 10: deny contains {"command": 0, "msg": input.commands[0].argv[9]} if input.version == 1`,
		},
		"a rule that holds, beside one that the index leaves out": {
			`deny contains {"command": 0} if input.version == 1

warn contains {"command": 0} if input.request.tool == "delete_file"`,
			"10 deny holds\n" +
				`12 warn: 1× 12: input.request.tool == "delete_file"; input.request.tool = "execute_command"`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := harmless()
			in.Request.Tool = "execute_command"
			npm(in)
			head := "\n\n" // so that rules begin in row 10
			if strings.Contains(test.rules, "lib.") {
				head = "import data.sallyport.lib\n\n"
			}
			e := newEvaluator(t, Options{Custom: []string{customRule(t, head+test.rules)}})
			why, err := e.WhyNot(t.Context(), in, "custom/team/x")
			if err != nil {
				t.Fatal(err)
			}
			equal(t, told(t, why.Clauses), test.want)
			if holds := strings.Contains(test.want, "holds"); holds {
				return
			}
			// The decision says the same: it has no reason of this rule.
			if j, err := e.Evaluate(t.Context(), in); err != nil || len(j.Reasons) != 0 {
				t.Errorf("the rule found something: %+v, %v", j, err)
			}
		})
	}
}

func TestWhyNotTellsOfSetsThatAreNotEvaluated(t *testing.T) {
	t.Parallel()
	e := newEvaluator(t, Options{Bundle: policies.FS(), Tested: true})
	in := harmless()
	why, err := e.WhyNot(t.Context(), in, "system/kill_by_name")
	if err != nil {
		t.Fatal(err)
	}
	facts := []string{"command with the flag kills_by_name", "command with the flag kills_unknown"}
	equal(t, why.Awaited, []Awaited{{"ask", facts}})
	in.Commands[0].Flags = []string{"kills_by_name", "kills_all"}
	if why, err = e.WhyNot(t.Context(), in, "system/kill_by_name"); err != nil {
		t.Fatal(err)
	}
	equal(t, why.Awaited, []Awaited{})
	if len(why.Clauses) != 2 || why.Clauses[0].Failed.Text != "not lib.with_flag.kills_all[i]" {
		t.Errorf("got %s", told(t, why.Clauses))
	}
	_, err = e.WhyNot(t.Context(), in, "system/none")
	if err == nil || !strings.Contains(err.Error(), "not loaded") {
		t.Errorf("an unknown rule: %v", err)
	}
}

// TestWhyNotOfAllRules asks each built-in rule about one input: each clause of each set says why.
func TestWhyNotOfAllRules(t *testing.T) {
	t.Parallel()
	e := newEvaluator(t, Options{Bundle: policies.FS(), Tested: true})
	all, err := e.all()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all.policies.rules {
		why, err := e.WhyNot(t.Context(), harmless(), r.id)
		if err != nil {
			t.Fatal(err)
		}
		clauses := 0
		for _, src := range r.sources {
			for _, definition := range src.module.Rules {
				for _, verb := range r.verbs() {
					if ruleName(definition) == verb {
						clauses++
					}
				}
			}
		}
		if len(why.Clauses) != clauses {
			t.Errorf("%s: %d clauses, want %d:\n%s", r.id, len(why.Clauses), clauses, told(t, why.Clauses))
		}
		for _, c := range why.Clauses {
			f := c.Failed
			if !c.Holds && (f == nil || f.Text == "" || f.Location.Row < c.Location.Row) {
				t.Errorf("%s:\n%s", r.id, told(t, why.Clauses))
			}
		}
	}
}
