package wasm

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// maxFindings bounds what one call may find.
const maxFindings = 1000

var severities = []string{"low", "medium", "high", "critical"}

// judgement reads what a plugin gave back. Nothing is taken for granted: see decodeObject, and
// every finding must be of a rule that the manifest names and point into the input.
func (p *Plugin) judgement(in *facts.Input, output []byte) (engine.Judgement, error) {
	var list []json.RawMessage
	if err := decodeObject(output, map[string]any{"findings": &list}); err != nil {
		return engine.Judgement{}, err
	}
	if list == nil {
		return engine.Judgement{}, errors.New("findings is missing: an empty list says that there are none")
	}
	if len(list) > maxFindings {
		return engine.Judgement{}, fmt.Errorf("%d findings: at most %d are taken", len(list), maxFindings)
	}
	j := engine.Judgement{Effect: engine.Allow, Reasons: make([]engine.Reason, 0, len(list))}
	for i, text := range list {
		r, err := p.reason(in, text)
		if err != nil {
			return engine.Judgement{}, fmt.Errorf("findings[%d]: %w", i, err)
		}
		if !p.applies(in, &r) {
			continue
		}
		j.Reasons = append(j.Reasons, r)
		switch {
		case r.Effect == engine.Deny:
			j.Effect = engine.Deny
		case r.Effect == engine.Ask && j.Effect == engine.Allow:
			j.Effect = engine.Ask
		}
	}
	return j, nil
}

func (p *Plugin) reason(in *facts.Input, text []byte) (engine.Reason, error) {
	r := engine.Reason{Command: -1, Path: -1, Location: engine.Location{File: p.file}}
	var effect string
	err := decodeObject(text, map[string]any{
		"rule": &r.Rule, "effect": &effect, "severity": &r.Severity, "title": &r.Title, "message": &r.Message,
		"remediation": &r.Remediation, "command": &r.Command, "path": &r.Path,
	})
	if err != nil {
		return engine.Reason{}, err
	}
	r.Effect = engine.Effect(effect)
	switch {
	case !p.rules[r.Rule]:
		return engine.Reason{}, fmt.Errorf("rule %q is not one that its manifest names", r.Rule)
	case r.Effect != engine.Deny && r.Effect != engine.Ask && r.Effect != engine.Warn:
		return engine.Reason{}, fmt.Errorf("unknown effect %q: deny, ask or warn", effect)
	case !slices.Contains(severities, r.Severity):
		return engine.Reason{}, fmt.Errorf("unknown severity %q: low, medium, high or critical", r.Severity)
	case r.Title == "":
		return engine.Reason{}, errors.New("title is missing")
	case r.Command < -1 || r.Command >= len(in.Commands):
		return engine.Reason{}, fmt.Errorf("it points at command %d of %d", r.Command, len(in.Commands))
	case r.Path < -1 || r.Path >= len(in.Paths):
		return engine.Reason{}, fmt.Errorf("it points at path %d of %d", r.Path, len(in.Paths))
	}
	if r.Message == "" {
		r.Message = r.Title
	}
	if r.Command < 0 && r.Path >= 0 {
		r.Command = in.Paths[r.Path].Command
	}
	if r.Command >= 0 {
		span := in.Commands[r.Command].Span
		r.Span = &span
	}
	return r, nil
}

// applies puts the operator's level and exemptions on a finding; it reports whether something is left.
func (p *Plugin) applies(in *facts.Input, r *engine.Reason) bool {
	if r.Command >= 0 {
		for _, i := range in.Commands[r.Command].Matches.Exempt {
			if i < len(p.exemptions) && p.exemptions[i] == r.Rule {
				return false
			}
		}
	}
	switch level := p.levels[r.Rule]; level {
	case "off":
		return false
	case "warn", "ask", "deny":
		r.Effect = engine.Effect(level)
	}
	return true
}
