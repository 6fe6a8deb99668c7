package rego

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// Vetted is what Vet found.
type Vetted struct {
	Files    int       `json:"files"`
	Problems []Problem `json:"problems"`
}

// Vet looks through the policies of directories, tests included, for whatever keeps them from being
// loaded, and for what loads and yet does nothing: a rule that can never fire, a finding that the
// engine cannot read, a pattern that does not compile. It also wants the format of opa fmt.
//
// bundle is what the policies and their tests may refer to, as policies.Kit returns it.
func Vet(bundle fs.FS, dirs []string) (Vetted, error) {
	schema, err := inputForm()
	if err != nil {
		return Vetted{}, fmt.Errorf("read input schema: %w", err)
	}
	set := &fileSet{}
	set.read(bundle, "", false, isRego)
	set.readCustom(dirs, isRego)
	set.parse()
	rules := set.check()
	set.checkMetadata(rules)
	data, err := set.data(Config{})
	if err != nil {
		return Vetted{}, err
	}
	set.checkRefs(data)
	var found Vetted
	for _, src := range set.sources {
		if src.custom {
			found.Files++
			set.vetFormat(src)
			set.vetModule(src, schema, data)
		}
	}
	if !slices.ContainsFunc(set.problems, func(p Problem) bool { return p.Kind == "parse" || p.Kind == "load" }) {
		set.compiled(registry(rules, (*rule).waitsFor), false)
	}
	if set.err() != nil { // which sorts them
		found.Problems = set.distinct()
	}
	return found, nil
}

func isRego(name string) bool { return strings.HasSuffix(name, ".rego") }

// distinct drops what OPA says again of a place where something better was said.
func (s *fileSet) distinct() []Problem {
	at := func(p Problem) string { return fmt.Sprintf("%s:%d", p.File, p.Row) }
	said := map[string]map[string]bool{"unknown": {}, "never": {}}
	for _, p := range s.problems {
		if said[p.Kind] != nil {
			said[p.Kind][at(p)] = true
		}
	}
	return slices.DeleteFunc(s.problems, func(p Problem) bool {
		return p.Kind == "type" && (said["unknown"][at(p)] && strings.Contains(p.Message, "undefined function") ||
			said["never"][at(p)] && strings.Contains(p.Message, "match error"))
	})
}

// Format returns a module in the format of opa fmt.
func Format(name string, text []byte) ([]byte, error) {
	return format.SourceWithOpts(name, text, format.Opts{RegoVersion: ast.RegoV1})
}

// vetFormat compares a module with its formatted form and names the first line that differs.
func (s *fileSet) vetFormat(src *source) {
	if src.module == nil {
		return
	}
	formatted, err := Format(src.name, []byte(src.text))
	if err != nil {
		s.failed(src.name, err)
		return
	}
	if bytes.Equal(formatted, []byte(src.text)) {
		return
	}
	want, got, row := strings.Split(string(formatted), "\n"), strings.Split(src.text, "\n"), 0
	for row < len(want) && row < len(got) && want[row] == got[row] {
		row++
	}
	s.at(&ast.Location{File: src.name, Row: row + 1, Col: 1}, "the format is not that of opa fmt").
		as("format").suggest("sallyport policy check --fix, or opa fmt --write %s", src.name)
}

// vetModule looks for what compiles and does nothing.
func (s *fileSet) vetModule(src *source, schema *form, data map[string]any) {
	if src.module == nil || src.test() {
		return
	}
	for _, r := range src.module.Rules {
		v := vetter{fileSet: s, module: src.module, types: typesOf(src.module, r, schema), data: data}
		if r.Head.DocKind() == ast.PartialSetDoc && slices.Contains(effectNames(), ruleName(r)) {
			v.finding(r.Head.Key, r.Body)
		}
		ast.WalkBodies(r, func(b ast.Body) bool { v.body(b); return false })
		ast.WalkTerms(r, func(t *ast.Term) bool { v.term(t); return false })
	}
}

func effectNames() []string {
	names := make([]string, len(verbs))
	for i, v := range verbs {
		names[i] = string(v)
	}
	return names
}

var testingRoot = ast.MustParseRef("data.sallyport.testing")

// vetter looks through one rule.
type vetter struct {
	*fileSet
	module *ast.Module
	types  types
	data   map[string]any
}

