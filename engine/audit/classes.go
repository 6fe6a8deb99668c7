package audit

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// The texts of a decision record that are no agent's, by their place; * is any element of a list or member of an
// object. All others are redacted in full, those of a member that is new as well. Of the other kinds of records
// only errors and the words of a person are: what else they say, Sallyport wrote.
var (
	names = fieldsOf("result/reasons/*/location/file exempted/*/match input/request/work_dir" +
		" input/commands/*/name input/commands/*/program input/commands/*/subcommand input/commands/*/script" +
		" input/commands/*/hosts/* input/commands/*/targets/*/host input/git/top" +
		" input/commands/*/dir input/commands/*/code/origin" +
		" input/paths/*/raw input/paths/*/path input/paths/*/real input/paths/*/unread/examples/*")
	own = fieldsOf("result/decision_id result/effect result/mode result/fault result/policy/revision result/policy/bundles/*" +
		" result/reasons/*/rule result/reasons/*/effect result/reasons/*/level result/reasons/*/severity" +
		" result/reasons/*/title result/reasons/*/remediation" +
		" exempted/*/rule exempted/*/effect exempted/*/expires fault/id fault/part" +
		" input/request/id input/request/time input/request/tool input/request/work_dir_state" +
		" input/subject/agent input/subject/session input/subject/user input/subject/client/name input/subject/client/version" +
		" input/runner/name input/runner/isolation input/runner/network" +
		" input/shell/certainty input/shell/budget input/commands/*/options/*/certainty input/commands/*/certainty" +
		" input/commands/*/operands/*/kind input/commands/*/operands/*/certainty" +
		" input/commands/*/packages/*/manager input/commands/*/packages/*/certainty input/commands/*/variables/*/certainty" +
		" input/commands/*/targets/*/kind input/commands/*/targets/*/certainty" +
		" input/commands/*/via/* input/commands/*/effects/* input/commands/*/flags/*" +
		" input/commands/*/code/language input/commands/*/code/from" +
		" input/paths/*/access input/paths/*/source input/paths/*/certainty input/paths/*/type input/paths/*/zone" +
		" input/paths/*/permission input/paths/*/labels/* input/paths/*/seen")
	said = fieldsOf("error comment by")
)

// fields is a tree of members of a record, and whether one is a text.
type fields struct {
	kids map[string]*fields
	text bool
}

func fieldsOf(list string) *fields {
	root := &fields{}
	for _, one := range strings.Fields(list) {
		p := root
		for _, step := range strings.Split(one, "/") {
			if p.kids[step] == nil {
				if p.kids == nil {
					p.kids = map[string]*fields{}
				}
				p.kids[step] = &fields{}
			}
			p = p.kids[step]
		}
		p.text = true
	}
	return root
}

// at is what the tree has of a member or, with "*", of an element. It is nil for nothing.
func (p *fields) at(step string) *fields {
	if p == nil {
		return nil
	}
	if kid := p.kids[step]; kid != nil {
		return kid
	}
	return p.kids["*"]
}

func (p *fields) holds() bool { return p != nil && p.text }

// conceal replaces the secrets in all strings of a record's body.
func conceal(red *redact.Redactor, k engine.Kind, body *node) redact.Report {
	c := concealer{kind: k}
	c.visit(body, spot{}, names, own, said)
	report := red.Texts(c.texts)
	for i, n := range c.nodes {
		n.text = c.texts[i].Value
	}
	return report
}

// concealer collects the strings of a record.
type concealer struct {
	kind  engine.Kind
	texts []redact.Text
	nodes []*node
	lists int
}

// spot is where a string stands.
type spot struct {
	at   string // JSON pointer
	key  string // the member that it is the value of, or the name beside it: {"name": …, "value": …}
	list int    // of which it is an element
	of   int    // the command line of which it repeats a part
}

func (c *concealer) visit(n *node, s spot, names, own, said *fields) {
	switch n.kind {
	case 's':
		class := redact.Free
		switch {
		case c.kind == engine.KindDecision && own.holds(), c.kind != engine.KindDecision && !said.holds():
			class = redact.Own
		case c.kind == engine.KindDecision && names.holds():
			class = redact.Name
		}
		c.texts = append(c.texts, redact.Text{At: s.at, Key: s.key, Of: s.of, List: s.list, Class: class, Value: n.text})
		c.nodes = append(c.nodes, n)
	case 'o':
		argv := 0
		for i, k := range n.keys {
			in := spot{at: s.at + "/" + n.step(i), key: k, of: s.of}
			switch {
			case k == "argv":
				argv = c.lists + 1
			case k == "options" || k == "operands":
				in.of = argv
			case k == "value":
				in.key = n.member("name")
			}
			c.visit(&n.kids[i], in, names.at(k), own.at(k), said.at(k))
		}
	case 'a':
		c.lists++
		id := c.lists
		for i := range n.kids {
			in := spot{at: s.at + "/" + n.step(i), list: id, of: s.of}
			c.visit(&n.kids[i], in, names.at("*"), own.at("*"), said.at("*"))
		}
	}
}

// member is the text of a member of an object; "" for none.
func (n *node) member(key string) string {
	for i, k := range n.keys {
		if k == key && n.kids[i].kind == 's' {
			return n.kids[i].text
		}
	}
	return ""
}
