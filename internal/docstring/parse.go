package docstring

import (
	"bytes"
	"strings"
)

// module are the definitions of a source.
type module struct {
	doc         string
	definitions []definition
}

// definition is a class or a function.
type definition struct {
	name            string // without those of the outer scopes
	around          int    // index of the definition around it; -1 for none
	kind, signature string
	doc             string // decoded, indentation and all
	documented      bool
	inner           bool // it is local to a function
	line            int
}

// fullName is the name with those of the outer scopes. It is made on demand: in a hostile source, all of them
// together are far longer than the source.
func (m *module) fullName(d *definition) string {
	if d.around < 0 {
		return d.name
	}
	return m.fullName(&m.definitions[d.around]) + "." + d.name
}

// isNamed reports whether fullName is that name.
func (m *module) isNamed(d *definition, name string) bool {
	for ; d.around >= 0; d = &m.definitions[d.around] {
		rest, ok := strings.CutSuffix(name, "."+d.name)
		if !ok {
			return false
		}
		name = rest
	}
	return name == d.name
}

// scope is a class or function while its body is read.
type scope struct {
	column  int
	at      int // index of its definition
	started bool
}

// parser goes through the logical lines of a source.
type parser struct {
	lexer
	module
	scopes  []scope
	started bool // the first statement of the module was read
}

// parse reads a source. Bytes that are not UTF-8 are replaced.
func parse(source []byte) (*module, error) {
	text := strings.ToValidUTF8(string(bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))), "\uFFFD")
	text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	p := parser{lexer: lexer{src: text, line: 1}}
	var tokens []token
	for {
		var column int
		var err error
		if tokens, column, err = p.next(tokens); err != nil {
			return nil, err
		}
		if len(tokens) == 0 {
			return &p.module, nil
		}
		p.logicalLine(tokens, column)
	}
}

// logicalLine reads one logical line. Lines that are indented deeper than a definition belong to it.
func (p *parser) logicalLine(tokens []token, column int) {
	for n := len(p.scopes); n > 0 && p.scopes[n-1].column >= column; n-- {
		p.scopes = p.scopes[:n-1]
	}
	if n := len(p.scopes); n > 0 {
		if s := &p.scopes[n-1]; !s.started {
			s.started = true
			p.document(&p.definitions[s.at], tokens)
		}
	} else if !p.started {
		var d definition
		p.document(&d, tokens)
		p.doc = d.doc
	}
	p.started = true
	p.define(tokens, column)
}

// define takes in the header of a definition, if the line is one.
func (p *parser) define(tokens []token, column int) {
	name := 1
	if p.text(tokens[0]) == "async" {
		name = 2
	}
	if len(tokens) <= name || tokens[name].kind != word {
		return
	}
	d := definition{line: tokens[0].line, kind: "function", around: -1}
	switch p.text(tokens[name-1]) {
	case "def":
	case "class":
		d.kind = "class"
	default:
		return
	}
	colon := p.colon(tokens)
	if colon < 0 {
		return
	}
	d.name = p.text(tokens[name])
	if n := len(p.scopes); n > 0 {
		d.around = p.scopes[n-1].at
		around := &p.definitions[d.around]
		d.inner = around.inner || around.kind != "class"
		if around.kind == "class" && d.kind == "function" {
			d.kind = "method"
		}
	}
	d.signature = p.oneLine(tokens[:colon])
	if body := tokens[colon+1:]; len(body) > 0 {
		p.document(&d, body)
		p.definitions = append(p.definitions, d)
		return
	}
	p.scopes = append(p.scopes, scope{column: column, at: len(p.definitions)})
	p.definitions = append(p.definitions, d)
}

func (p *parser) text(t token) string { return p.src[t.start:t.end] }

// colon finds the one that ends a header: outside of brackets, and not that of a lambda.
func (p *parser) colon(tokens []token) int {
	depth, lambdas := 0, 0
	for i, t := range tokens {
		if t.kind == word && depth == 0 && p.text(t) == "lambda" {
			lambdas++
		}
		if t.kind != mark {
			continue
		}
		switch p.src[t.start] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		case ':':
			if depth != 0 {
				continue
			}
			if lambdas == 0 {
				return i
			}
			lambdas--
		}
	}
	return -1
}

// document takes a first statement for a docstring if it is nothing but strings, in brackets or not.
func (p *parser) document(d *definition, tokens []token) {
	for i, t := range tokens {
		if t.kind == mark && p.src[t.start] == ';' {
			tokens = tokens[:i]
			break
		}
	}
	for len(tokens) > 2 && p.text(tokens[0]) == "(" && p.text(tokens[len(tokens)-1]) == ")" {
		tokens = tokens[1 : len(tokens)-1]
	}
	if len(tokens) == 0 {
		return
	}
	var b strings.Builder
	for _, t := range tokens {
		if t.kind != literal {
			return
		}
		decode(&b, p.text(t))
	}
	d.doc, d.documented = b.String(), true
}

// oneLine writes a header on one line: without comments, without the comma behind the last parameter
// of several lines, and with one space where there was any.
func (p *parser) oneLine(tokens []token) string {
	var b strings.Builder
	for i, t := range tokens {
		text := p.text(t)
		if i == 0 {
			b.WriteString(text)
			continue
		}
		before := tokens[i-1]
		broken := t.fresh
		closing := text == ")" || text == "]" || text == "}"
		opened := strings.HasSuffix(b.String(), "(") || strings.HasSuffix(b.String(), "[") ||
			strings.HasSuffix(b.String(), "{")
		switch {
		case text == "," && i+1 < len(tokens) && tokens[i+1].fresh && p.text(tokens[i+1]) == ")":
			continue
		case broken && (closing || opened):
		case before.end < t.start:
			b.WriteByte(' ')
		}
		b.WriteString(text)
	}
	return b.String()
}
