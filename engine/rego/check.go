package rego

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
)

// rule is a rule package that was loaded: one that defines deny, ask or warn.
type rule struct {
	id      string // "git/force_push", "custom/team/no_deploys"
	pkg     ast.Ref
	sources []*source                         // the files of the package
	defined map[engine.Effect]engine.Location // where each set that it defines stands first
	setting compiled.Setting
	about   func() (metadata, []Problem)
	shared  bool           // another package may add to its sets
	data    map[string]any // the data files
}

var (
	verbs       = compiled.Verbs
	builtinRoot = ast.MustParseRef("data.sallyport.rules")
	customRoot  = ast.MustParseRef("data.custom")
)

// check finds the rule packages, and mistakes that OPA accepts but that would silence a rule: names that are
// almost right, rules that are no sets, packages in the wrong place.
func (s *fileSet) check() []*rule {
	packages := map[string]*rule{}
	var order []string
	for _, src := range s.sources {
		if src.module == nil || src.test() {
			continue
		}
		pkg := src.module.Package.Path
		if !s.inPlace(src) {
			continue
		}
		key := pkg.String()
		if packages[key] == nil {
			packages[key] = &rule{id: ruleID(pkg), pkg: pkg, defined: map[engine.Effect]engine.Location{}}
			order = append(order, key)
		}
		r := packages[key]
		r.sources = append(r.sources, src)
		s.checkVerbs(src, r)
	}
	var rules []*rule
	for _, key := range order {
		r := packages[key]
		if r.id == "" || len(r.defined) == 0 && s.imported(r.pkg) {
			if len(r.defined) > 0 {
				s.at(r.sources[0].module.Package.Location, "package %s defines %s outside of sallyport.rules",
					packageName(r.pkg), r.verbs()[0]).as("package")
			}
			continue // a library
		}
		s.checkNames(r)
		switch {
		case len(r.defined) > 0:
			rules = append(rules, r)
		case r.custom():
			s.at(r.sources[0].module.Package.Location,
				"package %s does nothing", packageName(r.pkg)).
				as("never").suggest("it defines no deny, ask or warn, and nothing refers to it")
		default:
			s.at(r.sources[0].module.Package.Location, "package %s is no rule: it defines no deny, ask or warn",
				packageName(r.pkg)).as("never")
		}
	}
	slices.SortFunc(rules, func(a, b *rule) int { return cmp.Compare(a.id, b.id) })
	return rules
}

// inPlace keeps custom packages below custom, and built-in ones at their files: a rule with a misspelt
// package would be somewhere else, and silent.
func (s *fileSet) inPlace(src *source) bool {
	pkg := src.module.Package
	if src.custom {
		if !pkg.Path.HasPrefix(customRoot) || len(pkg.Path) <= len(customRoot) {
			s.at(pkg.Location, "package %s must be below custom",
				packageName(pkg.Path)).as("package").suggest("write package %s", belowCustom(pkg.Path))
			return false
		}
		return true
	}
	if want := strings.ReplaceAll(path.Dir(src.name), "/", "."); packageName(pkg.Path) != want {
		s.at(pkg.Location, "package %s does not match its directory",
			packageName(pkg.Path)).as("package").suggest("write package %s", want)
		return false
	}
	return true
}

// belowCustom is the name that a package should have: its own with custom in front, or with a misspelt custom
// corrected.
func belowCustom(pkg ast.Ref) string {
	names := words(pkg[1:])
	if len(names) > 1 && nearest(names[0], []string{"custom"}) != "" {
		names = names[1:]
	}
	return strings.Join(append([]string{"custom"}, names...), ".")
}

// checkVerbs notes the sets that a module defines, and refuses a rule of such a name that is not a partial
// set: the entrypoint would find nothing in it.
func (s *fileSet) checkVerbs(src *source, r *rule) {
	for _, definition := range src.module.Rules {
		name := ruleName(definition)
		if !slices.Contains(verbs, engine.Effect(name)) {
			continue
		}
		head := definition.Head
		if len(head.Ref()) != 1 || len(head.Args) > 0 || head.DocKind() != ast.PartialSetDoc || definition.Default {
			s.at(definition.Location, "%s must be a set of findings",
				name).as("shape").suggest("write %s contains {\"command\": i} if { … }", name)
			continue
		}
		for d := definition; d != nil; d = d.Else {
			if _, seen := r.defined[engine.Effect(name)]; !seen {
				r.defined[engine.Effect(name)] = engine.Location{File: src.name, Row: d.Location.Row}
			}
		}
	}
}

// checkNames refuses public names beside deny, ask and warn in a rule package, and in a package
// that does nothing those that are almost one of these.
func (s *fileSet) checkNames(r *rule) {
	seen := map[string]bool{}
	for _, src := range r.sources {
		for _, definition := range src.module.Rules {
			name := ruleName(definition)
			if strings.HasPrefix(name, "_") || strings.HasPrefix(name, "test_") || seen[name] ||
				slices.Contains(verbs, engine.Effect(name)) {
				continue
			}
			seen[name] = true
			switch near := nearest(name, []string{"deny", "ask", "warn"}); {
			case near != "":
				s.at(definition.Location, "%s is not evaluated",
					name).as("never").suggest("did you mean %s? name a helper with a leading underscore", near)
			case len(r.defined) > 0:
				s.at(definition.Location, "%s is not evaluated",
					name).as("never").suggest(
					"a rule package defines deny, ask and warn; name a helper with a leading underscore")
			}
		}
	}
}

