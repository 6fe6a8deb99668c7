package endtoend

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// stepsOf is the part of a guide that a test does, from its first step to its last.
func stepsOf(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _ := strings.Cut(string(text), "<!-- steps -->")
	steps, _, ok := strings.Cut(steps, "<!-- /steps -->")
	if !ok {
		t.Fatalf("%s has no marks around its steps", file)
	}
	return steps
}

// block is a fenced block with the mark above it, if there is one.
type block struct{ mark, text string }

// blocks are the fenced blocks of a text.
func blocks(text string) []block {
	var out []block
	for _, m := range regexp.MustCompile("(?s)(?:<!-- ((?:write|from) [^ ]+) -->\n)?```[a-z]*\n(.*?)```\n").FindAllStringSubmatch(text, -1) {
		out = append(out, block{m[1], m[2]})
	}
	return out
}

// shown is a command of a guide with the lines below it.
type shown struct{ text, output string }

// shownIn are the commands of a block.
func shownIn(text string) []shown {
	var out []shown
	for line := range strings.Lines(text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			out = append(out, shown{text: strings.TrimSpace(c)})
		} else if len(out) > 0 {
			out[len(out)-1].output += line
		}
	}
	return out
}

// steady replaces what differs from run to run.
func steady(s string) string {
	for _, r := range []struct{ from, to string }{
		{`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`, "ID"},
		{`\d{4}-\d\d-\d\dT[\d:.]+Z`, "TIME"},
		{`process \d+-\d+`, "process N"},
		{`after [\d.]+m?s`, "after SOME TIME"},
		{`(records|checkpoints) +\d+`, "$1 SOME"}, // a slow machine writes a checkpoint more
		{` +\n`, "\n"},
	} {
		s = regexp.MustCompile(r.from).ReplaceAllString(s, r.to)
	}
	return s
}

// shows reports whether an output is as it is shown: runs of blanks count as one, and "…" is anything on its line.
func shows(want, got string) bool {
	blanks := regexp.MustCompile(` +`)
	tidy := func(s string) []string {
		return strings.Split(strings.TrimSpace(blanks.ReplaceAllString(s, " ")), "\n")
	}
	lines, have := tidy(want), tidy(got)
	if len(lines) != len(have) {
		return false
	}
	for i, line := range lines {
		pattern := "^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(line)), "…", ".*") + "$"
		if !regexp.MustCompile(pattern).MatchString(strings.TrimSpace(have[i])) {
			return false
		}
	}
	return true
}
