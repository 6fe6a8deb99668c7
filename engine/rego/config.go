package rego

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/compiled"
)

// checkConfig holds the configuration, and the profile it names, against the rules that exist,
// and settles the level of each rule.
func (s *fileSet) checkConfig(c Config, p *ruleSet) {
	sallyport, _ := p.data["sallyport"].(map[string]any)
	profiles, _ := sallyport["profiles"].(map[string]any)
	config := c.Filled()
	profile, ok := profiles[config.Profile].(map[string]any)
	if !ok {
		s.problem("", "profile %q does not exist%s", config.Profile, instead(config.Profile, slices.Sorted(maps.Keys(profiles))))
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
				if !slices.ContainsFunc(p.rules, func(r *rule) bool { return strings.HasPrefix(r.id, category+"/") }) && category != "custom" {
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
		s.problem("", "%s: level %q is not one of %s%s", where, level, strings.Join(compiled.Levels, ", "), instead(text, compiled.Levels))
	}
}

func instead(word string, candidates []string) string {
	if near := nearest(word, candidates); near != "" {
		return fmt.Sprintf(": did you mean %q?", near)
	}
	return ""
}
