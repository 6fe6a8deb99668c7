package walk_test

import (
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/walk"
)

// What somebody pipes into a text is not known: a program that a shell reads from there is unjudged code.
func TestStdin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]shell.CodeFrom{
		"bash":                       shell.CodeStdin,
		"sh -s -- a":                 shell.CodeStdin,
		"python3 -":                  shell.CodeStdin,
		"python3":                    shell.CodeStdin,
		"{ cd /; sh; }":              shell.CodeStdin,
		"if true; then bash; fi":     shell.CodeStdin,
		"source /dev/stdin":          shell.CodeStdin,
		"bash </dev/null":            shell.CodeFile,
		"bash -c true":               shell.CodeArgument,
		"python3 -c 'print(1)'":      shell.CodeArgument,
		"bash <<<true":               shell.CodeHeredoc,
		"cat":                        shell.CodeNone,
		"while read -r l; do :;done": shell.CodeNone,
	} {
		p, err := walk.Parse(text, shell.Options{Dir: "/", Stdin: true})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var got shell.CodeFrom
		for _, c := range p.Commands {
			if c.Code.From != shell.CodeNone {
				got = c.Code.From
			}
		}
		if got != want {
			t.Errorf("%s: code from %q, want from %q", text, got, want)
		}
	}
	p, err := walk.Parse("bash", shell.Options{Dir: "/"})
	if err != nil || p.Commands[0].Code.From != shell.CodeSession {
		t.Errorf("without anything piped in: %+v, %v", p.Commands, err)
	}
}