// body looks for expressions that can never hold, or never together.
func (v vetter) body(body ast.Body) {
	is := map[string]*ast.Term{} // what a ref was compared with
	for _, e := range body {
		if t, ok := e.Terms.(*ast.Term); ok && !e.Negated && t.Value.Compare(ast.Boolean(false)) == 0 {
			v.at(e.Location, "this never holds").as("never").suggest("take the rule away, or say when it does")
		}
		v.lookup(e)
		if e.IsCall() {
			v.call(e.Operator(), e.Operands())
			equality := e.Operator().String() == "equal" || e.IsEquality()
			if a, b := e.Operand(0), e.Operand(1); equality && !e.Negated && len(e.With) == 0 {
				v.contradiction(is, a, b)
				v.contradiction(is, b, a)
			}
		}
	}
}

// contradiction holds a comparison with a constant against an earlier one of the same ref.
func (v vetter) contradiction(is map[string]*ast.Term, ref, constant *ast.Term) {
	path, ok := ref.Value.(ast.Ref)
	if !ok || !scalar(constant) || slices.ContainsFunc(path, wildcard) {
		return // each _ is another
	}
	before := is[ref.String()]
	if before == nil {
		is[ref.String()] = constant
	} else if !before.Equal(constant) {
		v.at(constant.Location, "%v cannot be %v and %v at once", ref, before, constant).as("never").suggest("write %v in {%v, %v}", ref, before, constant)
	}
}

func wildcard(t *ast.Term) bool {
	v, ok := t.Value.(ast.Var)
	return ok && v.IsWildcard()
}

func scalar(t *ast.Term) bool {
	switch t.Value.(type) {
	case ast.String, ast.Number, ast.Boolean, ast.Null:
		return true
	}
	return false
}

// term looks at calls inside terms, and at lookups by constant keys.
func (v vetter) term(t *ast.Term) {
	switch value := t.Value.(type) {
	case ast.Call:
		if op, ok := value[0].Value.(ast.Ref); ok {
			v.call(op, value[1:])
		}
	case ast.Ref:
		v.ref(value)
	}
}

// call holds constants in calls against what the other side may be.
func (v vetter) call(operator ast.Ref, args []*ast.Term) {
	switch name := operator.String(); {
	case len(args) >= 2 && slices.Contains([]string{"eq", "equal", "neq"}, name):
		if scalar(args[0]) && scalar(args[1]) && name != "neq" && !args[0].Equal(args[1]) {
			v.at(args[0].Location, "%v is never %v", args[0], args[1]).as("never")
		}
		if name != "neq" {
			v.kind(args[0], args[1])
			v.kind(args[1], args[0])
		}
		v.value(args[0], args[1])
		v.value(args[1], args[0])
	case len(args) >= 2 && operator.Equal(memberOf):
		v.member(args[0], args[1])
		v.collection(args[1])
	case len(args) >= 3 && operator.Equal(entryOf):
		v.collection(args[2])
	case len(args) >= 2 && name == "minus":
		v.subtraction(args[1])
	case strings.HasPrefix(name, "regex."):
		at := 0
		if name == "regex.replace" {
			at = 1
		}
		if len(args) > at {
			v.pattern(args[at])
		}
	}
}

// kind holds a constant against the kind of values that a field has.
func (v vetter) kind(field, constant *ast.Term) {
	if !scalar(constant) {
		return
	}
	if f := v.types.of(field); f != nil && f.never(constant.Value) {
		v.at(constant.Location, "%v is never %v", field, constant).as("never").suggest("its values are of type %s", f.Type)
	}
}

// value holds a constant against the closed list of values that a field has.
func (v vetter) value(field, constant *ast.Term) {
	text, ok := constant.Value.(ast.String)
	if !ok {
		return
	}
	if f := v.types.of(field); f != nil {
		v.oneOf(f, string(text), constant, fmt.Sprint(field))
	}
}

// member does the same for "x" in field, and for field in {"x", "y"}.
func (v vetter) member(element, collection *ast.Term) {
	if f := v.types.of(collection); f != nil {
		if text, ok := element.Value.(ast.String); ok {
			v.oneOf(f.Items, string(text), element, fmt.Sprint(collection))
		}
		return
	}
	each := func(t *ast.Term) { v.value(element, t) }
	switch c := collection.Value.(type) {
	case ast.Set:
		c.Foreach(each)
	case *ast.Array:
		c.Foreach(each)
	}
}

