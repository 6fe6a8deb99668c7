package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// evaluator makes the configured evaluator. With auto, an error of the compiled form of the built-in rules
// before any judgement leaves them to topdown, which decides the same. An error in a decision is a fault, in
// either of the two.
func evaluator(ctx context.Context, l *config.Loaded, o rego.Options) (*rego.Evaluator, error) {
	if l.Evaluator == "topdown" {
		return rego.New(ctx, o)
	}
	compiled := o
	why := &unusable{}
	bundle := bundleOf(l, cmp.Or(o.Timeout, rego.DefaultTimeout))
	open := bundle.Open
	bundle.Open = func(ctx context.Context, module, data []byte) (rego.Machine, error) {
		m, err := open(ctx, module, data)
		if err != nil {
			return nil, why.because(err)
		}
		return m, nil
	}
	compiled.Compiled = &bundle
	e, err := rego.New(ctx, compiled)
	if l.Evaluator == "auto" && (why.err != nil || errors.Is(err, rego.ErrOtherBundle)) && ctx.Err() == nil {
		o.Aside = err.Error()
		return rego.New(ctx, o)
	}
	if err != nil && why.err != nil {
		return nil, fmt.Errorf("%w: set evaluator to topdown, or to auto", err)
	}
	return e, err
}

// unusable remembers why the compiled form cannot be used: that, and no mistake in the operator's policies.
type unusable struct{ err error }

func (u *unusable) because(err error) error {
	u.err = err
	return err
}
