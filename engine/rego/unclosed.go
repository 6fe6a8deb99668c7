package rego

import (
	"errors"
	"fmt"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// placed adds the unclosed bracket to the errors of a module that ends too soon.
func placed(err error, text string) error {
	all, ok := errors.AsType[ast.Errors](err)
	if !ok {
		return err
	}
	for _, e := range all {
		if at := unclosed(text); at != "" && strings.Contains(e.Message, "unexpected eof") {
			e.Message += ": " + at
		}
	}
	return all
}

// unclosed names the innermost bracket of Rego text that is open at its end; "" for none.
func unclosed(text string) string {
	type bracket struct {
		what rune
		line int
	}
	var open []bracket
	line, inside, escaped := 1, rune(0), false
	for _, c := range text {
		switch {
		case inside == '#' && c == '\n' || inside != 0 && inside != '#' && c == inside && !escaped:
			inside = 0
		case inside != 0:
		case strings.ContainsRune("#\"`", c):
			inside = c
		case strings.ContainsRune("{[(", c):
			open = append(open, bracket{c, line})
		case strings.ContainsRune("}])", c) && len(open) > 0:
			open = open[:len(open)-1]
		}
		escaped = inside == '"' && c == '\\' && !escaped
		if c == '\n' {
			line++
		}
	}
	if len(open) == 0 {
		return ""
	}
	last := open[len(open)-1]
	shown := strings.TrimSpace(strings.Split(text, "\n")[last.line-1])
	return fmt.Sprintf("the %c of line %d is not closed: %s", last.what, last.line, shown)
}
