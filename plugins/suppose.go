package plugins

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// supposable are the facts about a runner that may be stated, with their values.
var supposable = map[string][]string{
	"isolation": {"none", "namespace", "container", "remote"},
	"programs":  {facts.Judged, facts.Unseen, facts.Absent},
	"write":     {facts.Holds, facts.Open, facts.Untried},
	"read":      {facts.Holds, facts.Open, facts.Untried},
	"connect":   {facts.Holds, facts.Open, facts.Untried},
}

// Supposed is a runner with stated facts in place of its own. Unknown names and values are errors.
func Supposed(r facts.Runner, stated map[string]string) (facts.Runner, error) {
	into := map[string]*string{
		"isolation": &r.Isolation, "programs": &r.Programs, "write": &r.Confinement.Write,
		"read": &r.Confinement.Read, "connect": &r.Confinement.Connect,
	}
	for _, name := range slices.Sorted(maps.Keys(stated)) {
		values, value := supposable[name], stated[name]
		switch {
		case values == nil:
			names := strings.Join(slices.Sorted(maps.Keys(supposable)), ", ")
			return r, fmt.Errorf("suppose: unknown fact %q: want one of %s", name, names)
		case !slices.Contains(values, value):
			return r, fmt.Errorf("suppose: %s: unknown value %q: want %s", name, value, strings.Join(values, ", "))
		}
		*into[name] = value
	}
	return r, nil
}

// supposing is a runner of which some facts are stated. It is for gates that only decide.
type supposing struct {
	engine.Runner
	stated map[string]string
}

// Describe has the facts of the runner as they are by now, but for the stated ones.
func (s supposing) Describe() facts.Runner {
	own := s.Runner.Describe()
	as, err := Supposed(own, s.stated)
	if err != nil {
		return own
	}
	return as
}

// Look previews the environment as the runner does.
func (s supposing) Look(ctx context.Context, spec engine.EnvironmentSpec) (engine.Environment, error) {
	if l, ok := s.Runner.(engine.Looker); ok {
		return l.Look(ctx, spec)
	}
	return s.Open(ctx, spec)
}
