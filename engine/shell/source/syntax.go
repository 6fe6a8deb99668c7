// Package source makes a syntax tree of a shell text, or refuses it.
//
// It promises that a text which it returns a tree for reads the same to bash: here-documents end where bash ends them,
// comments end with their line, and bytes that a parser drops or reads otherwise are refused, as is all that nests too
// deep for one. The depth is checked before any parser sees the text.
//
// It evaluates nothing and knows no commands; what a tree does is the business of package walk.
package source

import (
	"errors"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// Parse parses one text, without regard to limits.
func Parse(text string, posix bool) (*syntax.File, *shell.Error) {
	if i := strings.IndexByte(text, '\r'); i >= 0 {
		return nil, &shell.Error{Kind: shell.ErrCR, Offset: i, Detail: `write line ends as \n, and a carriage return as $'\r'`}
	}
	lang := syntax.LangBash
	if posix {
		lang = syntax.LangPOSIX
	}
	text, ok := endComments(text, lang)
	if !ok {
		return nil, &shell.Error{Kind: shell.ErrSyntax, Offset: -1, Detail: "comments that end with a backslash: remove them"}
	}
	file, err := syntax.NewParser(syntax.Variant(lang)).Parse(strings.NewReader(text), "")
	if err == nil {
		if err := heredocsAgree(file, text); err != nil {
			return nil, err
		}
		return file, nil
	}
	e := &shell.Error{Kind: shell.ErrSyntax, Offset: -1, Detail: err.Error()}
	if p, ok := errors.AsType[syntax.ParseError](err); ok {
		e.Offset, e.Detail = int(p.Pos.Offset()), p.Text
	} else if l, ok := errors.AsType[syntax.LangError](err); ok {
		e.Offset = int(l.Pos.Offset())
	}
	return nil, e
}

// maxComments is how often a text may be read again because of its comments.
const maxComments = 20

// endComments returns text with a blank in place of each backslash at the end of a comment.
// A comment ends with its line in every shell; the parser joins the next one to it, and
// would not see a command there.
func endComments(text string, lang syntax.LangVariant) (string, bool) {
	for range maxComments {
		if !strings.Contains(text, "\\\n") || !strings.Contains(text, "#") {
			return text, true
		}
		file, err := syntax.NewParser(syntax.Variant(lang), syntax.KeepComments(true)).Parse(strings.NewReader(text), "")
		if err != nil {
			return text, true // which is then refused
		}
		ends := commentEnds(file, text)
		if len(ends) == 0 {
			return text, true
		}
		b := []byte(text)
		for _, i := range ends {
			b[i] = ' '
		}
		text = string(b)
	}
	return "", false
}

// maxTree is how deep the nodes of a text may nest, so that the stack of a walk stays small: each command of
// a list or a pipeline lies two nodes below the next one, and no list of half as many commands is read.
const maxTree = 10_000

// commentEnds are the offsets of the backslashes at the ends of comments.
func commentEnds(file *syntax.File, text string) []int {
	var ends []int
	depth := 0
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			depth--
			return true
		}
		depth++
		if c, ok := n.(*syntax.Comment); ok {
			from := int(c.Pos().Offset())
			if end := strings.IndexByte(text[from:], '\n'); end > 0 && text[from+end-1] == '\\' {
				ends = append(ends, from+end-1)
			}
		}
		return depth < maxTree
	})
	return ends
}
