package value

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// ASCII reports text that means the same in every locale.
func ASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// ANSI decodes the escapes of $'…' (Bash manual 3.1.2.4), as far as they read the same in every locale. A NUL
// ends the text: what follows it in the same quotes is lost.
func ANSI(s string) (string, bool) {
	text, ok := Unescape(s, Escapes{Octal: true, Quotes: true})
	text, _, _ = strings.Cut(text, "\x00")
	return text, ok
}

// Escapes says which escapes a program knows besides \n and its like, \xHH and \uHHHH.
type Escapes struct {
	ZeroOctal bool // \0nnn, as in echo -e and printf %b
	Octal     bool // \nnn
	Quotes    bool // \' \" \? as in $'…' and printf formats
}

// Unescape replaces backslash escapes. What is no escape to any program stays as it is. The result is false where
// programs, their versions or locales differ: \c, \x{…}, characters outside ASCII, octal numbers past a byte.
func Unescape(s string, e Escapes) (string, bool) {
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
		case e.Quotes && (c == '\'' || c == '"' || c == '?'):
			b.WriteByte(c)
			continue
		case c == 'x':
			digits, most = UpTo(digits, 2, base), 0xFF
		case c == 'u':
			digits = UpTo(digits, 4, base)
		case c == 'U':
			digits = UpTo(digits, 8, base)
		case c == '0' && e.ZeroOctal:
			base, most = 8, 0xFF
			digits = "0" + UpTo(digits, 3, base)
			i--
		case c >= '0' && c <= '7' && e.Octal:
			base, most = 8, 0xFF
			digits = UpTo(s[i:], 3, base)
			i--
		case c == 'c' || c == '\'' || c == '"' || c == '?' || Digit(c) < 8:
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

// UpTo returns the digits that s begins with, at most n.
func UpTo(s string, n, base int) string {
	end := 0
	for end < len(s) && end < n && Digit(s[end]) < base {
		end++
	}
	return s[:end]
}

// Digit is the value of a digit, 99 for what is none.
func Digit(c byte) int {
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
