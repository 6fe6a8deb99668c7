package rego

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/compiled"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Agree judges in by the compiled rules and by the reference, and holds one judgement against the other:
// effect, reasons, their texts and their order. Where they differ the error says how. both is false where the
// evaluator has no compiled rules, so that there is nothing to compare.
func (e *Evaluator) Agree(ctx context.Context, in *facts.Input) (both bool, err error) {
	if e.machine == nil {
		return false, nil
	}
	reference, err := e.Reference()
	if err != nil {
		return false, err
	}
	ours, oursErr := e.Evaluate(ctx, in)
	theirs, theirsErr := reference.Evaluate(ctx, in)
	ours.Spent, theirs.Spent = nil, nil
	if (oursErr == nil) == (theirsErr == nil) && reflect.DeepEqual(ours, theirs) {
		return true, nil
	}
	return true, fmt.Errorf("the evaluators disagree about %s: compiled: %s; topdown: %s", inShort(in), said(ours, oursErr), said(theirs, theirsErr))
}

// inShort names an input by its request.
func inShort(in *facts.Input) string {
	if in == nil {
		return "no input"
	}
	return fmt.Sprintf("%s %q", in.Request.Tool, compiled.Shorten(in.Request.Command))
}

func said(j engine.Judgement, err error) string {
	if err != nil {
		return "fault: " + err.Error()
	}
	text, err := json.Marshal(j)
	if err != nil {
		return err.Error()
	}
	return string(text)
}
