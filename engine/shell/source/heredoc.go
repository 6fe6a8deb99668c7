package source

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
	"github.com/sallyport-dev/sallyport/engine/shell"
)

// plainDelimiter is a delimiter of a here-document from which every shell removes the same quotes.
var plainDelimiter = lazyregexp.New(`^(?:[\w.:@%+=,/!-]|\\\w|'[^'\\\n\r]*'|"[^"\\\n\r$` + "`" + `]*")+$`)

// unquoteDelimiter removes the quotes of a plain delimiter.
var unquoteDelimiter = strings.NewReplacer(`\`, "", `'`, "", `"`, "")

// bodies compares the bodies of here-documents, in the order of their operators, with those that bash reads.
type bodies struct {
	text    string
	newline int // the end of the line that the last operator stood on
	next    int // the offset after the last body and its delimiter
}

// heredocsAgree refuses a text in which bash does not find the end of every here-document where the parser
// found it, and a text with nodes that nest too deeply to walk. The parser minds quotes in ${x:-'} and does
// not join lines before it looks for the delimiter.
func heredocsAgree(file *syntax.File, text string) *shell.Error {
	b, agree, deep := bodies{text: text, newline: -1}, true, false
	var stack []syntax.Node
	syntax.Walk(file, func(n syntax.Node) bool {
		if n == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		if r, ok := n.(*syntax.Redirect); ok && (r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc) {
			agree = agree && b.agrees(r, stack)
		}
		stack = append(stack, n)
		deep = deep || len(stack) == maxTree
		return !deep
	})
	switch {
	case deep:
		return &shell.Error{Kind: shell.ErrNesting, Offset: -1, Detail: "split the list into several commands"}
	case !agree:
		return &shell.Error{Kind: shell.ErrSyntax, Offset: -1,
			Detail: "a here-document whose end is not clear: write it plainly"}
	}
	return nil
}

func (b *bodies) agrees(r *syntax.Redirect, around []syntax.Node) bool {
	from := int(r.Word.End().Offset())
	word := b.text[r.Word.Pos().Offset():from]
	line := strings.IndexByte(b.text[from:], '\n')
	if line < 0 || !plainDelimiter.MatchString(word) {
		return false
	}
	line += from
	start := line + 1
	if line == b.newline {
		start = b.next
	} else if from < b.next {
		return false
	}
	stop := unquoteDelimiter.Replace(word)
	end, lineEnd, ok := bodyEnd(b.text, start, stop, stop == word, r.Op == syntax.DashHdoc)
	if !ok || !hdocSpans(r, b.text, start, end, lineEnd) {
		return false
	}
	b.newline, b.next = line, lineEnd+1
	return nestedAgrees(b.text[start:end], stop, around)
}

// bodyEnd finds the line of the delimiter as bash does, and the end of that line.
func bodyEnd(text string, start int, stop string, join, tabs bool) (end, lineEnd int, ok bool) {
	for start < len(text) {
		var line strings.Builder
		i := start
		for ; i < len(text) && text[i] != '\n'; i++ {
			if join && text[i] == '\\' && i+1 < len(text) {
				i++
				if text[i] == '\n' {
					continue
				}
				line.WriteByte('\\')
			}
			line.WriteByte(text[i])
		}
		got := line.String()
		if tabs {
			got = strings.TrimLeft(got, "\t")
		}
		if got == stop {
			return start, i, true
		}
		start = i + 1
	}
	return 0, 0, false
}

// hdocSpans reports whether the parser read the same body. Its span begins after leading tabs of <<- and ends with
// the line of the delimiter.
func hdocSpans(r *syntax.Redirect, text string, start, end, lineEnd int) bool {
	if r.Hdoc == nil || len(r.Hdoc.Parts) == 0 {
		return start == end
	}
	from, to := int(r.Hdoc.Pos().Offset()), int(r.Hdoc.End().Offset())
	if from < start || from > end || to != lineEnd {
		return false
	}
	return from == start || r.Op == syntax.DashHdoc && strings.Trim(text[start:from], "\t") == ""
}

// nestedAgrees refuses bodies that a substitution or another body around them changes or ends.
func nestedAgrees(body, stop string, around []syntax.Node) bool {
	for _, n := range around {
		switch n := n.(type) {
		case *syntax.Redirect:
			if n.Op == syntax.Hdoc || n.Op == syntax.DashHdoc {
				return false
			}
		case *syntax.CmdSubst:
			if n.Backquotes && strings.ContainsAny(body, "\\`") {
				return false
			}
		case *syntax.ProcSubst:
		default:
			continue
		}
		for line := range strings.SplitSeq(strings.ReplaceAll(body, "\\\n", ""), "\n") {
			rest, found := strings.CutPrefix(strings.TrimLeft(line, "\t"), stop)
			if found && strings.Contains(rest, ")") {
				return false
			}
		}
	}
	return true
}
