package compiled

import (
	"errors"
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Rule is the part of a rule that a judgement needs.
type Rule struct {
	ID          string
	Title       string
	Severity    string
	Remediation string
	Trial       bool                              // it asks for want of knowledge only
	Defined     map[engine.Effect]engine.Location // where each set that it defines stands
	Setting     Setting
}

// Join makes a judgement of a decision: it checks the findings against the input and adds the
// titles and remediations of the rules. A finding that points nowhere is an error.
func Join(in *facts.Input, d Decision, rule func(id string) (Rule, error)) (engine.Judgement, error) {
	j := engine.Judgement{Effect: d.Effect, Reasons: make([]engine.Reason, len(d.Reasons))}
	for i, r := range d.Reasons {
		joined, err := JoinReason(in, r, rule)
		if err != nil {
			return engine.Judgement{}, fmt.Errorf("read decision: rule %s: %w", r.Rule, err)
		}
		j.Reasons[i] = joined
	}
	SortReasons(j.Reasons)
	return j, nil
}

// JoinReason is Join for one reason.
func JoinReason(in *facts.Input, r Reason, rule func(id string) (Rule, error)) (engine.Reason, error) {
	from, err := rule(r.Rule)
	if err != nil {
		return engine.Reason{}, err
	}
	f := r.Finding
	if f.Command >= len(in.Commands) || f.Path >= len(in.Paths) {
		return engine.Reason{}, fmt.Errorf("it points at command %d and path %d of %d and %d", f.Command, f.Path,
			len(in.Commands), len(in.Paths))
	}
	if f.Command < 0 && f.Path >= 0 {
		f.Command = in.Paths[f.Path].Command
	}
	joined := engine.Reason{
		Rule:        r.Rule,
		Effect:      r.Effect,
		Severity:    from.Severity,
		Title:       from.Title,
		Message:     f.Message,
		Remediation: from.Remediation,
		Command:     f.Command,
		Path:        f.Path,
		Location:    from.Location(r.Effect),
		Trial:       from.Trial && r.Effect == engine.Ask,
	}
	if s := from.Setting; s.From == "config" && s.Level != "own" {
		joined.Level = s.Level
	}
	if joined.Message == "" {
		joined.Message = message(in, from.Title, f)
	}
	if f.Command >= 0 && f.Command < len(in.Commands) {
		span := in.Commands[f.Command].Span
		joined.Span = &span
	}
	return joined, nil
}

// ErrNotLoaded is the error for a reason of a rule that does not exist.
var ErrNotLoaded = errors.New("it is not loaded")

// Location is where the set stands that gave a reason its effect. A level may have changed the
// effect; then it is the worst set that the rule defines.
func (r Rule) Location(effect engine.Effect) engine.Location {
	if at, ok := r.Defined[effect]; ok {
		return at
	}
	for _, verb := range Verbs {
		if at, ok := r.Defined[verb]; ok {
			return at
		}
	}
	return engine.Location{}
}

// message describes the place of a finding without a text of its own.
func message(in *facts.Input, title string, f Finding) string {
	var at string
	switch {
	case f.Path >= 0:
		p := in.Paths[f.Path]
		if at = p.Path; at == "" {
			at = p.Raw
		}
	case f.Command >= 0:
		at = excerpt(in.Request.Command, in.Commands[f.Command])
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
		return Shorten(strings.Join(c.Argv, " ")) + " (by way of " + Shorten(strings.Join(c.Via, ", ")) + ")"
	}
	shown := strings.Join(c.Argv, " ")
	if s := c.Span; s.Start >= 0 && s.Start < s.End && s.End <= len(text) {
		shown = text[s.Start:s.End]
	}
	return Shorten(shown)
}

// Shorten puts text on one line of at most excerptLength bytes.
func Shorten(shown string) string {
	shown = strings.ToValidUTF8(strings.Join(strings.Fields(shown), " "), "")
	if len(shown) > excerptLength {
		shown = strings.ToValidUTF8(shown[:excerptLength], "") + "…"
	}
	return shown
}
