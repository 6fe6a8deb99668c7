package redact

// automaton finds many secrets in one pass over a text: the automaton of Aho and Corasick ("Efficient String
// Matching", 1975). Its work grows with the text alone, however many secrets an agent makes up.
type automaton struct {
	nodes []state
	sizes []int // of the secrets, in bytes
}

// state is a prefix of some secret.
type state struct {
	b              byte  // its last byte
	child, sibling int32 // first longer prefix, and next one of the same length; 0 for none
	fail           int32 // the longest other prefix that it ends with
	secret,
	longestBelow int32 // index of the secret that it is, and next state of a secret on the way of fail; -1 and 0 for none
}

func newAutomaton(secrets []learned) *automaton {
	m := &automaton{nodes: []state{{secret: -1}}, sizes: make([]int, len(secrets))}
	for i, l := range secrets {
		m.sizes[i] = len(l.secret)
		at := int32(0)
		for j := range len(l.secret) {
			next, ok := m.child(at, l.secret[j])
			if !ok {
				next = int32(len(m.nodes))
				m.nodes = append(m.nodes, state{b: l.secret[j], sibling: m.nodes[at].child, secret: -1})
				m.nodes[at].child = next
			}
			at = next
		}
		m.nodes[at].secret = int32(i)
	}
	queue := []int32{0}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		for c := m.nodes[at].child; c != 0; c = m.nodes[c].sibling {
			if at != 0 {
				m.nodes[c].fail = m.step(m.nodes[at].fail, m.nodes[c].b)
			}
			f := m.nodes[c].fail
			if m.nodes[c].longestBelow = f; m.nodes[f].secret < 0 {
				m.nodes[c].longestBelow = m.nodes[f].longestBelow
			}
			queue = append(queue, c)
		}
	}
	return m
}

func (m *automaton) child(at int32, b byte) (int32, bool) {
	for c := m.nodes[at].child; c != 0; c = m.nodes[c].sibling {
		if m.nodes[c].b == b {
			return c, true
		}
	}
	return 0, false
}

func (m *automaton) step(at int32, b byte) int32 {
	for {
		if next, ok := m.child(at, b); ok {
			return next
		}
		if at == 0 {
			return 0
		}
		at = m.nodes[at].fail
	}
}

// each calls found with the secrets that end at each place of s, the longest first, until it returns false
// for that place.
func (m *automaton) each(s string, found func(secret, start, end int) (more bool)) {
	at := int32(0)
	for i := range len(s) {
		at = m.step(at, s[i])
		n := at
		if m.nodes[n].secret < 0 {
			n = m.nodes[n].longestBelow
		}
		for ; n != 0; n = m.nodes[n].longestBelow {
			secret := int(m.nodes[n].secret)
			if !found(secret, i+1-m.sizes[secret], i+1) {
				break
			}
		}
	}
}
