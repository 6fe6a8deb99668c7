package value

import (
	"strings"
	"unicode/utf8"
)

// ASCII reports text that means the same in every locale.
func ASCII(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// escapes are the letters behind a backslash that stand for one character in every shell and locale.
const escapes, escaped = "abefnrtvE\\", "\a\b\x1b\f\n\r\t\v\x1b\\"

// Unescape replaces backslash escapes of one letter; with quotes set \' \" \? as well (Bash manual 3.1.2.4). What is
// no escape to any program stays as it is. The result is false where a number, a control character or the end of
// the text follows the backslash: programs, their versions and locales differ there.
func Unescape(s string, quotes bool) (string, bool) {
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
		at := strings.IndexByte(escapes, c)
		switch {
		case at >= 0:
			b.WriteByte(escaped[at])
		case quotes && strings.IndexByte(`'"?`, c) >= 0:
			b.WriteByte(c)
		case strings.IndexByte(`xuUc'"?01234567`, c) >= 0:
			return "", false
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String(), true
}
