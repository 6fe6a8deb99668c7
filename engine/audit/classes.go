package audit

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/redact"
)

// The texts of a decision record that are no agent's, by their place; * is any element of a list or member
// of an object. All others are redacted in full, those of a member that is new as well. Of the other kinds
// of records only errors and the words of a person are: Sallyport wrote the others.
var (
	decided = fieldsOf(map[redact.Class]string{
		redact.Name: "result/reasons/*/location/file exempted/*/match input/request/work_dir" +
			" input/commands/*/name input/commands/*/program input/commands/*/subcommand input/commands/*/script" +
			" input/commands/*/hosts/* input/commands/*/targets/*/host input/git/top input/commands/*/dir" +
			" input/commands/*/kube/*/server/value" +
			" input/commands/*/code/origin input/paths/*/raw input/paths/*/path input/paths/*/real" +
			" input/paths/*/unread/examples/* input/paths/*/git/examples/*" +
			" input/runner/place/runtime input/runner/place/image input/runner/place/node" +
			" input/session/recent/*/hosts/* input/session/recent/*/commands/*" +
			" input/session/approved/*/program input/session/approved/*/dir",
		redact.Own: "trial hook" +
			" result/decision_id result/effect result/mode result/fault result/policy/revision" +
			" result/policy/bundles/* result/reasons/*/rule result/reasons/*/effect result/reasons/*/level" +
			" result/reasons/*/severity result/reasons/*/title result/reasons/*/remediation" +
			" exempted/*/rule exempted/*/effect exempted/*/expires fault/id fault/part input/request/id" +
			" input/request/time input/request/tool input/request/parent input/request/work_dir_state " +
			"input/subject/agent" +
			" input/subject/session input/subject/user input/subject/client/name" +
			" input/subject/client/version input/runner/name input/runner/isolation input/runner/network " +
			"input/runner/programs" +
			" input/runner/confinement/write input/runner/confinement/read input/runner/confinement/connect" +
			" input/runner/place/digest" +
			" input/shell/certainty input/shell/budget input/commands/*/options/*/certainty" +
			" input/commands/*/certainty input/commands/*/operands/*/kind" +
			" input/commands/*/operands/*/certainty input/commands/*/packages/*/manager" +
			" input/commands/*/packages/*/certainty input/commands/*/variables/*/certainty" +
			" input/commands/*/targets/*/kind input/commands/*/targets/*/certainty input/commands/*/via/*" +
			" input/commands/*/kube/*/context/certainty input/commands/*/kube/*/cluster/certainty" +
			" input/commands/*/kube/*/server/certainty input/commands/*/kube/*/namespace/certainty" +
			" input/commands/*/kube/*/user/certainty" +
			" input/commands/*/effects/* input/commands/*/flags/* input/commands/*/code/language" +
			" input/commands/*/code/from input/paths/*/access input/paths/*/source input/paths/*/certainty" +
			" input/paths/*/type input/paths/*/zone input/paths/*/permission input/paths/*/labels/*" +
			" input/paths/*/obeyed_by/*/program input/paths/*/obeyed_by/*/starts input/paths/*/obeyed_by/*/severity" +
			" input/paths/*/seen input/paths/*/git/state input/paths/*/operator_labels/*" +
			" input/session/operator_labels/* input/session/recent/*/operator_labels/*" +
			" input/session/first input/session/last input/session/labels/*" +
			" input/session/recent/*/id input/session/recent/*/time input/session/recent/*/tool" +
			" input/session/recent/*/effect input/session/recent/*/state input/session/recent/*/approval" +
			" input/session/recent/*/certainty input/session/recent/*/effects/* input/session/recent/*/labels/*",
	})
	said = fieldsOf(map[redact.Class]string{redact.Free: "error comment by held/*/message held/*/error" +
		" programs/refused/*/words programs/refused/*/way/* programs/refused/*/message" +
		" programs/list/*/words programs/list/*/way/*",
		redact.Name: "held/*/path changes/list/*/path changes/list/*/link programs/list/*/file" +
			" place/runtime place/image place/node"})
)

// fields is a tree of members of a record, with the class of those that are texts.
type fields struct {
	kids  map[string]*fields
	other *fields // of "*"
	text  bool
	class redact.Class
}

