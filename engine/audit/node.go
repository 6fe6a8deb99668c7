package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// node is a JSON value between marshalling and writing: the form in which secrets are replaced and
// a text that is too long is cut. Strings are decoded; numbers and literals keep their bytes.
type node struct {
	kind byte   // 's' string, 'o' object, 'a' array, 'r' number or literal
	key  string // of a member of an object
	text string
	mark string // stands for the part of a string that was cut off
	kids []node
}

// maxDepth bounds nesting: a record that is deeper is not one of ours.
const maxDepth = 64

// fewKeys is up to how many keys it is cheaper to compare each than to keep a map.
const fewKeys = 32

var errSyntax = errors.New("malformed JSON")

type nodeParser struct {
	b    string
	i    int
	open []node // those whose parents are not complete
	all  []node // where complete ones stay
}

// parseNode reads one JSON value.
func parseNode(b []byte) (node, error) { return new(nodeParser).parse(b) }

// parse reads one JSON value, which is valid until the next. It refuses duplicate keys, which encoding/json
// accepts from a json.Marshaler.
func (p *nodeParser) parse(b []byte) (node, error) {
	clear(p.all)
	p.b, p.i, p.open, p.all = string(b), 0, p.open[:0], p.all[:0]
	n, err := p.value(0)
	if err != nil {
		return node{}, err
	}
	if p.space(); p.i != len(p.b) {
		return node{}, errSyntax
	}
	return n, nil
}

func (p *nodeParser) space() {
	for p.i < len(p.b) && (p.b[p.i] == ' ' || p.b[p.i] == '\n' || p.b[p.i] == '\t' || p.b[p.i] == '\r') {
		p.i++
	}
}

func (p *nodeParser) peek() byte {
	p.space()
	if p.i < len(p.b) {
		return p.b[p.i]
	}
	return 0
}

