package rego

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// join makes a judgement of a decision: it compares the findings with the input and adds the rules' metadata.
// A finding that points nowhere is an error.
func (e *Evaluator) join(in *facts.Input, d decision) (engine.Judgement, error) {
	j := engine.Judgement{Effect: d.effect, Reasons: make([]engine.Reason, len(d.reasons))}
	for i, r := range d.reasons {
		joined, err := e.reason(in, r)
		if err != nil {
			return engine.Judgement{}, fmt.Errorf("read decision: rule %s: %w", r.rule, err)
		}
		j.Reasons[i] = joined
	}
	sortReasons(j.Reasons)
	return j, nil
}

func (e *Evaluator) reason(in *facts.Input, r reason) (engine.Reason, error) {
	from := e.policies.byID[r.rule]
	if from == nil {
		return engine.Reason{}, errors.New("it is not loaded")
	}
	f := r.finding
	if f.command >= len(in.Commands) || f.path >= len(in.Paths) {
		return engine.Reason{}, fmt.Errorf("it points at command %d and path %d of %d and %d", f.command, f.path, len(in.Commands), len(in.Paths))
	}
	if f.command < 0 && f.path >= 0 {
		f.command = in.Paths[f.path].Command
	}
	about, err := from.metadata()
	if err != nil {
		return engine.Reason{}, err
	}
	joined := engine.Reason{
		Rule:        r.rule,
		Effect:      r.effect,
		Severity:    about.severity,
		Title:       about.title,
		Message:     f.message,
		Remediation: about.remediation,
		Command:     f.command,
		Path:        f.path,
		Location:    from.location(r.effect),
	}
	if s := from.setting; s.from == "config" && s.level != "own" {
		joined.Level = s.level
	}
	if joined.Message == "" {
		joined.Message = message(in, about.title, f)
	}
	if f.command >= 0 && f.command < len(in.Commands) {
		span := in.Commands[f.command].Span
		joined.Span = &span
	}
	return joined, nil
}

// location is where the set stands that gave a reason its effect. A level may have changed the
// effect; then it is the worst set that the rule defines.
func (r *rule) location(effect engine.Effect) engine.Location {
	if at, ok := r.defined[effect]; ok {
		return at
	}
	for _, verb := range verbs {
		if at, ok := r.defined[verb]; ok {
			return at
		}
	}
	return engine.Location{}
}

// message describes the place of a finding without a text of its own.
func message(in *facts.Input, title string, f finding) string {
	var at string
	switch {
	case f.path >= 0:
		p := in.Paths[f.path]
		if at = p.Path; at == "" {
			at = p.Raw
		}
	case f.command >= 0:
		at = excerpt(in.Request.Command, in.Commands[f.command])
	}
	if at == "" {
		return title
	}
	return title + ": " + at
}

// excerptLength bounds, in bytes, how much of a command's text a message repeats.
const excerptLength = 120

// excerpt is the text of a command as it was requested. A carried command is shown as it would run, with its
// carrier: its own span is the carrier's and may not spell it.
func excerpt(text string, c facts.Command) string {
	if len(c.Via) > 0 && len(c.Argv) > 0 {
		return shorten(strings.Join(c.Argv, " ")) + " (by way of " + shorten(strings.Join(c.Via, ", ")) + ")"
	}
	shown := strings.Join(c.Argv, " ")
	if s := c.Span; s.Start >= 0 && s.Start < s.End && s.End <= len(text) {
		shown = text[s.Start:s.End]
	}
	return shorten(shown)
}

// shorten puts text on one line of at most excerptLength bytes.
func shorten(shown string) string {
	shown = strings.ToValidUTF8(strings.Join(strings.Fields(shown), " "), "")
	if len(shown) > excerptLength {
		shown = strings.ToValidUTF8(shown[:excerptLength], "") + "…"
	}
	return shown
}
