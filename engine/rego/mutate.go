package rego

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// Mutant is a change of one place in a policy file, of which some test should take notice.
type Mutant struct {
	File   string `json:"file"`
	Row    int    `json:"row"`
	Was    string `json:"was"`
	Is     string `json:"is"`
	offset int
}

// Mutants are changes of the policies in directories, at most n of them, as a seed chooses: conditions that
// are negated or left out, collections that are empty, and constants that are others. Tests stay as they are,
// and so do messages: texts of more than two words. Some mutants do not compile. They come in the order of
// files and rows, and all is how many there are to choose from.
func Mutants(dirs []string, n int, seed uint64) (chosen []Mutant, all int, err error) {
	set := &fileSet{}
	set.readCustom(dirs, isModule)
	set.parse()
	if err := set.err(); err != nil {
		return nil, 0, err
	}
	var found []Mutant
	for _, src := range set.sources {
		found = append(found, src.mutants()...)
	}
	dice := rand.New(rand.NewPCG(seed, 0))
	taken := dice.Perm(len(found))
	taken = taken[:min(n, len(taken))]
	slices.Sort(taken)
	for _, i := range taken {
		chosen = append(chosen, found[i])
	}
	return chosen, len(found), nil
}

// mutants are the changes of a file. A place that several rules share gives one.
func (s *source) mutants() []Mutant {
	var found []Mutant
	note := func(at *ast.Location, is string) {
		if at == nil || at.Offset+len(at.Text) > len(s.text) {
			return
		}
		was := s.text[at.Offset : at.Offset+len(at.Text)]
		m := Mutant{File: s.name, Row: at.Row, Was: was, Is: is, offset: at.Offset}
		if was == string(at.Text) && was != is && !slices.Contains(found, m) {
			found = append(found, m)
		}
	}
	constants := func(in any) {
		ast.WalkTerms(in, func(t *ast.Term) bool {
			if ref, ok := t.Value.(ast.Ref); ok {
				for _, part := range ref[1:] { // c["name"] is no constant of its own
					if _, text := part.Value.(ast.String); !text {
						ast.WalkTerms(part, func(t *ast.Term) bool { changed(t, note); return false })
					}
				}
				return true
			}
			changed(t, note)
			return false
		})
	}
	condition := func(e *ast.Expr) bool {
		text := strings.TrimSpace(string(e.Location.Text))
		if isDeclaration(e) {
			if call := called(e); len(call) > 2 {
				note(call[len(call)-1].Location, "[]") // some x in ref
			}
			return false
		}
		if e.IsAssignment() || text == "true" {
			return false
		}
		if e.Negated {
			note(e.Location, strings.TrimSpace(strings.TrimPrefix(text, "not")))
		} else {
			note(e.Location, "not "+text)
		}
		note(e.Location, "true")
		return false
	}
	for _, definition := range s.module.Rules {
		for d := definition; d != nil; d = d.Else {
			ast.WalkExprs(d.Body, condition)
			constants(d.Body)
			value := d.Head.Value
			if value == nil || d.Head.DocKind() == ast.PartialSetDoc {
				continue
			}
			ast.WalkExprs(value, condition)
			if d.Head.DocKind() == ast.CompleteDoc {
				constants(value)
			}
		}
	}
	slices.SortStableFunc(found, func(a, b Mutant) int { return a.offset - b.offset })
	return found
}

// changed notes another constant in the place of a constant.
func changed(t *ast.Term, note func(*ast.Location, string)) {
	if t.Location == nil {
		return
	}
	switch v := t.Value.(type) {
	case ast.String:
		message := len(strings.Fields(string(v))) > 2
		if text := string(t.Location.Text); strings.HasPrefix(text, `"`) && !message {
			note(t.Location, strconv.Quote(string(v)+"-mutant"))
		}
	case ast.Number:
		if n, ok := v.Int64(); ok {
			note(t.Location, strconv.FormatInt(n+1, 10))
		}
	case ast.Boolean:
		note(t.Location, strconv.FormatBool(!bool(v)))
	}
}

// String is a line about the mutant, for people.
func (m Mutant) String() string {
	short := func(text string) string {
		if text = strings.Join(strings.Fields(text), " "); len(text) > 80 {
			text = strings.ToValidUTF8(text[:80], "") + "…"
		}
		return text
	}
	return fmt.Sprintf("%s:%d: %s → %s", m.File, m.Row, short(m.Was), short(m.Is))
}

// Write makes the change in a copy of the file.
func (m Mutant) Write(file string) error {
	text, err := os.ReadFile(m.File)
	if err != nil {
		return fmt.Errorf("write mutant: %w", err)
	}
	if end := m.offset + len(m.Was); end > len(text) || string(text[m.offset:end]) != m.Was {
		return fmt.Errorf("write mutant: %s has changed meanwhile: start again", m.File)
	}
	if err := os.WriteFile(filepath.Clean(file), []byte(m.in(string(text))), 0o600); err != nil {
		return fmt.Errorf("write mutant: %w", err)
	}
	return nil
}

// in makes the change in the text of the file.
func (m Mutant) in(text string) string {
	return text[:m.offset] + m.Is + text[m.offset+len(m.Was):]
}
