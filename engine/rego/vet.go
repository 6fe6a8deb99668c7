package rego

import (
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/format"
)

// Vetted is the result of Vet.
type Vetted struct {
	Files    int       `json:"files"`
	Problems []Problem `json:"problems"`
}

// Vet checks the policies of directories, tests included, for errors that keep them from being loaded, and
// for code that loads and has no effect: a rule that can never fire, a finding that the engine cannot read, a
// pattern that does not compile. It also requires the format of opa fmt.
//
// bundle is the code that the policies and their tests may refer to, as policies.Kit returns it.
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
	set.checkMetadata(rules, true)
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
	if !slices.ContainsFunc(
		set.problems, func(p Problem) bool { return p.Kind == "parse" || p.Kind == "load" }) {
		set.compiled(registry(rules, (*rule).waitsFor), false)
	}
	if set.err() != nil { // which sorts them
		found.Problems = set.distinct()
	}
	return found, nil
}

func isRego(name string) bool { return strings.HasSuffix(name, ".rego") }

// distinct drops OPA's messages about a place that has a better one.
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

// vetModule finds code that compiles and has no effect.
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

// findingKeys are the keys of a finding.
var findingKeys = []string{"command", "msg", "path"}

// finding compares the elements that a rule adds to its set with the engine's format. An unreadable one is a
// fault, and denies every request for which the rule fires.
func (v vetter) finding(t *ast.Term, body ast.Body) {
	if variable, ok := t.Value.(ast.Var); ok {
		if t = assigned(variable, body); t == nil {
			return
		}
	}
	switch value := t.Value.(type) {
	case ast.Object:
		value.Foreach(v.findingField)
	case ast.Var, ast.Ref, *ast.ObjectComprehension:
		// Known only when it is evaluated.
	case ast.Call:
		if operator, ok := value[0].Value.(ast.Ref); ok &&
			slices.Contains([]string{"sprintf", "concat"}, operator.String()) {
			v.notFinding(t)
		}
	default:
		v.notFinding(t)
	}
}

func (v vetter) notFinding(t *ast.Term) {
	v.at(t.Location, "a finding is an object, and this is %s", ast.ValueName(t.Value)).
		as("shape").suggest(`write {"command": i}, {"path": p} or {"msg": "…"}`)
}

func (v vetter) findingField(key, value *ast.Term) {
	text, ok := key.Value.(ast.String)
	if !ok {
		return
	}
	name := string(text)
	switch {
	case !slices.Contains(findingKeys, name):
		p := v.at(key.Location, "a finding has no %s", name).as("shape")
		if near := nearest(name, findingKeys); near != "" {
			p.suggest("did you mean %s?", near)
		} else {
			p.suggest("it has command and path, which are indexes into the input, and msg")
		}
	case name == "msg" && scalar(value):
		if text, ok := value.Value.(ast.String); !ok || text == "" {
			v.at(value.Location, "msg is a text").as("shape").suggest("leave it out, and the title of " +
				"the rule is told")
		}
	case name != "msg" && scalar(value):
		if n, ok := integer(value); !ok || n < -1 {
			v.at(value.Location, "%s is an index into input.%ss", name,
				name).as("shape").suggest("write some i, c in input.%ss and %q: i", name, name)
		}
	}
}

// assigned is the value that a body assigns to a variable, or nil.
func assigned(v ast.Var, body ast.Body) *ast.Term {
	for _, e := range body {
		if e.IsAssignment() && e.Operand(0).Value.Compare(v) == 0 {
			return e.Operand(1)
		}
	}
	return nil
}
