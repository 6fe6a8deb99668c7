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
		c, n := numbered(rest)
		if n == 0 && rest[0] == '0' { // four digits to printf %b
			c, n = numbered(rest[1:])
		}
		if n > 0 && c > ' ' {
			return true
		}
		s = rest[1:]
	}
}

// numbered reads a printable character of ASCII that a number behind a backslash gives, and the length of
// that number in bytes: 0 where there is none.
func numbered(s string) (c byte, length int) {
	of, base, from, most := "01234567", 8, 0, 3
	if s == "" {
		return 0, 0
	}
	if n := strings.IndexByte("xuU", s[0]); n >= 0 {
		of, base, from, most = "0123456789abcdefABCDEF", 16, 1, 2<<n
	}
	to := from
	for to < len(s) && to-from < most && strings.IndexByte(of, s[to]) >= 0 {
		to++
	}
	code, err := strconv.ParseUint(s[from:to], base, 32)
	if err != nil || code < ' ' || code > '~' {
		return 0, 0
	}
	return byte(code), to
}

// Masks reports the source of a word with a pattern of file names as its last part, without a variable or a
// substitution, or with letters that are given by numbers: /usr/bin/c?t, $'\143at\0'.
func Masks(source string) bool {
	if _, quoted, found := strings.Cut(source, "$'"); found {
		return Numbered(quoted)
	}
	if strings.ContainsAny(source, "$`") {
		return false
	}
	return strings.ContainsAny(source[strings.LastIndexByte(source, '/')+1:], "*?[")
}

// ANSI is the text of $'…' in bash (manual, 3.1.2.4): Unescape with quotes, and printable characters of
// ASCII by their numbers. Other numbers mean different bytes in different locales, or end the text.
func ANSI(s string) (string, bool) { return unescape(s, true, true) }

// Unescape replaces backslash escapes of one letter; with quotes set \' \" \? as well (Bash manual 3.1.2.4).
// Text that is no escape to any program stays as it is. The result is false where a number, a control
// character or the end of the text follows the backslash: programs, their versions and locales differ there.
func Unescape(s string, quotes bool) (string, bool) { return unescape(s, quotes, false) }

func unescape(s string, quotes, numbers bool) (string, bool) {
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
		number, length := numbered(s[i:])
		switch {
		case at >= 0:
			b.WriteByte(escaped[at])
		case quotes && strings.IndexByte(`'"?`, c) >= 0:
			b.WriteByte(c)
		case numbers && length > 0:
			b.WriteByte(number)
			i += length - 1
		case strings.IndexByte(`xuUc'"?01234567`, c) >= 0:
			return "", false
		default:
			b.WriteString(s[i-1 : i+1])
		}
	}
	return b.String(), true
}
