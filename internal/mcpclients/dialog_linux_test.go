package mcpclients

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/internal/leftout"
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

// Texts that Claude Code draws for keys in its dialog, and the keys.
const down = "\x1b[B"

var (
	yes     = [][2]string{{" ", "☒"}}
	next    = [][2]string{{down, "❯ Comment"}}
	accept  = [][2]string{{down, "❯ Accept"}}
	decline = [][2]string{{down, "❯ Comment"}, {down, "❯ Accept"}, {"\x1b[C", "❯ Decline"}}
)

// dialog has Claude Code at a terminal call for a command, holds that its dialog shows texts while nothing of
// the command was done, and answers by keys. It returns the result that the model reads.
func (p armed) dialog(t *testing.T, env []string, command string, shown []string, keys [][2]string) string {
	t.Helper()
	p.sallyport(t, "setup", "--agent", p.agent.name, "--workspace", p.workspace, "--yes")
	before := p.made(t)
	m, err := live.Serve(live.Script{Main: []live.Call{
		{Tool: "mcp__sallyport__execute_command", Input: map[string]any{"command": command}},
	}})
	must(t, err)
	defer m.Close()
	var screen terminal
	tty := p.sit(t, p.agent, m.URL, env, &screen)
	await.True(t, "Claude Code asks", func() bool {
		return screen.says("Esc to cancel") || len(m.Results(false)) > 0
	})
	if said := m.Results(false); len(said) > 0 {
		t.Fatalf("Claude Code does not ask: %q", said)
	}
	for _, want := range shown {
		if !screen.says(want) {
			t.Errorf("the dialog does not show %q", want)
		}
	}
	if got := p.made(t); got != before {
		t.Errorf("before the answer it made %s", got)
	}
	drawn := screen.size()
	await.True(t, "Claude Code goes on drawing", func() bool { return screen.size() > drawn })
	for _, key := range keys {
		_, err = tty.WriteString(key[0])
		must(t, err)
		await.True(t, key[1]+" is shown", func() bool { return screen.says(key[1]) })
	}
	looks := 0 // an Enter right after a move is lost, and one without a dialog does nothing
	await.True(t, "the call has a result", func() bool {
		if looks++; looks%200 == 1 {
			_, err = tty.WriteString("\r")
			must(t, err)
		}
		return len(m.Results(false)) > 0
	})
	return m.Results(false)[0]
}

// TestClaudeDialog holds that the dialog of Claude Code shows the rule, the part of a command that it is about,
// and the reason, though it shows the first lines of a question only. A command of several lines runs after a
// typed word alone.
func TestClaudeDialog(t *testing.T) {
	t.Parallel()
	a := agents(t)[0]
	const tidy = "echo step one: tidy up\necho two\ngit branch -D old; git push --delete origin main\ntouch ran"
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
			p.settings(t, "workspace: "+p.workspace+"\n")
			p.mustRun(t, "", "git", "init", "-q", "-b", "main")
			said := p.dialog(t, env, c.command,
				[]string{c.shown, "Branch, tag or remote reference deleted: git branch -D old."}, c.keys)
			if got := p.made(t); got != c.made {
				t.Errorf("after the answer it made %q, want %q: %q", got, c.made, said)
			}
		})
	}
}

// TestClaudeDialogOfProgram holds that make waits while the dialog of Claude Code asks about a program of its
// recipe. The program starts after a yes alone. Otherwise the recipe fails, and the model reads the refusal.
func TestClaudeDialogOfProgram(t *testing.T) {
	t.Parallel()
	a := agents(t)[0]
	leftout.Command(t, "make")
	const refused = "refused to start: ./npm publish (by make -> sh run.sh): system/publish"
	for name, c := range map[string]struct {
		keys [][2]string
		says map[string]bool
		made string
	}{
		"accept": {slices.Concat(yes, next, accept),
			map[string]bool{`"success":true`: true, `published\nit ended`: true, refused: false},
			"Makefile npm published run.sh steps"},
		"decline": {decline,
			map[string]bool{"it ended": false, refused: true, "Error 126": true}, "Makefile npm run.sh steps"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, env := arm(t, a, "")
			p.settings(t, "workspace: "+p.workspace+"\nprograms: {mode: judged, ask: wait}\n")
			p.write(t, "Makefile", "all:\n\t@sh run.sh\n\t@echo it ended\n")
			p.write(t, "run.sh", "read -r words < steps; $words\n")
			p.write(t, "steps", "./npm publish\n")
			must(t, os.Chmod(p.write(t, "npm", "#!/bin/sh\necho published | tee published\n"), 0o755))
			said := p.dialog(t, env, "make", []string{"requests your input", "system/publish: /"}, c.keys)
			for text, want := range c.says {
				if strings.Contains(said, text) != want {
					t.Errorf("the model reads %q: %v: %q", text, !want, said)
				}
			}
			if got := p.made(t); got != c.made {
				t.Errorf("after the answer the workspace has %q, want %q", got, c.made)
			}
		})
	}
}
