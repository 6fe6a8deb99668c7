package commands

import (
	"fmt"
	"strconv"
	"strings"
)

// node is a piece of a document: a scalar, a list or fields.
type node struct {
	scalar string
	list   []node
	fields []field
}

type field struct {
	key  string
	node node
}

// The files are read by hand, in the part of YAML that they keep to: a key and a scalar, a list or a map on
// one line, or deeper lines below the key. So the supervisor, which holds this package, needs no YAML
// library, and a row costs microseconds. A test reads the same files by a library and compares.

// cutKey splits a line into a key and the rest.
func cutKey(line string) (key, rest string, ok bool) {
	line = strings.TrimRight(line, " \n")
	if key, ok = strings.CutSuffix(line, ":"); ok && !strings.Contains(line, ": ") {
		return strings.Trim(key, ` "`), "", true
	}
	key, rest, ok = strings.Cut(line, ": ")
	return strings.Trim(key, ` "`), strings.TrimSpace(rest), ok
}

// section is a key at some indentation, and the text below it.
type section struct{ key, rest, below string }

// split cuts a text into the sections of an indentation. Comments and deeper lines belong to the section
// before.
func split(text, indent string) ([]section, error) {
	var list []section
	below := 0
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n') + at + 1
		if end == at {
			end = len(text)
		}
		line := text[at:end]
		if b := line[min(len(indent), len(line)-1)]; strings.HasPrefix(line, indent) && b > ' ' && b != '#' {
			if len(list) > 0 {
				list[len(list)-1].below = text[below:at]
			}
			key, rest, ok := cutKey(line)
			if !ok {
				return nil, fmt.Errorf("line %q has no key", line)
			}
			list = append(list, section{key: key, rest: rest})
			below = end
		}
		at = end
	}
	if len(list) > 0 {
		list[len(list)-1].below = text[below:]
	}
	return list, nil
}

// node reads the contents of a section.
func (s section) node(indent string) (node, error) {
	if s.rest != "" {
		n, left := flow(s.rest)
		if left = strings.TrimSpace(left); left != "" && left[0] != '#' {
			return n, fmt.Errorf("%s: %q is left over", s.key, left)
		}
		return n, nil
	}
	var n node
	indent += "  "
	if strings.HasPrefix(s.below, indent+"- ") {
		for line := range strings.Lines(s.below) {
			if item, ok := strings.CutPrefix(strings.TrimSpace(line), "- "); ok { // and no comment
				n.list = append(n.list, node{scalar: strings.Trim(item, `"`)})
			}
		}
		return n, nil
	}
	list, err := split(s.below, indent)
	for _, sub := range list {
		value, e := sub.node(indent)
		if err == nil {
			err = e
		}
		n.fields = append(n.fields, field{sub.key, value})
	}
	return n, err
}

// flow reads a scalar, [a, b] or {a: b}, and returns the text behind it.
func flow(text string) (n node, left string) {
	text = strings.TrimLeft(text, " ")
	switch {
	case strings.HasPrefix(text, "["):
		text = text[1:]
		for !strings.HasPrefix(text, "]") && text != "" {
			var item node
			item, text = flow(text)
			n.list = append(n.list, item)
			text = strings.TrimLeft(text, ", ")
		}
		return n, strings.TrimPrefix(text, "]")
	case strings.HasPrefix(text, "{"):
		text = text[1:]
		for !strings.HasPrefix(text, "}") && text != "" {
			key, rest, _ := strings.Cut(text, ": ")
			var item node
			item, text = flow(rest)
			n.fields = append(n.fields, field{strings.Trim(key, `"`), item})
			text = strings.TrimLeft(text, ", ")
		}
		return n, strings.TrimPrefix(text, "}")
	case strings.HasPrefix(text, `"`):
		n.scalar, left, _ = strings.Cut(text[1:], `"`)
		return n, left
	}
	end := strings.IndexAny(text, ",]}")
	if end < 0 {
		end = len(text)
	}
	if comment := strings.Index(text[:end], " #"); comment >= 0 {
		end = comment
	}
	n.scalar = strings.TrimSpace(text[:end])
	return n, text[end:]
}

// texts are the scalars of a list, or the words of the lines that it has.
func (n node) texts() []string {
	var list []string
	for _, item := range n.list {
		list = append(list, strings.Fields(item.scalar)...)
	}
	return list
}

