package inline

import "strings"

// appleGrammar is AppleScript.
func appleGrammar() *grammar {
	return wordGrammar("applescript", []string{"--", "#"}, func(l *lexer) bool {
		if l.has("(*") {
			if n := strings.Index(l.src[l.i:], "*)"); n >= 0 {
				l.i += n + 2
			} else {
				l.i = len(l.src)
			}
			return true
		}
		return l.quoted(map[byte]literal{'"': {closer: `"`, esc: escC}})
	}, appleCommand)
}

func appleCommand(s *scan, toks []token) {
	for i := range toks {
		rest := toks[i:]
		switch {
		case len(rest) > 2 && rest[0].word("do") && rest[1].word("shell") && rest[2].word("script"):
			s.appleText(rest, 3)
		case len(rest) > 1 && rest[0].word("do") && rest[1].word("script"):
			s.appleText(rest, 2)
		case rest[0].word("run") && len(rest) > 2 && rest[1].word("script"):
			s.add(Call{Kind: Dynamic, Name: "run script", Offset: rest[0].pos})
		case rest[0].word("delete") && len(rest) > 1:
			for _, t := range rest[1:] {
				if t.kind == tokString {
					s.add(Call{Kind: Delete, Name: "delete", Args: []Arg{{Text: t.text, Exact: true}}, Offset: rest[0].pos})
				}
			}
		}
	}
}

// appleText reports the text behind do shell script, joined with &.
func (s *scan) appleText(toks []token, n int) {
	c := &call{s: s, name: "do shell script", pos: toks[0].pos}
	v := value{}
	if n < len(toks) && toks[n].kind == tokString {
		v = textValue(toks[n].text)
		for n+2 < len(toks) && toks[n+1].is("&") {
			n += 2
			if toks[n].kind == tokString {
				v = s.concat(v, textValue(toks[n].text))
			} else {
				v = s.concat(v, value{})
			}
		}
	}
	c.shell(v)
}
