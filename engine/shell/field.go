package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// fieldBuilder makes fields out of the parts of one word.
type fieldBuilder struct {
	w       *walker
	whole   bool // no splitting
	heredoc bool
	done    []value
	cur     value
	open    bool // cur is a field even when it is empty
}

func (b *fieldBuilder) finish() []value {
	b.cut()
	return b.done
}

// cut ends the current field.
func (b *fieldBuilder) cut() {
	if b.open || len(b.cur) > 0 {
		b.done = append(b.done, b.cur)
	}
	b.cur, b.open = nil, false
}

func (b *fieldBuilder) add(v value) {
	for _, p := range v {
		if p.known && p.text == "" && len(p.inputs) == 0 {
			b.open = b.open || p.quoted
			continue
		}
		if n := len(b.cur); n > 0 && b.cur[n-1].joins(p) {
			b.w.step(len(b.cur[n-1].text) / 1024) // it is copied
			b.cur[n-1].text += p.text
			continue
		}
		b.cur = append(b.cur, p)
	}
}

func (b *fieldBuilder) parts(parts []syntax.WordPart, quoted bool) {
	for i, part := range parts {
		switch p := part.(type) {
		case *syntax.Lit:
			b.literal(p.Value, quoted, i == 0 && !quoted && len(b.cur) == 0, len(parts) > i+1)
		case *syntax.SglQuoted:
			b.open = true
			if p.Dollar {
				b.ansi(p)
			} else {
				b.add(b.w.holes.fill(p.Value, true))
			}
		case *syntax.DblQuoted:
			// "$@" without parameters is no field at all; "" is one.
			b.open = b.open || !onlyAt(p)
			if p.Dollar && b.w.ctx.st.sh {
				b.add(unknown(b.w.raw(p), nil))
			}
			b.parts(p.Parts, true)
		case *syntax.ParamExp:
			b.param(p, quoted)
		case *syntax.CmdSubst:
			b.expansion(b.w.substitution(p), quoted)
		case *syntax.ArithmExp:
			b.expansion(b.w.arithmetic(p.X, b.w.raw(p)), quoted)
		case *syntax.ProcSubst:
			b.add(b.w.process(p))
		case *syntax.ExtGlob:
			b.w.hidden(p.Pattern.Value)
			pattern := b.w.holes.fill(b.w.raw(p), false)
			for i := range pattern {
				pattern[i].glob = pattern[i].known
			}
			b.add(pattern)
		default:
			b.w.unclear = true
			b.add(unknown(b.w.raw(part), nil))
		}
	}
}

// ansi adds $'…', which is a plain dollar in front of quotes to some shells.
func (b *fieldBuilder) ansi(p *syntax.SglQuoted) {
	text, ok := ansiC(p.Value)
	if !ok || b.w.ctx.st.sh {
		b.add(value{{text: b.w.raw(p), quoted: true}})
		return
	}
	v := b.w.holes.fill(text, true)
	v[0].decoded = strings.ContainsAny(p.Value, `\`)
	b.add(v)
}

// onlyAt reports "$@" and "${a[@]}".
func onlyAt(q *syntax.DblQuoted) bool {
	if len(q.Parts) != 1 {
		return false
	}
	p, ok := q.Parts[0].(*syntax.ParamExp)
	return ok && (p.Param != nil && p.Param.Value == "@" || indexWord(p.Index) == "@")
}

// literal adds text that stands in the source, with its backslashes.
func (b *fieldBuilder) literal(text string, quoted, first, more bool) {
	if name, rest, found := strings.Cut(text, "="); first && found && !b.whole && syntax.ValidName(name) {
		switch { // bash expands what looks like an assignment as one
		case strings.HasPrefix(rest, "~") && b.w.ctx.st.sh, strings.Contains(rest, ":~"):
			b.add(value{{text: text, made: true}})
			return
		case strings.HasPrefix(rest, "~"):
			b.add(known(name + "="))
			text = rest
		}
	}
	if first && strings.HasPrefix(text, "~") {
		text = b.tilde(text, more)
	}
	escaped := func(c byte) bool {
		return !quoted || strings.IndexByte("$`\\\n", c) >= 0 || c == '"' && !b.heredoc
	}
	start := 0
	for i := 0; i+1 < len(text); i++ {
		if text[i] != '\\' || !escaped(text[i+1]) {
			continue
		}
		if i > start {
			b.add(b.w.holes.fill(text[start:i], quoted))
		}
		if text[i+1] != '\n' {
			b.add(value{{text: text[i+1 : i+2], known: true, quoted: true}})
		}
		i++
		start = i + 1
	}
	if start < len(text) {
		b.add(b.w.holes.fill(text[start:], quoted))
	}
}

