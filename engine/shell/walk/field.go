package walk

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// fieldBuilder makes fields out of the parts of one word.
type fieldBuilder struct {
	w       *walker
	whole   bool // no splitting
	element bool // of an array: a tilde counts at the start alone
	heredoc bool
	done    []value.Value
	cur     value.Value
	open    bool // cur is a field even when it is empty
}

func (b *fieldBuilder) finish() []value.Value {
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

func (b *fieldBuilder) add(v value.Value) {
	for _, p := range v {
		if p.Known && p.Text == "" && len(p.Inputs) == 0 {
			b.open = b.open || p.Quoted
			continue
		}
		if n := len(b.cur); n > 0 && b.cur[n-1].Joins(p) {
			b.w.step(len(b.cur[n-1].Text) / 1024) // it is copied
			b.cur[n-1].Text += p.Text
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
				b.add(b.w.holes.Fill(p.Value, true))
			}
		case *syntax.DblQuoted:
			// "$@" without parameters is no field at all; "" is one.
			b.open = b.open || !onlyAt(p)
			if p.Dollar && b.w.ctx.st.sh {
				b.add(value.Opaque(b.w.raw(p), nil))
			}
			b.parts(p.Parts, true)
		case *syntax.ParamExp:
			b.param(p, quoted, i+1 < len(parts))
		case *syntax.CmdSubst:
			b.expansion(b.w.substitution(p), quoted)
		case *syntax.ArithmExp:
			b.expansion(b.w.arithmetic(p.X, b.w.raw(p)), quoted)
		case *syntax.ProcSubst:
			b.add(b.w.process(p))
		case *syntax.ExtGlob:
			b.w.hidden(p.Pattern.Value)
			pattern := b.w.holes.Fill(b.w.raw(p), false)
			for i := range pattern {
				pattern[i].Glob = pattern[i].Known
			}
			b.add(pattern)
		default:
			b.w.unclear = true
			b.add(value.Opaque(b.w.raw(part), nil))
		}
	}
}

// ansi adds $'…', which is a plain dollar in front of quotes to some shells.
func (b *fieldBuilder) ansi(p *syntax.SglQuoted) {
	text, ok := value.ANSI(p.Value)
	if !ok || b.w.ctx.st.sh {
		b.add(value.Value{{Text: b.w.raw(p), Quoted: true, Made: true}})
		return
	}
	b.add(b.w.holes.Fill(text, true))
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
	argument := first && !b.whole && !b.element
	if name, rest, found := strings.Cut(text, "="); argument && found && syntax.ValidName(name) {
		switch { // bash expands a word that looks like an assignment as one
		case strings.HasPrefix(rest, "~") && b.w.ctx.st.sh, strings.Contains(rest, ":~"):
			b.add(value.Value{{Text: text, Made: true}})
			return
		case strings.HasPrefix(rest, "~"):
			b.add(value.Known(name + "="))
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
			b.add(b.w.holes.Fill(text[start:i], quoted))
		}
		if strings.HasPrefix(text[i+1:], string(value.HoleOpen)) { // it quotes an unknown part
			start = i + 1
			continue
		}
		if text[i+1] != '\n' {
			b.add(value.Value{{Text: text[i+1 : i+2], Known: true, Quoted: true}})
		}
		i++
		start = i + 1
	}
	if start < len(text) {
		b.add(b.w.holes.Fill(text[start:], quoted))
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
	var v value.Value
	switch {
	case strings.ContainsAny(user, `\`+string(value.HoleOpen)):
		return text
	case user == "":
		v = b.w.ctx.st.lookupVar("HOME").val
	case user == "+":
		v = b.w.ctx.st.lookupVar("PWD").val
	case user == "-":
		v = b.w.ctx.st.lookupVar("OLDPWD").val
	case user == "root":
		v = value.Known("/root")
	default: // the home of that user, or the text itself where there is none
		v = value.Opaque("~"+user, nil)
	}
	if plus := user == "+" || user == "-"; plus && b.w.ctx.st.sh {
		v = value.Opaque("~"+user, nil)
	}
	if v.Text() == "" {
		b.open = true
	}
	b.add(v.With(true, nil))
	return rest
}

// expansion adds the result of an expansion: in quotes as it is, otherwise split at IFS.
func (b *fieldBuilder) expansion(v value.Value, quoted bool) {
	if quoted || b.whole {
		b.add(v.With(quoted, nil))
		return
	}
	ifs, ok := b.w.ctx.st.lookupVar("IFS").val.Exact()
	for _, p := range v {
		p.Quoted = false
		switch {
		case !p.Known:
			p.Cut = p.Cut || !ok || !blank(ifs)
			b.add(value.Value{p})
		case (!ok || !value.ASCII(ifs)) && p.Text != "":
			b.add(value.Opaque(p.Text, p.Inputs))
		default:
			b.split(p, ifs)
		}
	}
}

// split cuts known text at the characters of IFS. Blanks run together; any other
// character of IFS ends a field, an empty one too.
func (b *fieldBuilder) split(p value.Piece, ifs string) {
	text := p.Text
	start := 0
	blank := false // a blank has just ended a field: a delimiter after it belongs to it
	flush := func(end int) {
		if end > start {
			blank = false
			part := p
			part.Text = text[start:end]
			b.add(value.Value{part})
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

// param adds a parameter expansion, which may be several fields; more says that something follows. A part of names
// that alone would be a pattern for all names is unknown.
func (b *fieldBuilder) param(p *syntax.ParamExp, quoted, more bool) {
	list, all := b.w.parameter(p, quoted)
	if p.Exp != nil && !more && !all && len(list[0]) == 1 && list[0][0].Glob && strings.Trim(path.Base(list[0].Text()), "*?.") == "" {
		list[0] = value.Blurred(b.w.raw(p), list[0])
	}
	if e := p.Exp; e != nil && isDefaultOp(e.Op) && e.Word != nil && !quoted && !b.whole &&
		slices.ContainsFunc(e.Word.Parts, hasQuotes) && (list[0].Text() == "" || strings.ContainsAny(list[0].Text(), " \t\n*?[")) {
		b.add(value.Blurred(b.w.raw(p), list[0])) // quoted parts are not split, and are words even if empty
		return
	}
	if !all {
		// A list that is not known is any number of words, also in quotes.
		several := p.Names != 0 || p.Param != nil && p.Param.Value == "@" || indexWord(p.Index) == "@"
		b.expansion(list[0], quoted && !(several && list[0].Dynamic()))
		return
	}
	if star := p.Param.Value == "*" || indexWord(p.Index) == "*"; star && (quoted || b.whole) {
		b.expansion(b.w.starJoin(list), quoted)
		return
	}
	for i, v := range list {
		if i > 0 {
			if b.whole {
				b.add(value.Known(" "))
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
