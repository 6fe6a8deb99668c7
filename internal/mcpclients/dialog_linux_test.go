package mcpclients

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/live"
)

// moves are the control sequences of a terminal.
var moves = regexp.MustCompile(`\x1b\[[0-9;?<>=]*[A-Za-z]|\x1b\][^\x07]*\x07`)

// words are the texts that were drawn, without the moves and blanks between them.
func (s *terminal) words() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(bytes.ReplaceAll(moves.ReplaceAll(s.drawn, nil), []byte(" "), nil))
}

func (s *terminal) size() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.drawn)
}

func (s *terminal) says(text string) bool {
	return strings.Contains(s.words(), strings.ReplaceAll(text, " ", ""))
}

// TestClaudeDialog holds that the dialog of Claude Code shows the rule, the part of a command that it is about,
// and the reason, though it shows the first lines of a question only. A command of several lines runs after a
// typed word alone.
func TestClaudeDialog(t *testing.T) {
	t.Parallel()
	a := agents(t)[0]
	const down = "\x1b[B"
	const tidy = "echo step one: tidy up\necho two\ngit branch -D old; git push --delete origin main\ntouch ran"
	// Each key with the text that Claude Code draws for it.
	yes, next := [][2]string{{" ", "☒"}}, [][2]string{{down, "❯ Comment"}}
	accept := [][2]string{{down, "❯ Accept"}}
	word := func(text string) [][2]string {
		return [][2]string{{down, "❯ To run all of it, type the word run"}, {text, "the word run: " + text}}
	}
	for name, c := range map[string]struct {
		command string
		keys    [][2]string
		shown   string
		made    string
	}{
		"one line": {"git branch -D old; touch ran", slices.Concat(yes, next, accept),
			"git/delete_ref: git branch -D old: agent asks", "ran"},
		"lines and another word": {tidy, slices.Concat(yes, next, word("yes"), accept),
			"git/delete_ref: git branch -D old (line 3 of 4) and 1 more", ""},
		"lines and the word": {tidy, slices.Concat(yes, next, word("run"), accept),
			"Line 3: git branch -D old. Line 3: git push --delete origin main. It has 4 lines", "ran"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, env := arm(t, a, "")
			p.sallyport(t, "setup", "--agent", a.name, "--workspace", p.workspace, "--yes")
			p.settings(t, "workspace: "+p.workspace+"\n")
			p.mustRun(t, "", "git", "init", "-q", "-b", "main")
			m, err := live.Serve(live.Script{Main: []live.Call{
				{Tool: "mcp__sallyport__execute_command", Input: map[string]any{"command": c.command}},
			}})
			must(t, err)
			defer m.Close()
			var screen terminal
			keys := p.sit(t, a, m.URL, env, &screen)
			await.True(t, "Claude Code asks", func() bool {
				return screen.says("Esc to cancel") || len(m.Results(false)) > 0
			})
			for _, want := range []string{c.shown, "Branch, tag or remote reference deleted: git branch -D old."} {
				if !screen.says(want) {
					t.Errorf("the dialog does not show %q", want)
				}
			}
			if got := p.made(t); got != "" {
				t.Errorf("before the answer it made %s", got)
			}
			drawn := screen.size()
			await.True(t, "Claude Code goes on drawing", func() bool { return screen.size() > drawn })
			for _, key := range c.keys {
				_, err = keys.WriteString(key[0])
				must(t, err)
				await.True(t, key[1]+" is shown", func() bool { return screen.says(key[1]) })
			}
			looks := 0 // an Enter right after a move is lost, and one without a dialog does nothing
			await.True(t, "the call has a result", func() bool {
				if looks++; looks%200 == 1 {
					_, err = keys.WriteString("\r")
					must(t, err)
				}
				return len(m.Results(false)) > 0
			})
			if got := p.made(t); got != c.made {
				t.Errorf("after the answer it made %q, want %q: %q", got, c.made, m.Results(false))
			}
		})
	}
}
