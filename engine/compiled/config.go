package compiled

import "strings"

// Config is the document data.sallyport.config. Its zero value stands for the profile "standard".
type Config struct {
	Profile    string            `json:"profile"`
	Workspace  string            `json:"workspace"` // its real path; "" where there is none
	Levels     map[string]string `json:"levels"`    // rule id to off, warn, ask, deny or own
	Filters    Filters           `json:"filters"`
	Exemptions []Exemption       `json:"exemptions"` // in the order of facts.Layout.Exemptions
}

// Filters counts the operator's patterns, which are matched before policies see the input.
type Filters struct {
	Allow int `json:"allow"`
	Deny  int `json:"deny"`
}

// Exemption names the rule from which the commands that match it are exempt.
type Exemption struct {
	Rule string `json:"rule"`
}

// Filled gives every field a value: rules that read a missing one would be silent.
func (c Config) Filled() Config {
	if c.Profile == "" {
		c.Profile = "standard"
	}
	if c.Levels == nil {
		c.Levels = map[string]string{}
	}
	if c.Exemptions == nil {
		c.Exemptions = []Exemption{}
	}
	return c
}

// Levels are the values that an operator or a profile may set for a rule.
var Levels = []string{"off", "warn", "ask", "deny", "own"}

// Setting is the level of a rule, and where it is set.
type Setting struct{ Level, From string }

// Setting resolves the level of a rule: the operator's for it, then the profile's for the rule,
// for its category and for all. A rule for which nothing is set decides by itself.
func (c Config) Setting(id string, profile map[string]any) Setting {
	category, _, _ := strings.Cut(id, "/")
	of := func(object any, key string) string {
		values, _ := object.(map[string]any)
		level, _ := values[key].(string)
		return level
	}
	for _, s := range []Setting{
		{c.Levels[id], "config"},
		{of(profile["rules"], id), "profile rule"},
		{of(profile["categories"], category), "profile category"},
		{of(profile, "default"), "profile default"},
	} {
		if s.Level != "" {
			return s
		}
	}
	return Setting{Level: "own", From: "rule"}
}
