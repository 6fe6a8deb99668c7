package setup

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// editJSON changes one key in a JSON text. New lines are indented as those around them.
func editJSON(text []byte, e edit) ([]byte, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = []byte("{}\n")
	}
	root, err := hujson.Parse(slices.Clone(text))
	if err != nil {
		return nil, err
	}
	object, ok := root.Value.(*hujson.Object)
	if !ok {
		return nil, errForm
	}
	step := "  "
	if len(object.Members) > 0 {
		if at := indentOf(object); at != "" {
			step = at
		}
	}
	if err := editObject(object, e, step, step); err != nil {
		return nil, err
	}
	return root.Pack(), nil
}

// editObject changes one key below an object whose members are indented by indent.
func editObject(o *hujson.Object, e edit, indent, step string) error {
	name := e.Path[0]
	at := slices.IndexFunc(o.Members, func(m hujson.ObjectMember) bool {
		l, ok := m.Name.Value.(hujson.Literal)
		return ok && l.String() == name
	})
	switch {
	case at < 0 && e.Gone:
		return nil
	case at < 0:
		v := e.Value
		for i := len(e.Path) - 1; i > 0; i-- {
			v = map[string]any{e.Path[i]: v}
		}
		value, err := jsonValue(v, indent, step)
		if err != nil {
			return err
		}
		if len(o.Members) == 0 {
			o.AfterExtra = append(o.AfterExtra, "\n"+strings.TrimSuffix(indent, step)...)
		}
		if i := len(o.Members); i > 0 { // a comma that stands after the last member moves with it
			o.Members[i-1].Value.AfterExtra, value.AfterExtra = nil, o.Members[i-1].Value.AfterExtra
		}
		o.Members = append(o.Members, hujson.ObjectMember{
			Name:  hujson.Value{BeforeExtra: hujson.Extra("\n" + indent), Value: hujson.String(name)},
			Value: value,
		})
		return nil
	case len(e.Path) > 1:
		inner, ok := o.Members[at].Value.Value.(*hujson.Object)
		if !ok {
			return errForm
		}
		e.Path = e.Path[1:]
		if err := editObject(inner, e, indent+step, step); err != nil {
			return err
		}
		if !e.Gone || len(inner.Members) > 0 {
			return nil
		}
		fallthrough
	case e.Gone:
		last := at == len(o.Members)-1
		trailing := o.Members[at].Value.AfterExtra
		o.Members = slices.Delete(o.Members, at, at+1)
		if last && at > 0 {
			o.Members[at-1].Value.AfterExtra = trailing
		}
		if len(o.Members) == 0 {
			o.AfterExtra = nil
		}
		return nil
	default:
		value, err := jsonValue(e.Value, indent, step)
		if err != nil {
			return err
		}
		value.AfterExtra = o.Members[at].Value.AfterExtra
		o.Members[at].Value = value
		return nil
	}
}

// jsonValue is a value as it is written in a member that is indented by indent. A short one stays on its
// line.
func jsonValue(v any, indent, step string) (hujson.Value, error) {
	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	to.SetIndent(indent, step)
	if err := to.Encode(v); err != nil {
		return hujson.Value{}, err
	}
	value, err := hujson.Parse(bytes.TrimSpace(text.Bytes()))
	value.BeforeExtra = hujson.Extra(" ")
	return value, err
}

// indentOf is the white space before the first member of an object, without its line break.
func indentOf(o *hujson.Object) string {
	before := string(o.Members[0].Name.BeforeExtra)
	i := strings.LastIndex(before, "\n")
	if i < 0 || strings.TrimSpace(before[i:]) != "" {
		return ""
	}
	return before[i+1:]
}
