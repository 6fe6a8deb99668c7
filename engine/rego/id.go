package rego

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// CheckCustomID reports the problem with the id of a custom rule, such as custom/git/no_push: it must be a
// package and a name in Rego.
func CheckCustomID(id string) error {
	parts := strings.Split(id, "/")
	if parts[0] != "custom" {
		hint := "custom/" + strings.TrimPrefix(id, "/")
		if nearest(parts[0], []string{"custom"}) != "" {
			hint = "custom/" + strings.Join(parts[1:], "/")
		}
		hint = strings.ReplaceAll(strings.ToLower(hint), "-", "_")
		if CheckCustomID(hint) != nil {
			hint = "custom/CATEGORY/NAME"
		}
		return fmt.Errorf("rule id %q: rules of your own are below custom: did you mean %q?", id, hint)
	}
	if len(parts) < 3 {
		return fmt.Errorf("rule id %q: want custom/CATEGORY/NAME", id)
	}
	for _, part := range parts[1:] {
		switch {
		case slices.Contains(ast.KeywordsForRegoVersion(ast.RegoV1), part):
			return fmt.Errorf("rule id %q: %s is a keyword of Rego: choose another name", id, part)
		case !identifier.MatchString(part):
			return fmt.Errorf("rule id %q: %q: rule names use lower-case letters, digits and _, as in no_push", id, part)
		case strings.HasSuffix(part, "_test"):
			return fmt.Errorf("rule id %q: %s would be taken for a test: choose a name that does not end in _test", id, part)
		}
	}
	return nil
}

var identifier = lazyregexp.New(`^[a-z][a-z0-9_]*$`)
