package walk

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// TestValuesAreThoseOfBash runs the texts of testdata/values.list with bash. Each run of the program show must be
// among the commands that Parse lists: with the same words, as far as Parse says that it knows them, or as
// something that Parse says it does not know.
func TestValuesAreThoseOfBash(t *testing.T) {
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no bash")
	}
	list, err := os.ReadFile("testdata/values.list")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	script := "#!/bin/sh\n{ for a; do printf '%s\\1' \"$a\"; done; printf '\\2'; } >> \"$SHOWN\"\n"
	if err := os.WriteFile(filepath.Join(bin, "show"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	path := bin + ":/usr/bin:/bin"
	for text := range strings.SplitSeq(strings.TrimSuffix(string(list), "\n"), "\n%%\n") {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "README.md"), "readme\n")
		if err := os.Mkdir(filepath.Join(dir, "sub"), 0o755); err != nil {
			t.Fatal(err)
		}
		shown := filepath.Join(bin, "shown")
		write(t, shown, "")
		cmd := exec.Command(bash, "-c", text)
		cmd.Args[0] = "bash"
		cmd.Dir = dir
		cmd.Env = []string{"HOME=" + dir, "PATH=" + path, "SHOWN=" + shown, "LC_ALL=C"}
		_ = cmd.Run() // some of the texts fail at their end
		p, err := Parse(text, shell.Options{
			Dir: dir, Env: map[string]string{"HOME": dir, "PATH": path},
			ReadFile: func(name string) (string, bool) { return "readme\n", name == filepath.Join(dir, "README.md") },
			IsDir:    func(name string) bool { return name == dir || name == filepath.Join(dir, "sub") },
		})
		if err != nil || p.Certainty == value.Unknown || runsUnknown(p) {
			continue
		}
		out, err := os.ReadFile(shown)
		if err != nil || len(out) == 0 {
			t.Errorf("%s: nothing was shown: %v", text, err)
		}
		for _, run := range strings.SplitAfter(string(out), "\x02") {
			if words := strings.Split(strings.TrimSuffix(run, "\x02"), "\x01"); run != "" && !listed(p, words[:len(words)-1]) {
				t.Errorf("%s\n%q is not among\n%s", text, words, strings.Join(renderAll(p), "\n"))
			}
		}
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// runsUnknown reports a program with a command, or code, that the list calls unknown.
func runsUnknown(p *shell.Program) bool {
	for _, c := range p.Commands {
		if len(c.Words) > 0 && c.Name == "" || c.Code.From != shell.CodeNone && !c.Code.Static ||
			strings.Contains(render(c), "!dynamic_") {
			return true
		}
	}
	return false
}

// listed reports a command show of p that may have had these arguments.
func listed(p *shell.Program, args []string) bool {
	for _, c := range p.Commands {
		if c.Name != "show" {
			continue
		}
		rest, same := args, true
		for _, w := range c.Words[1:] {
			if w.Certainty != value.Exact && !w.Quoted || w.Glob {
				rest = nil // it may be any number of arguments
				break
			}
			if same = len(rest) > 0 && (rest[0] == w.Text || w.Certainty != value.Exact && strings.HasPrefix(rest[0], w.Prefix)); !same {
				break
			}
			rest = rest[1:]
		}
		if same && len(rest) == 0 {
			return true
		}
	}
	return false
}
