package compiled

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// DefaultTimeout bounds one evaluation where nothing else is said.
const DefaultTimeout = 30 * time.Second

// Known refuses an input that rules cannot read.
func Known(in *facts.Input) error {
	if in == nil {
		return errors.New("evaluate policies: there is no input")
	}
	if in.Version != facts.Version {
		return fmt.Errorf("evaluate policies: the input has version %d, the policies read version %d", in.Version,
			facts.Version)
	}
	return nil
}

// Exempted lists the findings that exemptions take away. A decision lacks them; the explanation, which takes
// longer, has them and is evaluated only if an exemption matches a command.
func Exempted(
	ctx context.Context, in *facts.Input,
	explain func(context.Context, *facts.Input) (map[string]Explained, error),
	rule func(id string) (Rule, error),
) ([]engine.Reason, error) {
	if !slices.ContainsFunc(in.Commands, func(c facts.Command) bool { return len(c.Matches.Exempt) > 0 }) {
		return nil, nil
	}
	found, err := explain(ctx, in)
	if err != nil {
		return nil, err
	}
	var all []engine.Reason
	for id, of := range found {
		for _, r := range of.Exempted {
			r.Rule = id
			joined, err := JoinReason(in, r, rule)
			if err != nil {
				return nil, fmt.Errorf("read exemptions: rule %s: %w", id, err)
			}
			all = append(all, joined)
		}
	}
	SortReasons(all)
	return all, nil
}
