package setup

import (
	"bytes"
	"encoding/json"
	"reflect"
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
		// A comment behind the last member stays on its line.
		comment, rest, _ := strings.Cut(string(o.AfterExtra), "\n")
		if comment = strings.TrimRight(comment, " \t\r"); comment != "" {
			o.AfterExtra = hujson.Extra("\n" + rest)
		}
		o.Members = append(o.Members, hujson.ObjectMember{
			Name: hujson.Value{
				BeforeExtra: hujson.Extra(comment + "\n" + indent), Value: hujson.String(name),
			},
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
		comment := strings.TrimRight(string(o.Members[at].Name.BeforeExtra), " \t\r\n")
		o.Members = slices.Delete(o.Members, at, at+1)
		switch {
		case comment == "":
		case last:
			if !strings.Contains(string(o.AfterExtra), "\n") {
				comment += "\n"
			}
			o.AfterExtra = append(hujson.Extra(comment), o.AfterExtra...)
		default:
			next := &o.Members[at].Name
			next.BeforeExtra = append(hujson.Extra(comment), next.BeforeExtra...)
		}
		if last && at > 0 {
			o.Members[at-1].Value.AfterExtra = trailing
		}
		if len(o.Members) == 0 && comment == "" {
			o.AfterExtra = nil
		}
		return nil
	default:
		if list, ok := o.Members[at].Value.Value.(*hujson.Array); ok && e.elements != nil {
			return editArray(list, e, indent+step, step)
		}
		value, err := jsonValue(e.Value, indent, step)
		if err != nil {
			return err
		}
		value.AfterExtra = o.Members[at].Value.AfterExtra
		o.Members[at].Value = value
		return nil
	}
}

// editArray adds elements to a list whose new elements are indented by indent, or takes elements out. Others
// stay as they are, with their comments.
func editArray(list *hujson.Array, e edit, indent, step string) error {
	for _, v := range e.elements {
		at := slices.IndexFunc(list.Elements, func(x hujson.Value) bool { return same(x, v) })
		switch {
		case e.drop && at >= 0:
			drop(list, at)
		case !e.drop && at < 0:
			value, err := jsonValue(v, indent, step)
			if err != nil {
				return err
			}
			add(list, value, indent, step)
		}
	}
	return nil
}

func same(x hujson.Value, v any) bool {
	x = x.Clone()
	x.Standardize()
	var have any
	return json.Unmarshal(x.Pack(), &have) == nil && reflect.DeepEqual(have, v)
}

// oneLine reports whether the elements of a list follow each other on its line.
func oneLine(list *hujson.Array) bool {
	return len(list.Elements) == 0 || !strings.Contains(string(list.Elements[0].BeforeExtra), "\n")
}

// add appends an element, on a line of its own.
func add(list *hujson.Array, value hujson.Value, indent, step string) {
	comment := strings.TrimRight(string(list.AfterExtra), " \t\r\n") // behind the last element
	value.BeforeExtra = hujson.Extra(comment + "\n" + indent)
	if comment != "" || oneLine(list) {
		list.AfterExtra = hujson.Extra("\n" + strings.TrimSuffix(indent, step))
	}
	if n := len(list.Elements); n > 0 && list.Elements[n-1].AfterExtra != nil {
		value.AfterExtra = hujson.Extra{} // a comma stands after the last element
	}
	list.Elements = append(list.Elements, value)
}

// drop takes an element out. A comment in front of it stays.
func drop(list *hujson.Array, at int) {
	gone, last := list.Elements[at], at == len(list.Elements)-1
	list.Elements = slices.Delete(list.Elements, at, at+1)
	comment := strings.TrimRight(string(gone.BeforeExtra), " \t\r\n")
	switch {
	case !last:
		next := &list.Elements[at]
		next.BeforeExtra = append(hujson.Extra(comment), next.BeforeExtra...)
		return
	case at > 0:
		list.Elements[at-1].AfterExtra = gone.AfterExtra
	}
	if comment == "" && oneLine(list) && strings.TrimSpace(string(list.AfterExtra)) == "" {
		list.AfterExtra = nil
	}
	list.AfterExtra = append(hujson.Extra(comment), list.AfterExtra...)
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