// tilde expands a leading ~, ~+, ~- or ~user and returns the rest of the text.
func (b *fieldBuilder) tilde(text string, more bool) string {
	end := strings.IndexByte(text, '/')
	if end < 0 {
		if more {
			return text // ~"x" and ~$x are not expanded
		}
		end = len(text)
	}
	user, rest := text[1:end], text[end:]
	var v value
	switch {
	case strings.ContainsAny(user, `\`+string(holeOpen)):
		return text
	case user == "":
		v = b.w.ctx.st.lookupVar("HOME").val
	case user == "+":
		v = b.w.ctx.st.lookupVar("PWD").val
	case user == "-":
		v = b.w.ctx.st.lookupVar("OLDPWD").val
	case user == "root":
		v = known("/root")
	default: // the home of that user, or the text itself where there is none
		v = unknown("~"+user, nil)
	}
	if plus := user == "+" || user == "-"; plus && b.w.ctx.st.sh {
		v = unknown("~"+user, nil)
	}
	if v.text() == "" {
		b.open = true
	}
	b.add(v.with(true, nil))
	return rest
}

// expansion adds the result of an expansion: in quotes as it is, otherwise split at IFS.
func (b *fieldBuilder) expansion(v value, quoted bool) {
	if quoted || b.whole {
		b.add(v.with(quoted, nil))
		return
	}
	ifs, ok := b.w.ctx.st.lookupVar("IFS").val.exact()
	for _, p := range v {
		p.quoted = false
		switch {
		case !p.known:
			b.add(value{p})
		case (!ok || !ascii(ifs)) && p.text != "":
			b.add(unknown(p.text, p.inputs))
		default:
			b.split(p, ifs)
		}
	}
}

// split cuts known text at the characters of IFS. Blanks run together; any other
// character of IFS ends a field, an empty one too.
func (b *fieldBuilder) split(p piece, ifs string) {
	text := p.text
	start := 0
	blank := false // a blank has just ended a field: a delimiter after it belongs to it
	flush := func(end int) {
		if end > start {
			blank = false
			part := p
			part.text = text[start:end]
			b.add(value{part})
		}
		start = end + 1
	}
	for i := 0; i < len(text); i++ {
		if strings.IndexByte(ifs, text[i]) < 0 {
			continue
		}
		flush(i)
		switch text[i] {
		case ' ', '\t', '\n':
			blank = blank || len(b.cur) > 0 || b.open
		default:
			b.open = b.open || !blank
			blank = false
		}
		b.cut()
	}
	flush(len(text))
}

func hasQuotes(p syntax.WordPart) bool {
	_, double := p.(*syntax.DblQuoted)
	return double || singleQuoted(p)
}

// param adds a parameter expansion, which may be several fields.
func (b *fieldBuilder) param(p *syntax.ParamExp, quoted bool) {
	list, all := b.w.parameter(p, quoted)
	if e := p.Exp; e != nil && isDefaultOp(e.Op) && e.Word != nil && !quoted && !b.whole &&
		slices.ContainsFunc(e.Word.Parts, hasQuotes) && (list[0].text() == "" || strings.ContainsAny(list[0].text(), " \t\n*?[")) {
		b.add(blurred(b.w.raw(p), list[0])) // quoted parts are not split, and are words even if empty
		return
	}
	if !all {
		// A list that is not known is any number of words, also in quotes.
		several := p.Names != 0 || p.Param != nil && p.Param.Value == "@" || indexWord(p.Index) == "@"
		b.expansion(list[0], quoted && !(several && list[0].dynamic()))
		return
	}
	if star := p.Param.Value == "*" || indexWord(p.Index) == "*"; star && (quoted || b.whole) {
		b.expansion(b.w.starJoin(list), quoted)
		return
	}
	for i, v := range list {
		if i > 0 {
			if b.whole {
				b.add(known(" "))
			} else {
				b.cut()
			}
		}
		if quoted {
			b.open = true
		}
		b.expansion(v, quoted)
	}
}
