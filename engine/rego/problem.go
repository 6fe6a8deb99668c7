package rego

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Problem is one thing that is wrong with the policies or with what is configured about them.
type Problem struct {
	File    string // "" for the configuration
	Row     int    // from 1; 0 for the whole file
	Col     int
	Message string
}

// String returns file:row:col: message, as far as there is a place.
func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.Message
	case p.Row == 0:
		return p.File + ": " + p.Message
	default:
		return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Row, p.Col, p.Message)
	}
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

// problem adds a problem that has no row.
func (s *fileSet) problem(file, format string, args ...any) {
	s.problems = append(s.problems, Problem{File: file, Message: fmt.Sprintf(format, args...)})
}

// at adds a problem with a place.
func (s *fileSet) at(l *ast.Location, format string, args ...any) {
	s.problems = append(s.problems, Problem{File: l.File, Row: l.Row, Col: l.Col, Message: fmt.Sprintf(format, args...)})
}

// failed adds what OPA reports, one problem for each of its errors.
func (s *fileSet) failed(file string, err error) {
	if err == nil {
		return
	}
	var several ast.Errors
	if !errors.As(err, &several) {
		s.problem(file, "%v", err)
		return
	}
	for _, e := range several {
		text := strings.TrimPrefix(e.Code, "rego_") + ": " + e.Message
		if e.Location == nil {
			s.problem(file, "%s", text)
		} else {
			s.at(e.Location, "%s", text)
		}
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
	return &LoadError{slices.Compact(s.problems)}
}
