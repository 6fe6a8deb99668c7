package endtoend

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestTenMinutes walks from the README's first command through the pages for developers, policy authors and
// reviewers, as written: it types each command and writes each file, in a throw-away home, and compares the
// output. Only the address of the repository leads to this tree, and Go finds its modules in the cache.
func TestTenMinutes(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"go", "git", "make", "bwrap"} {
		leftout.Command(t, name)
	}
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(repository, ".git")); err != nil {
		leftout.Skip(t, leftout.Programs, "no .git in the tree: there is nothing to clone")
	}
	workspace, env := home(t)
	dir := filepath.Dir(workspace)
	if err := os.Remove(workspace); err != nil { // the README makes it
		t.Fatal(err)
	}

	env = append(env, "NO_COLOR=1", "GOPROXY=off", "GOFLAGS=-mod=readonly",
		"GIT_CONFIG_COUNT=2",
		"GIT_CONFIG_KEY_0=url."+repository+".insteadOf", "GIT_CONFIG_VALUE_0=https://github.com/sallyport-dev/sallyport",
		"GIT_CONFIG_KEY_1=safe.directory", "GIT_CONFIG_VALUE_1=*")
	for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOTOOLCHAIN"} {
		value, err := exec.Command("go", "env", name).Output()
		if err != nil {
			t.Fatal(err)
		}
		env = append(env, name+"="+strings.TrimSpace(string(value)))
	}
	var steps []step
	for _, page := range []string{"README.md", "docs/ten-minutes-developer.md", "docs/ten-minutes-policy-author.md", "docs/ten-minutes-reviewer.md"} {
		text, err := os.ReadFile(filepath.Join(repository, page))
		if err != nil {
			t.Fatal(err)
		}
		found := stepsIn(page, string(text))
		if len(found) < 5 {
			t.Errorf("%s: %d steps found", page, len(found))
		}
		// A reader of one page has not read the others.
		steps = append(steps, step{page: page, run: "cd; rm -rf ~/.config ~/.local/state"})
		steps = append(steps, found...)
	}
	typeIn(t, dir, env, steps)
}

// step is a command of a page with the lines that it shows, or a file to write.
type step struct{ page, run, output, file, text string }

// stepsIn are the commands and files of a page, in their order. A transcript has a test of its own, and a block that
// does not run says why.
func stepsIn(page, text string) []step {
	var out []step
	fence := regexp.MustCompile("(?s)(?:<!-- ([^\n]+) -->\n)?```([a-z]*)\n(.*?)```\n")
	for _, m := range fence.FindAllStringSubmatch(text, -1) {
		mark, language, body := m[1], m[2], m[3]
		if file, ok := strings.CutPrefix(mark, "write "); ok {
			out = append(out, step{page: page, file: file, text: body})
			continue
		}
		if language != "console" || strings.HasPrefix(mark, "transcript") || strings.HasPrefix(mark, "not run: ") {
			continue
		}
		for _, c := range shownIn(body) {
			out = append(out, step{page: page, run: c.text, output: c.output})
		}
	}
	return out
}

// typeIn does steps in one bash, as a person would in one terminal, and compares the output of each.
func typeIn(t *testing.T, dir string, env []string, steps []step) {
	t.Helper()
	record := t.TempDir()
	var script strings.Builder
	for i, s := range steps {
		if s.file != "" {
			path := s.file
			if rest, ok := strings.CutPrefix(path, "~/"); ok {
				path = filepath.Join(dir, rest)
			}
			fmt.Fprintf(&script, "mkdir -p \"$(dirname '%s')\" && cat >'%s' <<'END OF FILE'\n%sEND OF FILE\n", path, path, s.text)
			continue
		}
		fmt.Fprintf(&script, "{ %s\n} >%s/%d.out 2>&1 </dev/null; echo $? >%s/%d.status\n", s.run, record, i, record, i)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-c", script.String())
	cmd.Dir, cmd.Env = dir, env
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("the shell itself: %v\n%s", err, out)
	}
	for i, s := range steps {
		if s.file != "" {
			continue
		}
		out, err := os.ReadFile(fmt.Sprintf("%s/%d.out", record, i))
		if err != nil {
			t.Fatalf("%s: $ %s: it was not reached", s.page, s.run)
		}
		status, _ := os.ReadFile(fmt.Sprintf("%s/%d.status", record, i))
		want, got := s.output, string(out)
		switch {
		case s.output != "" && !shows(want, got):
			t.Errorf("%s: $ %s\nshows\n%sand prints\n%s", s.page, s.run, want, got)
		case s.output == "" && strings.TrimSpace(string(status)) != "0":
			t.Errorf("%s: $ %s: exit %s%s", s.page, s.run, status, got)
		}
	}
}
