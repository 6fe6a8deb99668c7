package inline

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"unicode/utf8"
)

// decoder makes an evaluator of a function from text to text.
func decoder(f func(string) (string, bool)) evaluator {
	return func(s *scan, recv value, args []argument) value {
		if len(args) == 0 {
			return s.mapText(recv, true, f)
		}
		return s.mapText(args[0].v, true, f)
	}
}

// onReceiver applies f to the receiver instead of the first argument.
func onReceiver(f evaluator) evaluator {
	return func(s *scan, recv value, args []argument) value {
		return f(s, recv, []argument{{v: recv}})
	}
}

func decode64(t string) (string, bool) {
	t = strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\n', '\r', '\t', '=':
			return -1
		case '-':
			return '+'
		case '_':
			return '/'
		}
		return r
	}, t)
	b, err := base64.RawStdEncoding.DecodeString(t)
	return string(b), err == nil
}

func decode32(t string) (string, bool) {
	b, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(t), "="))
	return string(b), err == nil
}

func decodeHex(t string) (string, bool) {
	b, err := hex.DecodeString(strings.Join(strings.Fields(t), ""))
	return string(b), err == nil
}

func decodeURL(t string) (string, bool) {
	u, err := url.PathUnescape(t)
	return u, err == nil
}

func rot13(t string) (string, bool) {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return 'a' + (r-'a'+13)%26
		case r >= 'A' && r <= 'Z':
			return 'A' + (r-'A'+13)%26
		}
		return r
	}, t), true
}

func reverse(t string) (string, bool) {
	out := make([]byte, 0, len(t))
	for len(t) > 0 {
		_, n := utf8.DecodeLastRuneInString(t)
		out = append(out, t[len(t)-n:]...)
		t = t[:len(t)-n]
	}
	return string(out), true
}

// codec decodes by name, as codecs.decode and Buffer.from do.
func codec(name string) func(string) (string, bool) {
	switch strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(name)) {
	case "base64", "base64codec", "base64url":
		return decode64
	case "hex", "hexcodec":
		return decodeHex
	case "rot13":
		return rot13
	case "", "utf8", "ascii", "latin1", "iso88591", "binary", "unicodeescape":
		return nil
	default:
		return func(string) (string, bool) { return "", false }
	}
}

// decodeBy applies the codec that the n-th argument names to v.
func (s *scan) decodeBy(v value, args []argument, n int) value {
	if n >= len(args) {
		return v
	}
	name, ok := args[n].v.exact()
	if !ok {
		return value{}
	}
	f := codec(name)
	if f == nil {
		return v
	}
	return s.mapText(v, true, f)
}

// first is the value of the first argument.
func first(_ *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return value{}
	}
	return args[0].v
}

// receiver is the value of what the method is called on.
func receiver(_ *scan, recv value, _ []argument) value { return recv }

// firstText is the first argument made a text.
func firstText(_ *scan, _ value, args []argument) value {
	if len(args) == 0 {
		return textValue("")
	}
	v := args[0].v
	if v.kind == word {
		v.kind = text
	}
	return v
}

// characters is the text of character codes: chr(114), String.fromCharCode(114, 109), bytes([114]).
func characters(s *scan, _ value, args []argument) value {
	l := argList(args)
	if len(args) == 1 && args[0].v.kind == list {
		l = args[0].v
	}
	if l.open || !s.fold(len(l.list)) {
		return value{decoded: true}
	}
	var b strings.Builder
	for _, v := range l.list {
		n, ok := v.number()
		if !ok || n < 0 {
			return value{decoded: true}
		}
		b.WriteRune(rune(n))
	}
	out := textValue(b.String())
	out.decoded = true
	return out
}

// glue joins the elements of l with sep.
func (s *scan) glue(sep, l value) value {
	if l.kind != list {
		return value{}
	}
	out := textValue("")
	for i, v := range l.list {
		if i > 0 {
			out = s.concat(out, sep)
		}
		out = s.concat(out, v)
	}
	if l.open {
		out = openText(out)
	}
	return out
}

// pathJoin joins its arguments to a path.
func pathJoin(restart bool) evaluator {
	return func(s *scan, _ value, args []argument) value {
		var parts []value
		for _, a := range args {
			if a.splat {
				parts = append(parts, value{})
				break
			}
			parts = append(parts, a.v)
		}
		return s.join(restart, parts...)
	}
}

// constant always returns v.
func constant(v value) evaluator { return func(*scan, value, []argument) value { return v } }

// words splits a text at blanks.
func (s *scan) words(v value, sep string) value {
	t, ok := v.exact()
	if !ok || !s.fold(8*len(t)) {
		return value{kind: list, open: true}
	}
	parts := strings.Fields(t)
	if sep != "" {
		parts = strings.Split(t, sep)
	}
	out := value{kind: list}
	for _, p := range parts {
		w := textValue(p)
		w.decoded = v.decoded
		out.list = append(out.list, w)
	}
	return out
}
