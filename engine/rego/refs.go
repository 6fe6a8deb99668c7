package rego

import (
	"maps"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// branch is a place in data: its children, by name.
type branch struct {
	below map[string]*branch
	value bool // a rule or a value is here: its children are not known beforehand
}

func (p *branch) child(name string) *branch {
	if p.below == nil {
		p.below = map[string]*branch{}
	}
	if p.below[name] == nil {
		p.below[name] = &branch{}
	}
	return p.below[name]
}

// document adds the content of a data file.
func (p *branch) document(value any) {
	object, ok := value.(map[string]any)
	if !ok || len(object) == 0 {
		p.value = true
		return
	}
	for key, v := range object {
		p.child(key).document(v)
	}
}

// places maps all of data: rules, and the content of the data files.
func (s *fileSet) places(data map[string]any) *branch {
	root := &branch{}
	root.document(data)
	for _, src := range s.sources {
		if src.module == nil {
			continue
		}
		at := root
		for _, name := range words(src.module.Package.Path[1:]) {
			at = at.child(name)
		}
		for _, r := range src.module.Rules {
			at.child(ruleName(r)).value = true
		}
	}
	root.child("sallyport").child("registry").value = true
	return root
}

// checkRefs finds reads of custom modules from data that nothing provides: a misspelt import or list is
// undefined, and its rule would be silent for ever.
func (s *fileSet) checkRefs(data map[string]any) {
	if !slices.ContainsFunc(s.sources, func(src *source) bool { return src.custom }) {
		return
	}
	root := s.places(data)
	for _, src := range s.sources {
		if src.custom && src.module != nil {
			s.checkModuleRefs(src, root)
		}
	}
}

func (s *fileSet) checkModuleRefs(src *source, root *branch) {
	given := givenInTests(src.module)
	told := map[string]bool{}
	ast.WalkRefs(src.module, func(ref ast.Ref) bool {
		full := resolved(src.module, ref)
		if !full.HasPrefix(ast.DefaultRootRef) {
			return false
		}
		missing, around := root.lacks(full)
		if missing == "" || told[missing] || slices.ContainsFunc(given, func(g string) bool {
			return strings.HasPrefix(missing+".", g+".") || strings.HasPrefix(g+".", missing+".")
		}) {
			return false
		}
		told[missing] = true
		name := missing[strings.LastIndexByte(missing, '.')+1:]
		p := s.at(ref[0].Location, "nothing provides %s: rules that read it would be silent", missing).as("unknown")
		names := slices.Sorted(maps.Keys(around.below))
		switch near := nearest(name, names); {
		case near != "":
			p.suggest("did you mean %s?", near)
		case len(full) > 1 && full[1].Equal(ast.StringTerm("custom")):
			p.suggest("put it into a data file below custom, or define it in a package")
		case len(names) > 0:
			p.suggest("there are %s", strings.Join(names, ", "))
		}
		return false
	})
}

// lacks returns the first part of a reference that nothing provides, and the place where it would be.
func (p *branch) lacks(full ast.Ref) (missing string, around *branch) {
	for i, term := range full[1:] {
		name, ok := term.Value.(ast.String)
		if !ok || p.value {
			return "", nil
		}
		next := p.below[string(name)]
		if next == nil {
			return full[:i+2].String(), p
		}
		p = next
	}
	return "", nil
}

// givenInTests are the places in data that a module fills in by itself: with data.x as y.
func givenInTests(module *ast.Module) []string {
	var given []string
	ast.WalkWiths(module, func(w *ast.With) bool {
		if ref, ok := w.Target.Value.(ast.Ref); ok {
			given = append(given, resolved(module, ref).String())
		}
		return false
	})
	return given
}