func fieldsOf(lists map[redact.Class]string) *fields {
	root := &fields{}
	for class, list := range lists {
		for _, one := range strings.Fields(list) {
			p := root
			for _, step := range strings.Split(one, "/") {
				p = p.grow(step)
			}
			p.text, p.class = true, class
		}
	}
	return root
}

func (p *fields) grow(step string) *fields {
	kid := p.at(step)
	switch {
	case step != "*" && (kid == nil || kid == p.other):
		if p.kids == nil {
			p.kids = map[string]*fields{}
		}
		kid = &fields{}
		p.kids[step] = kid
	case kid == nil:
		kid = &fields{}
		p.other = kid
	}
	return kid
}

// at is the tree's node for a member or, with "*", for an element. It is nil for nothing.
func (p *fields) at(step string) *fields {
	if p == nil {
		return nil
	}
	if kid := p.kids[step]; kid != nil {
		return kid
	}
	return p.other
}

// concealed lists the replacements of conceal by JSON pointers.
type concealed struct {
	redacted []string
	named    []namedSecret
}

// namedSecret is a name that contains a value that some text calls a secret: see [redact.Named].
type namedSecret struct {
	At   string `json:"at"`
	From string `json:"from"`
	Tag  string `json:"tag"`
}

// conceal replaces the secrets in all strings of a record's body.
func (c *concealer) conceal(red *redact.Redactor, k engine.Kind, body *node) (done concealed) {
	clear(c.texts)
	*c = concealer{other: redact.Own, texts: c.texts[:0], nodes: c.nodes[:0]}
	at := said
	if k == engine.KindDecision {
		at, c.other = decided, redact.Free
	}
	c.visit(body, spot{}, at)
	report := red.Texts(c.texts)
	if len(report.Redacted) == 0 && len(report.Named) == 0 {
		return done
	}
	for i, n := range c.nodes {
		n.text = c.texts[i].Value
	}
	pointers := make(map[int]string, len(report.Redacted)+2*len(report.Named))
	for _, i := range report.Redacted {
		pointers[i] = ""
	}
	for _, n := range report.Named {
		pointers[n.At], pointers[n.From] = "", ""
	}
	body.point(pointers)
	for _, i := range report.Redacted {
		done.redacted = append(done.redacted, pointers[i])
	}
	for _, n := range report.Named {
		done.named = append(done.named, namedSecret{pointers[n.At], pointers[n.From], n.Tag})
	}
	return done
}

// point sets the JSON pointers of strings, which have the numbers in which the concealer meets them.
func (n *node) point(pointers map[int]string) {
	met := 0
	var visit func(n *node, at []byte)
	visit = func(n *node, at []byte) {
		if n.kind == 's' {
			if _, ok := pointers[met]; ok {
				pointers[met] = string(at)
			}
			met++
		}
		for i := range n.kids {
			visit(&n.kids[i], n.step(at, i))
		}
	}
	visit(n, nil)
}

// concealer collects the strings of a record.
type concealer struct {
	other redact.Class // of texts that are not listed
	texts []redact.Text
	nodes []*node
	lists int
}

// spot is where a string stands.
type spot struct {
	key  string // the member that it is the value of, or the name beside it: {"name": …, "value": …}
	list int    // of which it is an element
	of   int    // the command line of which it repeats a part
}

func (c *concealer) visit(n *node, s spot, at *fields) {
	switch n.kind {
	case 's':
		class := c.other
		if at != nil && at.text {
			class = at.class
		}
		c.texts = append(c.texts, redact.Text{Key: s.key, Of: s.of, List: s.list, Class: class, Value: n.text})
		c.nodes = append(c.nodes, n)
	case 'o':
		argv := 0
		for i := range n.kids {
			kid := &n.kids[i]
			in := spot{key: kid.key, of: s.of}
			switch kid.key {
			case "argv":
				argv = c.lists + 1
			case "options", "operands":
				in.of = argv
			case "value":
				in.key = n.member("name")
			}
			c.visit(kid, in, at.at(kid.key))
		}
	case 'a':
		c.lists++
		in := spot{list: c.lists, of: s.of}
		for i := range n.kids {
			c.visit(&n.kids[i], in, at.at("*"))
		}
	}
}

// member is the text of a member of an object; "" for none.
func (n *node) member(key string) string {
	for i := range n.kids {
		if n.kids[i].key == key && n.kids[i].kind == 's' {
			return n.kids[i].text
		}
	}
	return ""
}
