package config

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
)

// expiresSoon is how long before its end an exemption is told of.
const expiresSoon = 14 * 24 * time.Hour

func (c checker) rules() {
	for _, id := range slices.Sorted(maps.Keys(c.l.Rules)) {
		if !ruleID.MatchString(id) {
			c.problem("rules."+id, "%q is not a rule id: write it as category/rule", id)
		} else if c.l.Rules[id] == "" && !c.bad("rules."+id) {
			c.problem("rules."+id, "the level is missing: off, warn, ask or deny")
		}
	}
	for i, e := range c.l.Exemptions {
		key := fmt.Sprintf("exemptions[%d]", i)
		if c.bad(key) {
			continue // a key is missing: told already
		}
		if !ruleID.MatchString(e.Rule) && !c.bad(key+".rule") {
			c.problem(key+".rule", "%q is not a rule id: write it as category/rule", e.Rule)
		}
		if strings.TrimSpace(e.Reason) == "" && !c.bad(key+".reason") {
			c.problem(key+".reason", "the reason is empty: say why the rule is waived")
		}
		if e.Match == "" && !c.bad(key+".match") {
			c.problem(key+".match", "the pattern is empty")
		}
		if e.Expires.IsZero() && !c.bad(key+".expires") {
			c.problem(key+".expires", "the date is empty")
		} else if left := e.Expires.Sub(c.l.host.Now); left <= 0 {
			c.l.Notes = append(c.l.Notes, fmt.Sprintf("%s: the exemption of %s expired at %s", key, e.Rule,
				e.Expires.Format(time.RFC3339)))
		} else if left <= expiresSoon {
			c.l.Notes = append(
				c.l.Notes, fmt.Sprintf("%s: the exemption of %s expires at %s: after that the rule holds again", key,
					e.Rule, e.Expires.Format(time.RFC3339)))
		}
	}
}

func (c checker) generated() {
	for i, p := range c.l.Generated {
		key := fmt.Sprintf("generated[%d]", i)
		if _, err := path.Match(p, ""); err != nil || p == "" {
			c.problem(key, "%q is not a file name pattern: see https://pkg.go.dev/path#Match", p)
		}
	}
}

func (c checker) labels() {
	for name, patterns := range c.l.Labels {
		if name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" {
			c.problem("labels", "%q is no label: use lower-case letters, digits and underscores", name)
		}
		for i, p := range patterns {
			key := fmt.Sprintf("labels.%s[%d]", name, i)
			if _, err := path.Match(p, ""); err != nil || p == "" {
				c.problem(key, "%q is not a pattern of paths: see https://pkg.go.dev/path#Match", p)
			}
		}
	}
}

// policies makes local entries absolute. An entry with a scheme stays as it is.
func (c checker) policies() {
	c.servers()
	for i, p := range c.l.Policies {
		key := fmt.Sprintf("policies[%d]", i)
		if strings.Contains(p, "://") {
			c.remote(key, p)
			continue
		}
		full, err := absolute(p, c.base, c.home)
		switch {
		case err != nil:
			c.problem(key, "%s", err)
		case p == "":
			c.problem(key, "the path is empty")
		default:
			c.exists(key, full)
			c.l.Policies[i] = full
		}
	}
	c.files("policy_keys", c.l.PolicyKeys)
	c.files("plugins", c.l.Plugins)
}

func (c checker) files(list string, paths []Path) {
	for i, p := range paths {
		key := fmt.Sprintf("%s[%d]", list, i)
		if p == "" {
			c.problem(key, "the path is empty")
			continue
		}
		c.exists(key, string(p))
	}
}