// imported reports whether some module outside of a package refers to it.
func (s *fileSet) imported(pkg ast.Ref) bool {
	found := false
	for _, src := range s.sources {
		if src.module == nil || src.module.Package.Path.Equal(pkg) {
			continue
		}
		ast.WalkRefs(src.module, func(ref ast.Ref) bool {
			found = found || ref.HasPrefix(pkg)
			return found
		})
	}
	return found
}

func (r *rule) verbs() []string {
	var names []string
	for _, v := range verbs {
		if _, ok := r.defined[v]; ok {
			names = append(names, string(v))
		}
	}
	return names
}

func (r *rule) custom() bool { return len(r.sources) > 0 && r.sources[0].custom }

func (r *rule) category() string {
	category, _, _ := strings.Cut(r.id, "/")
	return category
}

// off reports whether the rule is not evaluated at all.
func (r *rule) off() bool { return r.setting.Level == "off" }

// ruleID is the id of the rules in a package: "git/force_push" for sallyport.rules.git.force_push,
// "custom/team/x" for custom.team.x, "" for packages that hold no rules.
func ruleID(pkg ast.Ref) string {
	switch {
	case pkg.HasPrefix(builtinRoot) && len(pkg) == len(builtinRoot)+2:
		return strings.Join(words(pkg[len(builtinRoot):]), "/")
	case pkg.HasPrefix(customRoot):
		return strings.Join(words(pkg[1:]), "/")
	default:
		return ""
	}
}

func packageName(pkg ast.Ref) string { return strings.Join(words(pkg[1:]), ".") }

func words(terms []*ast.Term) []string {
	texts := make([]string, len(terms))
	for i, t := range terms {
		s, _ := t.Value.(ast.String)
		texts[i] = string(s)
	}
	return texts
}

func ruleName(r *ast.Rule) string {
	head := r.Head.Ref()[0].Value
	if v, ok := head.(ast.Var); ok {
		return string(v)
	}
	return r.Head.Name.String()
}

// nearest returns the candidate that a misspelt word most likely means, or "". Two slips count
// as a misspelling, and a third of the letters in long words.
func nearest(word string, candidates []string) string {
	best, distance := "", max(2, len(word)/3)+1
	for _, c := range candidates {
		limit := min(len(c)-2, distance-1) // "ask" is one slip away from "task", but two from any "as…"
		if d := slips(strings.ToLower(word), c); d <= limit && d < distance {
			best, distance = c, d
		}
	}
	return best
}

// slips counts the slips between a word and a candidate. Two letters that changed places are one.
func slips(word, candidate string) int {
	d := levenshtein.ComputeDistance(word, candidate)
	if d == 2 && len(word) == len(candidate) {
		for i := range len(word) - 1 {
			if word[:i]+word[i+1:i+2]+word[i:i+1]+word[i+2:] == candidate {
				return 1
			}
		}
	}
	return d
}

// checkConfig holds the configuration, and the profile it names, against the rules that exist,
// and settles the level of each rule.
func (s *fileSet) checkConfig(c Config, p *ruleSet) {
	sallyport, _ := p.data["sallyport"].(map[string]any)
	profiles, _ := sallyport["profiles"].(map[string]any)
	config := c.Filled()
	profile, ok := profiles[config.Profile].(map[string]any)
	if !ok {
		s.problem("", "profile %q does not exist%s", config.Profile,
			instead(config.Profile, slices.Sorted(maps.Keys(profiles))))
	}
	s.checkProfile(config.Profile, profile, p)
	for _, r := range p.rules {
		r.setting = config.Setting(r.id, profile)
	}
	for _, id := range slices.Sorted(maps.Keys(config.Levels)) {
		s.checkRuleID(fmt.Sprintf("rules: %s", id), id, p)
		s.checkLevel(fmt.Sprintf("rules: %s", id), config.Levels[id])
	}
	for i, exemption := range config.Exemptions {
		s.checkRuleID(fmt.Sprintf("exemptions[%d]", i), exemption.Rule, p)
	}
}

func (s *fileSet) checkProfile(name string, profile map[string]any, p *ruleSet) {
	where := "profile " + name
	for key, value := range profile {
		switch key {
		case "description":
		case "default":
			s.checkLevel(where, value)
		case "categories":
			s.eachLevel(where, value, func(category string) {
				if !slices.ContainsFunc(p.rules, func(r *rule) bool {
					return strings.HasPrefix(r.id,
						category+"/")
				}) && category != "custom" {
					s.problem("", "%s: category %q has no rules", where, category)
				}
			})
		case "rules":
			s.eachLevel(where, value, func(id string) { s.checkRuleID(where, id, p) })
		default:
			s.problem("", "%s: unknown key %q", where, key)
		}
	}
}

func (s *fileSet) eachLevel(where string, value any, check func(string)) {
	entries, ok := value.(map[string]any)
	if !ok {
		s.problem("", "%s: %v is not an object of levels", where, value)
	}
	for _, key := range slices.Sorted(maps.Keys(entries)) {
		check(key)
		s.checkLevel(where+": "+key, entries[key])
	}
}

func (s *fileSet) checkRuleID(where, id string, p *ruleSet) {
	if p.byID[id] == nil {
		s.problem("", "%s: no rule %q%s", where, id, instead(id, slices.Sorted(maps.Keys(p.byID))))
	}
}

func (s *fileSet) checkLevel(where string, level any) {
	text, _ := level.(string)
	if !slices.Contains(compiled.Levels, text) {
		s.problem("", "%s: level %q is not one of %s%s", where, level, strings.Join(compiled.Levels, ", "),
			instead(text, compiled.Levels))
	}
}

func instead(word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ""
}
