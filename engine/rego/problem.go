package rego

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Problem is one problem of the policies or of their configuration.
type Problem struct {
	File       string `json:"file"` // "" for the configuration
	Row        int    `json:"row"`  // from 1; 0 for the whole file
	Col        int    `json:"col"`
	Kind       string `json:"kind"` // one word: parse, package, name, metadata, type, …; docs/cli.md lists them
	Message    string `json:"message"`
	Suggestion string `json:"suggestion"` // the fix; "" if the message says all
}

// String returns file:row:col: message: suggestion, as far as there is a place.
func (p Problem) String() string {
	text := p.Message
	if p.Suggestion != "" {
		text += ": " + p.Suggestion
	}
	switch {
	case p.File == "":
		return text
	case p.Row == 0:
		return p.File + ": " + text
	default:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Row, p.Col, text)
	}
}

// as names the kind of a problem.
func (p *Problem) as(kind string) *Problem {
	p.Kind = kind
	return p
}

// suggest sets the fix of a problem.
func (p *Problem) suggest(format string, args ...any) *Problem {
	p.Suggestion = fmt.Sprintf(format, args...)
	return p
}

// LoadError is everything that keeps policies from being loaded, in the order of files.
type LoadError struct {
	Problems []Problem
}

// Error lists all problems, one a line where there are several.
func (e *LoadError) Error() string {
	if len(e.Problems) == 1 {
		return "load policies: " + e.Problems[0].String()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "load policies: %d problems:", len(e.Problems))
	for _, p := range e.Problems {
		b.WriteString("\n  " + p.String())
	}
	return b.String()
}

// problem adds a problem without a row. Its result is valid until the next one is added.
func (s *fileSet) problem(file, format string, args ...any) *Problem {
	s.problems = append(s.problems, Problem{File: file, Kind: "load", Message: fmt.Sprintf(format, args...)})
	return &s.problems[len(s.problems)-1]
}

// at adds a problem with a place. Its result is valid until the next one is added.
func (s *fileSet) at(l *ast.Location, format string, args ...any) *Problem {
	p := s.problem(l.File, format, args...)
	p.Row, p.Col = l.Row, l.Col
	return p
}

// failed adds OPA's errors, one problem for each of them.
func (s *fileSet) failed(file string, err error) {
	if err == nil {
		return
	}
	var several ast.Errors
	var one *ast.Error
	if !errors.As(err, &several) {
		if !errors.As(err, &one) {
			s.problem(file, "%v", err)
			return
		}
		several = ast.Errors{one}
	}
	for _, e := range several {
		kind := strings.TrimPrefix(e.Code, "rego_")
		var p *Problem
		if text := kind + ": " + e.Message; e.Location == nil {
			p = s.problem(file, "%s", text)
		} else {
			p = s.at(e.Location, "%s", text)
		}
		p.as(strings.TrimSuffix(kind, "_error")).advise(e)
	}
}

// err returns the problems so far as one error, or nil.
func (s *fileSet) err() error {
	if len(s.problems) == 0 {
		return nil
	}
	slices.SortStableFunc(s.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row), cmp.Compare(a.Col, b.Col))
	})
	s.problems = slices.Compact(s.problems) // which leaves nothing behind the last
	return &LoadError{s.problems}
}

// advise adds the fix to an error of OPA's, if the error shows it.
func (p *Problem) advise(e *ast.Error) {
	if e.Message == "empty module" {
		p.suggest("write a package line, or take the file away")
		return
	}
	if name, ok := strings.CutPrefix(e.Message, "var "); ok && e.Code == ast.UnsafeVarErr {
		switch name = strings.TrimSuffix(name, " is unsafe"); name {
		case "lib", "testing":
			p.suggest("write import data.sallyport.%s", name)
		default:
			p.suggest("nothing gives it a value: write some %s in …, %s := …, or import it", name, name)
		}
		return
	}
	if name, ok := strings.CutPrefix(e.Message, "undefined function "); ok {
		switch {
		case slices.ContainsFunc(ast.CapabilitiesForThisVersion().Builtins,
			func(b *ast.Builtin) bool { return b.Name == name }):
			p.as("capability").suggest(
				"policies reach neither network, clock nor environment: the time is input.request.time, lists are " +
					"data files")
		case nearest(name, builtinNames()) != "":
			p.suggest("did you mean %s?", nearest(name, builtinNames()))
		}
		return
	}
	detail, ok := e.Details.(*ast.RefErrInvalidDetail)
	if !ok || detail.Pos >= len(detail.Ref) {
		return
	}
	var names []string
	for _, v := range detail.OneOf {
		if s, ok := v.(ast.String); ok {
			names = append(names, string(s))
		}
	}
	have, ok := detail.Ref[detail.Pos].Value.(ast.String)
	if !ok || len(names) == 0 {
		return
	}
	slices.Sort(names)
	if near := nearest(string(have), names); near != "" {
		p.suggest("did you mean %s?", near)
	} else {
		p.suggest("there are %s", strings.Join(names, ", "))
	}
}

func builtinNames() []string {
	builtins := capabilities().Builtins
	names := make([]string, len(builtins))
	for i, b := range builtins {
		names[i] = b.Name
	}
	return names
}

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
