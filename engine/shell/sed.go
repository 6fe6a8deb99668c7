package shell

import (
	"regexp"
	"slices"
	"strings"
)

// sedInPlace works out what sed -i makes of files whose content is known, by substitutions that need no more
// than plain text, the dot, and the anchors. It reports whether all is known.
func (w *walker) sedInPlace(inv *invocation) bool {
	var scripts []string
	var files []arg
	args := inv.args[1:]
	inPlace := false
	for i := 0; i < len(args); i++ {
		text, ok := args[i].val.exact()
		switch {
		case !ok || args[i].Glob:
			return false
		case text == "-i":
			inPlace = true
		case text == "-e" && i+1 < len(args):
			i++
			scripts = append(scripts, args[i].Text)
		case strings.HasPrefix(text, "-"):
			return false
		default:
			files = append(files, args[i])
		}
	}
	if len(scripts) == 0 && len(files) > 0 {
		scripts, files = []string{files[0].Text}, files[1:]
	}
	if !inPlace {
		return false
	}
	for _, f := range files {
		abs, ok := w.pathOf(f)
		if ok && w.absent(abs) {
			continue
		}
		content, found := w.contentOf(abs)
		text, exact := content.exact()
		if !ok || !found || !exact || !w.step(1+len(scripts)*len(text)/bytesPerStep) {
			return false
		}
		for _, s := range scripts {
			if text, ok = substituted(s, text); !ok {
				return false
			}
		}
		w.write(abs, value{{text: text, known: true, inputs: content.inputs()}}, []int{inv.idx}, false)
	}
	return true
}

// substituted returns text after s/PATTERN/TEXT/ on each of its lines, if that is simple enough.
func substituted(script, text string) (string, bool) {
	if len(script) < 4 || script[0] != 's' || !strings.ContainsRune("/|#,:@~!%", rune(script[1])) {
		return "", false
	}
	pattern, rest := sedPart(script[2:], script[1])
	replacement, flags := sedPart(rest, script[1])
	re, ok := basicPattern(pattern, script[1])
	replacement = strings.ReplaceAll(replacement, `\`+script[1:2], script[1:2])
	whole := (flags == "" || flags == "g") && strings.HasSuffix(script, script[1:2]+flags)
	if !ok || !whole || strings.ContainsAny(replacement, "&\\\n") {
		return "", false
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if i == len(lines)-1 && line == "" {
			break // no line, but the end of the one before
		}
		if flags == "g" {
			lines[i] = re.ReplaceAllLiteralString(line, replacement)
		} else if at := re.FindStringIndex(line); at != nil {
			lines[i] = line[:at[0]] + replacement + line[at[1]:]
		}
	}
	text = strings.Join(lines, "\n")
	return text, !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}

// basicPattern translates a basic regular expression without repetition, groups or classes.
func basicPattern(pattern string, delimiter byte) (*regexp.Regexp, bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern) && slices.Contains(append([]byte(`.*[]^$\`), delimiter), pattern[i+1]):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		case c == '\\' || c == '*' || c == '[' || c == '\n' || c == '^' && i > 0 || c == '$' && i < len(pattern)-1:
			return nil, false
		case c == '.' || c == '^' || c == '$':
			b.WriteByte(c)
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	re, err := regexp.Compile(b.String())
	return re, err == nil && pattern != ""
}
