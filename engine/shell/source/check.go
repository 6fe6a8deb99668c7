package source

import (
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Check refuses what must not reach a parser: what is too long or too deep for it, and
// bytes that it drops or reads otherwise than bash does.
func Check(text string, l shell.Limits) *shell.Error {
	if len(text) > l.Bytes {
		return &shell.Error{Kind: shell.ErrTooLong, Offset: l.Bytes, Detail: "split it into several commands or put it into a script file"}
	}
	if i := strings.IndexByte(text, 0); i >= 0 {
		return &shell.Error{Kind: shell.ErrNUL, Offset: i, Detail: "remove the NUL byte"}
	}
	for i, r := range text {
		if r == utf8.RuneError {
			if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
				return &shell.Error{Kind: shell.ErrEncoding, Offset: i, Detail: "write the text in UTF-8"}
			}
		}
		if r >= value.HoleOpen && r <= '\uFDEF' {
			return &shell.Error{Kind: shell.ErrControl, Offset: i, Detail: "remove the Unicode noncharacter"}
		}
	}
	if i := TooDeep(text, l.Nesting); i >= 0 {
		return &shell.Error{Kind: shell.ErrNesting, Offset: i, Detail: "nest fewer brackets, substitutions and quotes"}
	}
	return nil
}

// TooDeep returns the offset at which brackets, backquotes and double quotes nest deeper
// than limit, or -1. It reads quotes roughly: its purpose is to keep the parsers' stacks
// small, and the cap on the length of the text bounds what it gets wrong.
func TooDeep(text string, limit int) int {
	var stack []byte
	top := func() byte {
		if len(stack) == 0 {
			return 0
		}
		return stack[len(stack)-1]
	}
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++
		case '\'':
			if top() != '"' {
				if end := strings.IndexByte(text[i+1:], '\''); end >= 0 {
					i += end + 1
				}
			}
		case '"', '`':
			if top() == c {
				stack = stack[:len(stack)-1]
			} else {
				stack = append(stack, c)
			}
		case '(', '{':
			// Inside double quotes only a substitution nests.
			if top() != '"' || i > 0 && text[i-1] == '$' {
				stack = append(stack, c)
			}
		case ')', '}':
			if t := top(); t == '(' && c == ')' || t == '{' && c == '}' {
				stack = stack[:len(stack)-1]
			}
		}
		if len(stack) > limit {
			return i
		}
	}
	return -1
}

// invisible reports characters that show nothing or turn the direction of the text, so that
// a reader sees another command than the shell does.
func invisible(r rune) bool {
	switch {
	case r < 0x20:
		return r != '\t' && r != '\n'
	case r == 0x7F, r >= 0x80 && r <= 0x9F: // DEL, C1
		return true
	case r == 0xAD, r == 0x34F, r == 0x61C, r == 0x115F, r == 0x1160, r == 0x17B4, r == 0x17B5:
		return true
	case r >= 0x180B && r <= 0x180F, r >= 0x200B && r <= 0x200F, r >= 0x2028 && r <= 0x202E, r >= 0x2060 && r <= 0x206F:
		return true
	case r == 0x3164, r == 0xFEFF, r == 0xFFA0, r >= 0xFFF0 && r <= 0xFFFB, r >= 0xE0000 && r <= 0xE0FFF:
		return true
	default:
		return false
	}
}

// Invisible looks for invisible characters outside quotes, here-documents and comments.
// Inside those they are data: a commit message may hold a joined emoji.
func Invisible(f *syntax.File) *shell.Error {
	var found *shell.Error
	var visit func(syntax.Node) bool
	visit = func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Lit:
			for i, r := range n.Value {
				if found == nil && invisible(r) {
					found = &shell.Error{Kind: shell.ErrControl, Offset: int(n.ValuePos.Offset()) + i, Detail: "remove the invisible character, or quote it"}
				}
			}
		case *syntax.DblQuoted:
			for _, p := range n.Parts {
				if _, lit := p.(*syntax.Lit); !lit {
					syntax.Walk(p, visit)
				}
			}
			return false
		case *syntax.Redirect:
			syntax.Walk(n.Word, visit)
			if n.Hdoc != nil {
				for _, p := range n.Hdoc.Parts {
					if _, lit := p.(*syntax.Lit); !lit {
						syntax.Walk(p, visit)
					}
				}
			}
			return false
		}
		return found == nil
	}
	syntax.Walk(f, visit)
	return found
}
