package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Problem is one thing that is wrong with a configuration.
type Problem struct {
	Line   int    `json:"line"` // 1-based; 0 when it belongs to no place in the file
	Column int    `json:"column"`
	Key    string `json:"key"` // "paths[1].access"; "" for the file as a whole
	Text   string `json:"text"`
}

// Error is a configuration that cannot be used, with all its problems in the order of the file.
type Error struct {
	File     string // "" when there is no file
	Problems []Problem
}

// Error lists the problems, one a line, each as file:line:column: key: text.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.in(e.File)
	}
	return strings.Join(lines, "\n")
}

func (p Problem) in(file string) string {
	var b strings.Builder
	if file == "" {
		file = "configuration"
	}
	b.WriteString(file)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.Key != "" {
		b.WriteString(p.Key + ": ")
	}
	b.WriteString(p.Text)
	return b.String()
}

func sortProblems(ps []Problem) {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Suggest returns the candidate that a misspelt word most likely means, or "".
func Suggest(word string, candidates []string) string {
	best, distance := "", min(len(word), len(word)/3+2)
	for _, c := range candidates {
		if d := levenshtein.ComputeDistance(strings.ToLower(word), c); d < distance {
			best, distance = c, d
		}
	}
	return best
}

// didYouMean words a suggestion as the end of a sentence.
func didYouMean(word string, candidates []string) string {
	if s := Suggest(word, candidates); s != "" {
		return fmt.Sprintf(": did you mean %q?", s)
	}
	return ": one of " + strings.Join(candidates, ", ")
}
