package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine/compiled"
)

const registryFile = "sallyport/registry"

// registry writes the module by which the entrypoint reaches the rules that are not off: each set
// by the id of its rule, and its level. That lets custom rules have packages of any
// depth, keeps data out that only looks like a rule, and keeps tests beside rules from being part
// of the decision.
//
// A set that can hold something only when some fact is there stands below when, by that fact, and
// costs nothing while the fact is missing; the others stand in always. The entrypoint counts all
// of rules as evaluated only where it has looked for all kinds of facts. waitsFor tells such sets:
// it is (*rule).waitsFor, or unconditional.
func registry(rules []*rule, waitsFor func(r *rule, verb string) []fact) string {
	return writeRegistry(rules, waitsFor, false)
}

// unconditional has every rule asked about every input.
func unconditional(*rule, string) []fact { return nil }

// levelsElsewhere is the registry of a bundle that is compiled before the configuration is known: it has all
// rules, and their levels come from data. The level off drops all findings (main._applied). A rule that is
// off by default is evaluated only if data.sallyport.optional names its category.
func levelsElsewhere(rules []*rule) string { return writeRegistry(rules, (*rule).waitsFor, true) }

// optional are the categories of the rules that are off.
func optional(rules []*rule) []string {
	var categories []string
	for _, r := range rules {
		if r.off() {
			categories = append(categories, r.category())
		}
	}
	slices.Sort(categories)
	return slices.Compact(categories)
}

func writeRegistry(rules []*rule, waitsFor func(r *rule, verb string) []fact, elsewhere bool) string {
	more := map[string]setsByVerb{}
	if elsewhere {
		for _, category := range optional(rules) {
			more[category] = setsByVerb{}
		}
	}
	always := setsByVerb{}
	when := map[fact]setsByVerb{}
	level := map[string]string{}
	for _, r := range rules {
		if r.off() && !elsewhere {
			continue
		}
		level[r.id] = r.setting.Level
		for _, verb := range r.verbs() {
			if sets, ok := more[r.category()]; ok {
				sets.add(verb, r)
				continue
			}
			facts := waitsFor(r, verb)
			if len(facts) == 0 {
				always.add(verb, r)
			}
			for _, f := range facts {
				if when[f] == nil {
					when[f] = setsByVerb{}
				}
				when[f].add(verb, r)
			}
		}
	}
	ids := slices.Sorted(maps.Keys(level))
	var b strings.Builder
	// "if true" spares OPA's parser half of its work: it reads x := y as a rule, then anew as a query.
	b.WriteString("package sallyport.registry\n\n")
	if elsewhere {
		b.WriteString("level := data.sallyport.levels\n")
	} else {
		b.WriteString("level := {\n")
		for _, id := range ids {
			fmt.Fprintf(&b, "\t%q: %q,\n", id, level[id])
		}
		b.WriteString("} if true\n")
	}
	fmt.Fprintf(&b, "\nrules := %s if true\n\ndigest := %q if true\n\nalways := %s if true\n", asSet(ids), compiled.DigestOf(ids), always)
	fmt.Fprintf(&b, "\nkinds := %s if true\n\nwaiting := %v if true\n", asSet(keyed), len(when) > 0)
	if len(more) > 0 {
		b.WriteString("\noptional := [sets | some category in data.sallyport.optional; sets := _of[category]] if data.sallyport.optional\n")
		for _, category := range slices.Sorted(maps.Keys(more)) {
			fmt.Fprintf(&b, "\n_of[%q] := %s if true\n", category, more[category])
		}
	} else {
		b.WriteString("\noptional := [] if true\n")
	}
	if len(when) == 0 { // OPA refuses a lookup in an empty object
		b.WriteString("\nwhen.named[\"\"] := {\"deny\": {}} if true\n")
	}
	for _, f := range slices.SortedFunc(maps.Keys(when), fact.compare) {
		fmt.Fprintf(&b, "\nwhen.%s[%v] := %s if true\n", f.kind, ast.String(f.name), when[f])
	}
	return b.String()
}

// setsByVerb groups the rules by the verb of their sets.
type setsByVerb map[string][]*rule

func (s setsByVerb) add(verb string, r *rule) { s[verb] = append(s[verb], r) }

// String is a Rego object: of each verb, the sets by the ids of their rules.
func (s setsByVerb) String() string {
	var b strings.Builder
	b.WriteString("{\n")
	for _, verb := range verbs {
		if len(s[string(verb)]) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\t%q: {\n", verb)
		for _, r := range s[string(verb)] {
			fmt.Fprintf(&b, "\t\t%q: %v.%s,\n", r.id, r.pkg, verb)
		}
		b.WriteString("\t},\n")
	}
	b.WriteString("}")
	return b.String()
}

func asSet(texts []string) ast.Value {
	set := ast.NewSet()
	for _, t := range texts {
		set.Add(ast.StringTerm(t))
	}
	return set
}
