package shell

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"
)

// filter evaluates programs that turn standard input, or a file, into other text.
func (w *walker) filter(inv *invocation, name string, args []arg) (value, bool) {
	var flags string
	var files []arg
	for _, a := range args {
		if a.Certainty != Exact {
			return nil, false
		}
		if len(a.Text) > 1 && a.Text[0] == '-' {
			flags += " " + a.Text
		} else {
			files = append(files, a)
		}
	}
	in, ok := value(nil), false
	switch {
	case name == "tr" || name == "openssl" || name == "tee" || len(files) == 0:
		if s := w.stdin(); s != nil && len(s.text) > 0 {
			in, ok = s.text, true
		}
	default:
		ok = true
		for _, f := range files {
			text, found := w.content(f.val)
			ok = ok && found
			in = append(in, text...)
		}
	}
	if name == "tee" {
		w.tee(inv, files, in, ok, flags)
		return in, ok
	}
	if !ok {
		return nil, false
	}
	if name == "cat" {
		return in, flags == ""
	}
	text, exact := in.exact()
	if !exact {
		return nil, false
	}
	out, ok := decode(name, flags, args, files, text)
	return value{{text: out, known: true, decoded: true}}, ok
}

// tee writes its input to files too.
func (w *walker) tee(inv *invocation, files []arg, in value, ok bool, flags string) {
	if !ok {
		in = unknown("", nil)
	}
	for _, f := range files {
		if p, found := w.fileHere(f); found {
			w.write(p, in, []int{inv.idx}, strings.Contains(flags, "a"))
		}
	}
}

func decode(name, flags string, args, files []arg, text string) (string, bool) {
	switch name {
	case "base64":
		if flags == "" {
			return base64.StdEncoding.EncodeToString([]byte(text)) + "\n", len(text) < 57
		}
		out, ok := base64Text(text)
		return out, ok && (flags == " -d" || flags == " -D" || flags == " --decode")
	case "openssl":
		if !strings.Contains(flags, "-d") || !strings.Contains(flags, "64") && !slices.ContainsFunc(files, func(a arg) bool { return a.Text == "base64" }) {
			return "", false
		}
		out, ok := base64Text(text)
		return out, ok && (len(text) <= 64 || strings.Contains(flags, "-A"))
	case "xxd":
		if strings.Trim(flags, " -rps") != "" || !strings.Contains(flags, "r") || !strings.Contains(flags, "p") {
			return "", false
		}
		b, err := hex.DecodeString(strings.Join(strings.Fields(text), ""))
		return string(b), err == nil
	case "rev", "tac":
		lines := strings.SplitAfter(text, "\n")
		if name == "tac" && len(files) < 2 {
			slices.Reverse(lines)
			return strings.Join(lines, ""), flags == ""
		}
		for i, l := range lines {
			r := []rune(strings.TrimSuffix(l, "\n"))
			slices.Reverse(r)
			lines[i] = string(r) + l[len(strings.TrimSuffix(l, "\n")):]
		}
		return strings.Join(lines, ""), flags == "" && ascii(text) && name == "rev"
	case "tr":
		return translate(flags, args, text)
	default:
		return "", false
	}
}

func base64Text(text string) (string, bool) {
	text = strings.TrimRight(strings.ReplaceAll(text, "\n", ""), "=")
	b, err := base64.RawStdEncoding.DecodeString(text)
	return string(b), err == nil
}

// translate does tr SET1 SET2 and tr -d SET1 for plain characters, ranges and the usual classes.
func translate(flags string, args []arg, text string) (string, bool) {
	var sets []string
	for _, a := range args {
		if len(a.Text) > 1 && a.Text[0] == '-' {
			continue
		}
		set, ok := characters(a.Text)
		if !ok {
			return "", false
		}
		sets = append(sets, set)
	}
	switch {
	case !ascii(text):
		return "", false
	case flags == " -d" && len(sets) == 1:
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(sets[0], r) {
				return -1
			}
			return r
		}, text), true
	case flags == "" && len(sets) == 2 && sets[1] != "":
		from, to := sets[0], sets[1]
		return strings.Map(func(r rune) rune {
			if i := strings.LastIndexByte(from, byte(r)); i >= 0 {
				return rune(to[min(i, len(to)-1)])
			}
			return r
		}, text), true
	default:
		return "", false
	}
}

// classes are the sets of tr that have a name.
var classes = map[string]string{"[:upper:]": "A-Z", "[:lower:]": "a-z", "[:digit:]": "0-9", "[:space:]": " \t\n\v\f\r", "[:blank:]": " \t"}

// characters spells out a set of tr. Of the notations in brackets only a single class is known.
func characters(set string) (string, bool) {
	if class, ok := classes[set]; ok {
		set = class
	}
	plain, ok := unescape(set, escapes{octal: true})
	simple := strings.NewReplacer(`\n`, "", `\t`, "", `\\`, "").Replace(set)
	octal := strings.Trim(set, `\01234567`) == ""
	if !ok || strings.Contains(set, "[") || !ascii(plain) || strings.Contains(simple, `\`) && !octal {
		return "", false
	}
	if plain != set && strings.Contains(plain, "-") {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(plain); i++ {
		if i+2 >= len(plain) || plain[i+1] != '-' {
			b.WriteByte(plain[i])
			continue
		}
		if plain[i] > plain[i+2] {
			return "", false
		}
		for c := plain[i]; c <= plain[i+2]; c++ {
			b.WriteByte(c)
		}
		i += 2
	}
	return b.String(), true
}

// ascii reports text that means the same in every locale.
func ascii(text string) bool {
	return strings.IndexFunc(text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}
