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

// escapes are the letters behind a backslash that stand for one character in every shell and locale.
const escapes, escaped = "abefnrtvE\\", "\a\b\x1b\f\n\r\t\v\x1b\\"

// Numbered reports an escape that gives a visible character of ASCII by its number, such as \x72, \162 or
// \u0072.
func Numbered(s string) bool {
	for {
		_, rest, found := strings.Cut(s, "\\")
		if !found || rest == "" {
			return false
		}
		digits, of, base, most := rest, "01234567", 8, 3
		if n := strings.IndexByte("xuU", rest[0]); n >= 0 {
			digits, of, base, most = rest[1:], "0123456789abcdefABCDEF", 16, 2<<n
		} else if rest[0] == '0' {
			digits = rest[1:]
		}
		digits = digits[:min(most, len(digits))]
		digits = digits[:len(digits)-len(strings.TrimLeft(digits, of))]
		if code, err := strconv.ParseUint(digits, base, 32); err == nil && code > ' ' && code < 0x7f {
			return true
		}
		s = rest[1:]
	}
}

// Masks reports the source of a word with a pattern of file names as its last part, without a variable or a
// substitution, or with letters that are given by numbers: /usr/bin/c?t, $'\143at'.
func Masks(source string) bool {
	if _, quoted, found := strings.Cut(source, "$'"); found {
		return Numbered(quoted)
	}
	if strings.ContainsAny(source, "$`") {
		return false
	}
	return strings.ContainsAny(source[strings.LastIndexByte(source, '/')+1:], "*?[")
}

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
