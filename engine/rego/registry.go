package rego

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/topdown"

	"github.com/sallyport-dev/sallyport/engine/compiled"
)

const registryFile = "sallyport/registry"

// registry writes the module by which the entrypoint reaches the rules that are not off: each set
// by the id of its rule, and its level. That lets custom rules have packages of any
// depth, keeps data out that only looks like a rule, and keeps tests beside rules from being part
// of the decision.
//
// A set that can hold something only when some fact is there stands below when, by that fact, and
// costs nothing while the fact is missing; the others stand in always. waitsFor tells such sets: it is
// (*rule).waitsFor, or unconditional.
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
	fmt.Fprintf(&b, "\nrules := %s if true\n\ndigest := %q if true\n\nalways := %s if true\n", asSet(ids),
		compiled.DigestOf(ids), always)
	if len(more) > 0 {
		b.WriteString(
			"\noptional := [sets | some category in data.sallyport.optional; sets := _of[category]] if " +
				"data.sallyport.optional\n")
		for _, category := range slices.Sorted(maps.Keys(more)) {
			fmt.Fprintf(&b, "\n_of[%q] := %s if true\n", category, more[category])
		}
	} else {
		b.WriteString("\noptional := [] if true\n")
	}
	kinds := map[string]bool{}
	for _, f := range slices.SortedFunc(maps.Keys(when), fact.compare) {
		kinds[f.kind] = true
		fmt.Fprintf(&b, "\nwhen.%s[%v] := %s if true\n", f.kind, ast.String(f.name), when[f])
	}
	b.WriteString("\n" + concerned(slices.Sorted(maps.Keys(kinds))))
	return b.String()
}

// concerned lists the sets below when whose facts are there. Where lib does not have an object of facts it is
// undefined, and the entrypoint counts no rule as evaluated.
func concerned(kinds []string) string {
	if len(kinds) == 0 {
		return "concerned := [] if true\n"
	}
	var lists, objects strings.Builder
	for _, kind := range kinds {
		object := libRoot.Append(ast.StringTerm(kind))
		fmt.Fprintf(&lists, "\t\t[sets | some fact, _ in %v; sets := when.%s[fact]],\n", object, kind)
		fmt.Fprintf(&objects, "\t%v\n", object)
	}
	return "concerned := [sets |\n\tsome list in [\n" + lists.String() + "\t]\n\tsome sets in list\n] if {\n" +
		objects.String() + "}\n"
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

// Function returns a builtin function of Rego for evaluators other than OPA's own, such as compiled
// policies: nil where policies may not use one of that name. Arguments and the result are values in
// Rego's notation, so that sets stay sets; a result of "" means undefined. An error of the function
// is an error, as in the evaluation of policies here.
func Function(name string) func(ctx context.Context, args []string) (string, error) {
	allowed := slices.ContainsFunc(capabilities().Builtins, func(b *ast.Builtin) bool { return b.Name == name })
	call := topdown.GetBuiltin(name)
	if !allowed || call == nil {
		return nil
	}
	return func(ctx context.Context, args []string) (string, error) {
		terms := make([]*ast.Term, len(args))
		for i, text := range args {
			var err error
			if terms[i], err = parseValue(text); err != nil {
				return "", fmt.Errorf("%s: argument %d: %w", name, i+1, err)
			}
		}
		var result *ast.Term
		b := topdown.BuiltinContext{Context: ctx, Cancel: topdown.NewCancel(), Capabilities: capabilities()}
		err := call(b, terms, func(t *ast.Term) error {
			result = t
			return nil
		})
		if err != nil || result == nil {
			return "", err
		}
		var text strings.Builder
		if err := notation(&text, result.Value); err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return text.String(), nil
	}
}

// parseValue reads a value. Most are plain texts, for which the parser of Rego would be a detour.
func parseValue(text string) (*ast.Term, error) {
	if strings.HasPrefix(text, `"`) {
		var s string
		if json.Unmarshal([]byte(text), &s) == nil {
			return ast.StringTerm(s), nil
		}
	}
	return ast.ParseTerm(text)
}

// notation writes a value with the escapes of JSON, which all readers of Rego values know.
func notation(w *strings.Builder, v ast.Value) error {
	list := func(opening, closing string, each func(func(*ast.Term) error) error) error {
		w.WriteString(opening)
		first := true
		err := each(func(t *ast.Term) error {
			if !first {
				w.WriteByte(',')
			}
			first = false
			return notation(w, t.Value)
		})
		w.WriteString(closing)
		return err
	}
	switch v := v.(type) {
	case ast.Null, ast.Boolean, ast.Number:
		w.WriteString(v.String())
		return nil
	case ast.String:
		text, err := json.Marshal(string(v))
		w.Write(text)
		return err
	case *ast.Array:
		return list("[", "]", v.Iter)
	case ast.Set:
		if v.Len() == 0 {
			w.WriteString("set()")
			return nil
		}
		return list("{", "}", v.Iter)
	case ast.Object:
		w.WriteByte('{')
		first := true
		err := v.Iter(func(key, value *ast.Term) error {
			if !first {
				w.WriteByte(',')
			}
			first = false
			if err := notation(w, key.Value); err != nil {
				return err
			}
			w.WriteByte(':')
			return notation(w, value.Value)
		})
		w.WriteByte('}')
		return err
	}
	return errors.New("its result is no value")
}
