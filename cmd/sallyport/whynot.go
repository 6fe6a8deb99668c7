package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

// checkedWhyNot is the JSON form of check --why-not.
type checkedWhyNot struct {
	show.Checked
	WhyNot *whyNot `json:"why_not"`
}

// whyNot is the outcome of one rule, and the failed expression of each of its clauses. It has no clauses if
// the rule is off or one of a plugin.
type whyNot struct {
	rego.RuleTrace
	Origin rego.Origin `json:"origin"`
	rego.WhyNot
}

func whyNotOf(
	ctx context.Context, s *plugins.Sallyport, in *facts.Input, traces []rego.RuleTrace, id string,
) (*whyNot, error) {
	infos, err := s.Rules(ctx)
	if err != nil {
		return nil, err
	}
	picked, err := pick(infos, []string{id})
	if err != nil {
		return nil, err
	}
	why := &whyNot{Origin: picked[0].Origin}
	why.Awaited, why.Clauses = []rego.Awaited{}, []rego.Clause{}
	if i := slices.IndexFunc(traces, func(t rego.RuleTrace) bool { return t.Rule == id }); i >= 0 {
		why.RuleTrace = traces[i]
	}
	if why.Outcome != rego.Off && why.Origin != rego.Plugin {
		why.WhyNot, err = s.WhyNot(ctx, in, id)
	}
	return why, err
}

func (a *app) writeWhyNot(why *whyNot) error {
	name := styleOf(a.out).Bold(why.Rule)
	fmt.Fprintf(a.out, "\n%s: %s; level %s (from %s)\n", name, why.Outcome, why.Level, why.LevelFrom)
	switch {
	case why.Outcome == rego.Off:
		fmt.Fprintf(a.out, "  it is not evaluated: add rules: {%s: own} to the configuration\n", why.Rule)
	case why.Origin == rego.Plugin:
		fmt.Fprintln(a.out, "  it is of a rule plugin, which has no expressions to show")
	}
	for _, w := range why.Awaited {
		fmt.Fprintf(a.out, "  %s is not evaluated: the request has %s\n", w.Set, lacks(w.Facts))
	}
	for _, c := range why.Clauses {
		a.writeClause(c, "  ")
	}
	return nil
}

// writeClause shows one clause and, indented below it, the helpers that failed with it.
func (a *app) writeClause(c rego.Clause, indent string) {
	at := fmt.Sprintf("%s%s at %s:%d", indent, c.Name, c.Location.File, c.Location.Row)
	f := c.Failed
	switch {
	case c.Holds:
		fmt.Fprintf(a.out, "%s holds\n", at)
		return
	case f == nil:
		fmt.Fprintf(a.out, "%s gives no result\n", at)
		return
	case f.Attempts > 1:
		fmt.Fprintf(a.out, "%s fails at line %d in %d attempts; the first:\n", at, f.Location.Row, f.Attempts)
	default:
		fmt.Fprintf(a.out, "%s fails at line %d:\n", at, f.Location.Row)
	}
	for line := range strings.SplitSeq(f.Text, "\n") {
		fmt.Fprintf(a.out, "%s    %s\n", indent, printable(strings.TrimSpace(line)))
	}
	indent += "      "
	if f.Negated {
		fmt.Fprintf(a.out, "%sit holds without the not\n", indent)
	}
	if len(f.Missing) > 0 {
		fmt.Fprintf(a.out, "%sthe request has %s\n", indent, lacks(f.Missing))
	}
	for _, v := range f.Values {
		switch {
		case v.Undefined && len(f.Missing) > 0: // that says it
		case v.Undefined:
			fmt.Fprintf(a.out, "%s%s is undefined\n", indent, printable(v.Name))
		case v.Same != "":
			fmt.Fprintf(a.out, "%s%s is %s\n", indent, printable(v.Name), v.Same)
		default:
			text, err := json.Marshal(v.Value)
			if err != nil {
				text = []byte(err.Error())
			}
			value := shorten(printable(string(text)), 120)
			fmt.Fprintf(a.out, "%s%s is %s\n", indent, printable(v.Name), value)
		}
	}
	for _, below := range f.Below {
		a.writeClause(below, indent)
	}
}

// lacks says that all of several facts are missing.
func lacks(facts []string) string {
	const most = 3
	more := ""
	if len(facts) > most {
		facts, more = facts[:most], fmt.Sprintf(", and none of %d other facts that would do", len(facts)-most)
	}
	return "no " + strings.Join(facts, ", no ") + more
}
