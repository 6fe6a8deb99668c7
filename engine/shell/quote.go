package shell

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ansiC decodes the escapes of $'…' (Bash manual 3.1.2.4).
func ansiC(s string) string {
	return unescape(s, escapes{zeroOctal: false, quotes: true})
}

// escapes says which escapes a program knows.
type escapes struct {
	zeroOctal bool // \0nnn as in echo -e and printf %b; otherwise \nnn only
	quotes    bool // \' \" \? as in $'…' and printf formats
	stop      bool // \c ends the output, as in echo -e and printf %b
}

// unescape replaces backslash escapes. What is no escape stays as it is.
func unescape(s string, e escapes) string {
	text, _ := unescapeStop(s, e)
	return text
}

// unescapeStop is unescape that also reports whether \c ended the text.
func unescapeStop(s string, e escapes) (string, bool) {
	if strings.IndexByte(s, '\\') < 0 {
		return s, false
	}
	const simple = "abefnrtvE\\"
	const values = "\a\b\x1b\f\n\r\t\v\x1b\\"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		i++
		c := s[i]
		if k := strings.IndexByte(simple, c); k >= 0 {
			b.WriteByte(values[k])
			continue
		}
		switch {
		case c == 'c' && e.stop:
			return b.String(), true
		case c == 'c' && e.quotes && i+1 < len(s):
			i++
			b.WriteByte(s[i] & 0x1F)
		case e.quotes && (c == '\'' || c == '"' || c == '?'):
			b.WriteByte(c)
		case c == 'x':
			i += number(&b, s, i, 1, 2, 16, false)
		case c == 'u':
			i += number(&b, s, i, 1, 4, 16, true)
		case c == 'U':
			i += number(&b, s, i, 1, 8, 16, true)
		case c == '0' && e.zeroOctal:
			i += number(&b, s, i, 1, 3, 8, false)
		case c >= '0' && c <= '7':
			i += number(&b, s, i, 0, 3, 8, false)
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
		}
	}
	return b.String(), false
}

// number decodes up to most digits that stand from s[i+skip] on and returns how far to move.
func number(b *strings.Builder, s string, i, skip, most, base int, char bool) int {
	end := i + skip
	for end < len(s) && end-i-skip < most && digit(s[end]) < base {
		end++
	}
	n, err := strconv.ParseUint("0"+s[i+skip:end], base, 64)
	switch {
	case err != nil, end == i+skip && base == 16:
		b.WriteByte('\\')
		b.WriteByte(s[i])
	case char && n <= utf8.MaxRune:
		b.WriteRune(rune(n))
	default:
		b.WriteByte(byte(n))
	}
	return end - i - 1
}

func digit(c byte) int {
	switch {
	case c >= '0' && c <= '9':
		return int(c - '0')
	case c >= 'a' && c <= 'f':
		return int(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return int(c-'A') + 10
	default:
		return 99
	}
}