// set takes one field of a row.
func (r *Row) set(key string, n node) error {
	switch key {
	case "like":
		r.Like = n.scalar
	case "does":
		r.Does = n.scalar
	case "operands":
		for _, kind := range n.list {
			r.Operands = append(r.Operands, kind.scalar)
		}
	case "last":
		r.Last = n.scalar
	case "style":
		r.Style = n.scalar
	case "hook":
		r.Hook = n.scalar
	case "filter":
		r.Filter = n.scalar == "true"
	case "ssh":
		r.SSH = n.scalar == "true"
	case "holds":
		r.Holds = n.texts()
	case "includes":
		r.Includes = n.texts()
	case "hands":
		r.Hands = n.words()
	case "words":
		r.Words = n.texts()
	case "home":
		r.Home = n.texts()
	case "runs":
		r.Runs = &Runs{}
		return n.each(r.Runs.set)
	case "packages":
		r.Packages = &Packages{}
		return n.each(r.Packages.set)
	case "kube":
		r.Kube = &Kube{}
		return n.each(r.Kube.set)
	case "stores":
		r.Stores = &Stores{}
		return n.each(r.Stores.set)
	case "when":
		r.When = make(map[string]Change, len(n.fields))
		for _, f := range n.fields {
			var c Change
			if err := f.node.each(c.set); err != nil {
				return fmt.Errorf("when %s: %w", f.key, err)
			}
			r.When[f.key] = c
		}
	case "options":
		r.Options = make(map[string]Option, len(n.fields))
		for _, f := range n.fields {
			var o Option
			if err := f.node.each(o.set); err != nil {
				return fmt.Errorf("option %s: %w", f.key, err)
			}
			r.Options[f.key] = o
		}
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}

func (n node) each(set func(key string, value node) error) error {
	for _, f := range n.fields {
		if err := set(f.key, f.node); err != nil {
			return err
		}
	}
	return nil
}

func (s *Stores) set(key string, n node) error {
	switch key {
	case "verbs":
		for _, verb := range n.list {
			s.Verbs = append(s.Verbs, verb.scalar)
		}
	case "settings":
		s.Settings = n.words()
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}

// words are the fields of a map of words.
func (n node) words() map[string]string {
	words := make(map[string]string, len(n.fields))
	for _, f := range n.fields {
		words[f.key] = f.node.scalar
	}
	return words
}

func (p *Packages) set(key string, n node) error {
	switch key {
	case "type":
		p.Type = n.scalar
	case "sources":
		p.Sources = n.texts()
	case "settings":
		p.Settings = n.texts()
	case "adds":
		for _, verb := range n.list {
			p.Adds = append(p.Adds, verb.scalar)
		}
	case "version":
		p.Version = n.texts()
	case "files":
		p.Files = n.texts()
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}

func (k *Kube) set(key string, n node) error {
	fields := map[string]*[]string{
		"config": &k.Config, "context": &k.Context, "cluster": &k.Cluster, "server": &k.Server,
		"user": &k.User, "namespace": &k.Namespace, "everywhere": &k.Everywhere,
		"credentials": &k.Credentials,
		"manifests":   &k.Manifests, "variables": &k.Variables, "defaults": &k.Defaults,
		"switches": &k.Switches, "changes": &k.Changes, "unknown": &k.Unknown,
	}
	list := fields[key]
	if list == nil {
		return fmt.Errorf("unknown field %q", key)
	}
	for _, item := range n.list {
		*list = append(*list, item.scalar)
	}
	return nil
}

func (c *Change) set(key string, n node) error {
	fields := map[string]*string{"does": &c.Does, "drops": &c.Drops, "paths": &c.Paths, "operands": &c.Operands,
		"here": &c.Here}
	if fields[key] == nil {
		return fmt.Errorf("unknown field %q", key)
	}
	*fields[key] = n.scalar
	return nil
}

func (o *Option) set(key string, n node) error {
	switch key {
	case "value":
		o.Value = n.scalar
	case "attached":
		o.Attached = n.scalar
	case "does":
		o.Does = n.scalar
	case "replaces":
		o.Replaces = n.scalar
	case "ends":
		o.Ends = n.scalar == "true"
	case "parts":
		o.Parts = n.words()
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}

func (r *Runs) set(key string, n node) (err error) {
	switch is := n.scalar == "true"; key {
	case "command":
		r.Command = is
	case "shape":
		r.Shape = n.scalar
	case "skip":
		r.Skip, err = strconv.Atoi(n.scalar)
	case "verbs":
		for _, verb := range n.list {
			r.Verbs = append(r.Verbs, verb.scalar)
		}
	case "others":
		r.Others = n.texts()
	case "behind":
		r.Behind = n.texts()
	case "prefix":
		r.Prefix = n.scalar
	case "assignments":
		r.Assignments = is
	case "joined":
		r.Joined = is
	case "each":
		r.Each = is
	case "versioned":
		r.Versioned = is
	case "script":
		r.Script = n.scalar
	case "elevated":
		r.Elevated = is
	case "away":
		r.Away = is
	case "background":
		r.Background = is
	case "secrets":
		r.Secrets = is
	case "language":
		r.Language = n.scalar
	case "shell":
		r.Shell = is
	case "verb":
		r.Verb = is
	case "input":
		r.Input = is
	case "edits":
		r.Edits = is
	case "inspect":
		r.Inspect = n.scalar
	case "finds":
		r.Finds = n.scalar
	case "images":
		r.Images = n.words()
	default:
		err = fmt.Errorf("unknown field %q", key)
	}
	return err
}