// collection finds a data file's single value where a list is looked through: nothing is ever in it.
func (v vetter) collection(t *ast.Term) {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return
	}
	full := resolved(v.module, ref)
	if !full.HasPrefix(customRoot) {
		return
	}
	var at any = v.data
	for _, key := range full[1:] {
		name, ok := key.Value.(ast.String)
		object, isObject := at.(map[string]any)
		if !ok || !isObject {
			return
		}
		if at, ok = object[string(name)]; !ok {
			return
		}
	}
	switch at.(type) {
	case string, bool, json.Number, float64, nil:
		v.at(t.Location, "nothing is ever in %v: the data file has a single value there", full).as("never").suggest("write a list")
	}
}

// fewValues is how many values a message lists.
const fewValues = 12

func (v vetter) oneOf(f *form, text string, at *ast.Term, field string) {
	if f == nil || len(f.Enum) == 0 || slices.Contains(f.Enum, text) {
		return
	}
	p := v.at(at.Location, "%s is never %q", field, text).as("never")
	switch near := nearest(text, f.Enum); {
	case near != "":
		p.suggest("did you mean %q?", near)
	case len(f.Enum) > fewValues:
		p.suggest("docs/policy-input.md lists the values")
	default:
		p.suggest("it is one of %s", strings.TrimPrefix(strings.Join(f.Enum, ", "), ", "))
	}
}

// ref holds the constant keys of the shared sets against the values that there are.
func (v vetter) ref(ref ast.Ref) {
	full := resolved(v.module, ref)
	if full.HasPrefix(testingRoot) {
		v.at(ref[0].Location, "data.sallyport.testing is there in tests only: this is undefined").as("unknown").suggest("move it into a file that ends in _test.rego")
	}
	if !full.HasPrefix(libRoot) || len(full) < len(libRoot)+2 {
		return
	}
	set, _ := full[len(libRoot)].Value.(ast.String)
	key := full[len(libRoot)+1]
	if set == "targets" && len(full) > len(libRoot)+2 {
		set, key = "with_access", full[len(libRoot)+2]
	}
	if text, ok := key.Value.(ast.String); ok {
		v.oneOf(v.types.keys(string(set)), string(text), key, "the key of lib."+string(full[len(libRoot)].Value.(ast.String)))
	}
}

// lookup finds a negated lookup in a shared set: it is looked up before the negation, and where
// nothing has the fact, it is undefined, and so is the whole expression.
func (v vetter) lookup(e *ast.Expr) {
	if !e.Negated || !e.IsCall() || !e.Operator().Equal(memberOf) {
		return
	}
	if set := v.keyed(e.Operand(1)); set != "" {
		v.at(e.Location, "silent where nothing has this fact: %s is looked up before the negation", set).
			as("silent").suggest("write not %s[%v]", set, e.Operand(0))
	}
}

func (v vetter) subtraction(right *ast.Term) {
	if set := v.keyed(right); set != "" {
		v.at(right.Location, "silent where nothing has this fact: what is subtracted is then undefined").
			as("silent").suggest("write {x | some x in …; not %s[x]}", set)
	}
}

// keyed returns the text of a lookup by key in a shared set, "" for anything else.
func (v vetter) keyed(t *ast.Term) string {
	ref, ok := t.Value.(ast.Ref)
	if !ok {
		return ""
	}
	full := resolved(v.module, ref)
	if !full.HasPrefix(libRoot) || len(full) < len(libRoot)+2 {
		return ""
	}
	if set, _ := full[len(libRoot)].Value.(ast.String); set == "targets" || slices.Contains(keyed, string(set)) {
		return ref.String()
	}
	return ""
}

// pattern compiles a constant regular expression: a bad one is an error of every decision.
func (v vetter) pattern(t *ast.Term) {
	text, ok := t.Value.(ast.String)
	if !ok {
		return
	}
	if _, err := regexp.Compile(string(text)); err != nil {
		v.at(t.Location, "not a regular expression: %v", err).as("pattern").suggest("RE2 has no look-around and no back-references")
	}
}
