package value

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// Decode returns what a program that turns one text into another makes of text. flags are its options, each behind
// a blank, args all its words, and files those that name its input.
func Decode(name, flags string, args, files []Arg, text string) (string, bool) {
	switch name {
	case "base64":
		if flags == "" {
			return base64.StdEncoding.EncodeToString([]byte(text)) + "\n", len(text) < 57
		}
		out, ok := base64Text(text)
		return out, ok && (flags == " -d" || flags == " -D" || flags == " --decode")
	case "openssl":
		if !strings.Contains(flags, "-d") || !strings.Contains(flags, "64") && !slices.ContainsFunc(files, func(a Arg) bool { return a.Text == "base64" }) {
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
		return strings.Join(lines, ""), flags == "" && ASCII(text) && name == "rev"
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
func translate(flags string, args []Arg, text string) (string, bool) {
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
	case !ASCII(text):
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
	plain, ok := Unescape(set, Escapes{Octal: true})
	simple := strings.NewReplacer(`\n`, "", `\t`, "", `\\`, "").Replace(set)
	octal := strings.Trim(set, `\01234567`) == ""
	if !ok || strings.Contains(set, "[") || !ASCII(plain) || strings.Contains(simple, `\`) && !octal {
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
