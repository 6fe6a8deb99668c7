package plugins

import (
	"context"
	"maps"
	"slices"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// WhyNot tells at which expressions a rule of the policies fails for an input. Tags replace the secrets in
// values that the audit log would find anywhere in the request.
func (s *Sallyport) WhyNot(ctx context.Context, in *facts.Input, id string) (rego.WhyNot, error) {
	why, err := s.InForce().WhyNot(ctx, in, id)
	if err != nil {
		return rego.WhyNot{}, err
	}
	red, err := s.redactor()
	if err != nil {
		return rego.WhyNot{}, err
	}
	texts := told(in)
	from := len(texts)
	each(why.Clauses, func(text string) string {
		texts = append(texts, redact.Text{Value: text})
		return text
	})
	red.Texts(texts)
	each(why.Clauses, func(string) string {
		from++
		return texts[from-1].Value
	})
	return why, nil
}

// told are the texts of a request that tell which of its words are secrets.
func told(in *facts.Input) []redact.Text {
	texts := []redact.Text{{Value: in.Request.Command}}
	for i, c := range in.Commands {
		for _, word := range c.Argv {
			texts = append(texts, redact.Text{List: i + 1, Value: word})
		}
		for _, named := range [][]facts.Option{c.Options, c.Variables} {
			for _, o := range named {
				texts = append(texts, redact.Text{Key: o.Name, Of: i + 1, Value: o.Value})
			}
		}
	}
	return texts
}

// each replaces all texts among the values of clauses, in the same order each time.
func each(clauses []rego.Clause, replace func(string) string) {
	for _, c := range clauses {
		if c.Failed == nil {
			continue
		}
		for i := range c.Failed.Values {
			v := &c.Failed.Values[i].Value
			*v = replaced(*v, replace)
		}
		each(c.Failed.Below, replace)
	}
}

func replaced(value any, replace func(string) string) any {
	switch v := value.(type) {
	case string:
		return replace(v)
	case []any:
		for i := range v {
			v[i] = replaced(v[i], replace)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			v[key] = replaced(v[key], replace)
		}
	}
	return value
}
