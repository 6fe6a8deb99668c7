package shell

import (
	"strconv"
	"strings"
)

// ansiC decodes the escapes of $'…' (Bash manual 3.1.2.4), as far as they read the same in every locale. A NUL
// ends the text: what follows it in the same quotes is lost.
func ansiC(s string) (string, bool) {
	text, ok := unescape(s, escapes{octal: true, quotes: true})
	text, _, _ = strings.Cut(text, "\x00")
	return text, ok
}

// escapes says which escapes a program knows besides \n and its like, \xHH and \uHHHH.
type escapes struct {
	zeroOctal bool // \0nnn, as in echo -e and printf %b
	octal     bool // \nnn
	quotes    bool // \' \" \? as in $'…' and printf formats
}

// unescape replaces backslash escapes. What is no escape to any program stays as it is. The result is false where
// programs, their versions or locales differ: \c, \x{…}, characters outside ASCII, octal numbers past a byte.
func unescape(s string, e escapes) (string, bool) {
	const simple = "abefnrtvE\\"
	const values = "\a\b\x1b\f\n\r\t\v\x1b\\"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i == len(s) {
			return "", false
		}
		c := s[i]
		digits, base, most := s[i+1:], 16, byte(0x7F)
		switch {
		case strings.IndexByte(simple, c) >= 0:
			b.WriteByte(values[strings.IndexByte(simple, c)])
			continue
		case e.quotes && (c == '\'' || c == '"' || c == '?'):
			b.WriteByte(c)
			continue
		case c == 'x':
			digits, most = upTo(digits, 2, base), 0xFF
		case c == 'u':
			digits = upTo(digits, 4, base)
		case c == 'U':
			digits = upTo(digits, 8, base)
		case c == '0' && e.zeroOctal:
			base, most = 8, 0xFF
			digits = "0" + upTo(digits, 3, base)
			i--
		case c >= '0' && c <= '7' && e.octal:
			base, most = 8, 0xFF
			digits = upTo(s[i:], 3, base)
			i--
		case c == 'c' || c == '\'' || c == '"' || c == '?' || digit(c) < 8:
			return "", false
		default:
			b.WriteByte('\\')
			b.WriteByte(c)
			continue
		}
		n, err := strconv.ParseUint(digits, base, 32)
		if err != nil || n > uint64(most) || base == 16 && n == 0 && c != 'x' {
			return "", false
		}
		b.WriteByte(byte(n))
		i += len(digits)
	}
	return b.String(), true
}

// upTo returns the digits that s begins with, at most n.
func upTo(s string, n, base int) string {
	end := 0
	for end < len(s) && end < n && digit(s[end]) < base {
		end++
	}
	return s[:end]
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
