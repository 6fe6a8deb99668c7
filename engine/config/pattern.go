package config

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
)

// Pattern is a regular expression in RE2 syntax (https://github.com/google/re2/wiki/Syntax), as
// the operator wrote it. Where it is anchored depends on the key.
type Pattern string

// UnmarshalText refuses a construct that RE2 does not have, and names it.
func (p *Pattern) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return errors.New("the pattern is empty: it would match everything or nothing")
	}
	// Compiled alone first: anchors must not make an invalid pattern valid ("a)(b" would pass).
	if _, err := regexp.Compile(string(text)); err != nil {
		return fmt.Errorf("%q: %s", text, explain(err))
	}
	*p = Pattern(text)
	return nil
}

// whole matches a text that the pattern matches from its start to its end.
func (p Pattern) whole() *regexp.Regexp { return regexp.MustCompile(`\A(?s:` + string(p) + `)\z`) }

// prefix matches a text that the pattern matches from its start.
func (p Pattern) prefix() *regexp.Regexp { return regexp.MustCompile(`\A(?s:` + string(p) + `)`) }

// foreign names constructs of other regular expression dialects by how they begin.
var foreign = []struct{ begin, name, instead string }{
	{"(?=", "lookahead (?=…)", "write out what may follow"},
	{"(?!", "negative lookahead (?!…)", "write out what may follow, or use a deny pattern"},
	{"(?<=", "lookbehind (?<=…)", "write out what may precede"},
	{"(?<!", "negative lookbehind (?<!…)", "write out what may precede"},
	{"(?>", "atomic group (?>…)", "use (?:…)"},
	{"(?P=", "backreference (?P=…)", "write the group out again"},
	{"(?#", "comment (?#…)", "leave it out"},
	{"(?(", "conditional (?(…)…)", "use alternatives"},
	{"(?|", "branch reset (?|…)", "use (?:…)"},
	{"(?&", "recursion (?&…)", "write it out"},
	{"(?R", "recursion (?R)", "write it out"},
	{`\k`, `backreference \k`, "write the group out again"},
	{`\Z`, `\Z`, `use \z`},
	{`\G`, `\G`, "leave it out"},
	{`\K`, `\K`, "leave it out"},
	{`\u`, `\u`, `use \x{…}`},
}

// explain says in an operator's words why RE2 does not take a pattern.
func explain(err error) string {
	var s *syntax.Error
	if !errors.As(err, &s) {
		return err.Error()
	}
	expr := s.Expr
	if expr == "(?P" {
		expr = "(?P="
	}
	for _, f := range foreign {
		if strings.HasPrefix(expr, f.begin) {
			return fmt.Sprintf("%s is not in RE2: %s", f.name, f.instead)
		}
	}
	switch {
	case s.Code == syntax.ErrInvalidEscape && len(expr) == 2 && '1' <= expr[1] && expr[1] <= '9':
		return fmt.Sprintf("backreference %s is not in RE2: write the group out again", expr)
	case s.Code == syntax.ErrInvalidRepeatOp && strings.HasSuffix(expr, "+"):
		return fmt.Sprintf("possessive repetition %s is not in RE2: use %s", expr, expr[:1])
	case s.Code == syntax.ErrInvalidRepeatSize:
		return fmt.Sprintf("repetition %s is too large or the wrong way round: RE2 takes at most 1000", expr)
	}
	return fmt.Sprintf("%s: %s", s.Code, expr)
}