func (p *nodeParser) value(depth int) (node, error) {
	if depth > maxDepth {
		return node{}, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	switch p.peek() {
	case '"':
		s, err := p.str()
		return node{kind: 's', text: s}, err
	case '{':
		return p.object(depth)
	case '[':
		return p.array(depth)
	}
	start := p.i
	for p.i < len(p.b) && p.b[p.i] != ',' && p.b[p.i] != '}' && p.b[p.i] != ']' && p.b[p.i] > ' ' {
		p.i++
	}
	raw := p.b[start:p.i]
	if raw != "true" && raw != "false" && raw != "null" && !json.Valid([]byte(raw)) {
		return node{}, errSyntax
	}
	return node{kind: 'r', text: raw}, nil
}

func (p *nodeParser) str() (string, error) {
	start := p.i
	plain := true
	for p.i++; p.i < len(p.b); p.i++ {
		switch c := p.b[p.i]; {
		case c == '\\':
			plain = false
			p.i++
		case c == '"':
			p.i++
			raw := p.b[start:p.i]
			if plain && utf8.ValidString(raw) {
				return raw[1 : len(raw)-1], nil
			}
			var s string
			err := json.Unmarshal([]byte(raw), &s) // replaces bytes that are not UTF-8
			return s, err
		case c < ' ':
			return "", errSyntax
		}
	}
	return "", errSyntax
}

func (p *nodeParser) object(depth int) (node, error) {
	n := node{kind: 'o'}
	p.i++
	if p.peek() == '}' {
		p.i++
		return n, nil
	}
	from := len(p.open)
	var seen map[string]bool // of an object with many members
	for {
		if p.peek() != '"' {
			return n, errSyntax
		}
		key, err := p.str()
		if err != nil {
			return n, err
		}
		members := p.open[from:]
		if len(members) == fewKeys {
			seen = make(map[string]bool, 2*fewKeys)
			for i := range members {
				seen[members[i].key] = true
			}
		}
		if seen[key] || seen == nil && slices.ContainsFunc(members, func(m node) bool { return m.key == key }) {
			return n, fmt.Errorf("duplicate key %q", key)
		}
		if seen != nil {
			seen[key] = true
		}
		if p.peek() != ':' {
			return n, errSyntax
		}
		p.i++
		v, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		v.key = key
		p.open = append(p.open, v)
		if done, err := p.next('}'); done || err != nil {
			n.kids = p.complete(from)
			return n, err
		}
	}
}

// complete moves the kids of a complete node to their final place.
func (p *nodeParser) complete(from int) []node {
	kids := p.open[from:]
	if n := len(p.all); cap(p.all)-n < len(kids) { // those that are there stay with their parents
		p.all = make([]node, 0, max(len(kids), min(len(p.b)/8, 1024)))
	}
	n := len(p.all)
	p.all, p.open = append(p.all, kids...), p.open[:from]
	return p.all[n:len(p.all):len(p.all)]
}

func (p *nodeParser) array(depth int) (node, error) {
	n := node{kind: 'a'}
	p.i++
	if p.peek() == ']' {
		p.i++
		return n, nil
	}
	from := len(p.open)
	for {
		v, err := p.value(depth + 1)
		if err != nil {
			return n, err
		}
		p.open = append(p.open, v)
		if done, err := p.next(']'); done || err != nil {
			n.kids = p.complete(from)
			return n, err
		}
	}
}

// next reads the comma or the end after an element.
func (p *nodeParser) next(end byte) (done bool, err error) {
	switch p.peek() {
	case ',':
		p.i++
		return false, nil
	case end:
		p.i++
		return true, nil
	}
	return false, errSyntax
}

// step appends the reference token of the i-th child to the JSON pointer of n (RFC 6901).
func (n *node) step(at []byte, i int) []byte {
	at = append(at, '/')
	if n.kind == 'a' {
		return strconv.AppendInt(at, int64(i), 10)
	}
	for _, c := range []byte(n.kids[i].key) {
		switch c {
		case '~':
			at = append(at, "~0"...)
		case '/':
			at = append(at, "~1"...)
		default:
			at = append(at, c)
		}
	}
	return at
}

func (n *node) appendTo(b []byte) []byte {
	switch n.kind {
	case 's':
		return appendString(b, n.text+n.mark)
	case 'a':
		b = append(b, '[')
		for i := range n.kids {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.kids[i].appendTo(b)
		}
		return append(b, ']')
	case 'o':
		return append(n.appendFields(append(b, '{')), '}')
	default:
		return append(b, n.text...)
	}
}

// appendFields writes the members of an object without its braces.
func (n *node) appendFields(b []byte) []byte {
	for i := range n.kids {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(appendString(b, n.kids[i].key), ':')
		b = n.kids[i].appendTo(b)
	}
	return b
}

// appendString quotes s. Beyond the demands of JSON it escapes control and format characters of
// Unicode, so that neither a terminal nor a tool that knows other line ends can be led astray by
// text that an agent chose. Invalid UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= ' ' && c != '"' && c != '\\' && c < 0x7f {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(s[i:])
		if c >= utf8.RuneSelf && r != utf8.RuneError && !awkward(r) {
			i += size
			continue
		}
		b = append(b, s[start:i]...)
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		default:
			for _, u := range utf16.AppendRune(nil, r) {
				b = append(b, '\\', 'u', digits[u>>12], digits[u>>8&15], digits[u>>4&15], digits[u&15])
			}
		}
		i += size
		start = i
	}
	return append(append(b, s[start:]...), '"')
}

func awkward(r rune) bool {
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == 0x2028 || r == 0x2029
}

// limits bound the strings and arrays of one record.
type limits struct {
	text  int // bytes of a string that are kept whole
	items int // elements of an array that are kept
}

// cutNote names the cut parts of a record and their places, so that a replay knows that it has not all.
type cutNote struct {
	At    string `json:"at"`              // JSON pointer
	Bytes int    `json:"bytes,omitempty"` // of the whole string
	Items int    `json:"items,omitempty"` // of the whole array
}

// cut shortens a node that exceeds l. A string keeps its head, its length and its hash.
func (n *node) cut(at []byte, l limits, notes []cutNote) []cutNote {
	switch n.kind {
	case 's':
		if len(n.text) > l.text {
			notes = append(notes, cutNote{At: string(at), Bytes: len(n.text)})
			if n.mark == "" { // a second cut keeps the length and hash of the whole
				sum := sha256.Sum256([]byte(n.text))
				n.mark = fmt.Sprintf("[cut: %d bytes, sha256 %s]", len(n.text), hex.EncodeToString(sum[:]))
			}
			head := min(l.text, 4096)
			for head > 0 && !utf8.RuneStart(n.text[head]) {
				head--
			}
			n.text = n.text[:head]
		}
	case 'a', 'o':
		if n.kind == 'a' && len(n.kids) > l.items {
			notes = append(notes, cutNote{At: string(at), Items: len(n.kids)})
			n.kids = n.kids[:l.items]
		}
		for i := range n.kids {
			notes = n.kids[i].cut(n.step(at, i), l, notes)
		}
	}
	return notes
}
