package mounts

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// configurations are ways to write where hooks are, as git takes them.
var configurations = []string{
	"[core]\nhooksPath = hooks\n",
	"[CORE]\n\tHooksPath=hooks # a remark\n",
	"[core] hookspath = \"a b\"\n",
	"[core]\nhooksPath = a b  \n",
	"[core]\nhooksPath = \"a # b\" ; remark\n",
	"[core]\nhooksPath = a\\\\b\n",
	"[core]\nhooksPath = one\\\ntwo\n",
	"[core]\r\nhooksPath = hooks\r\n",
	"\uFEFF[core]\nhooksPath = hooks\n",
	"[core]\nhooksPath = a\nhooksPath = b\n",
	"[core \"sub\"]\nhooksPath = no\n",
	"[other]\nhooksPath = no\n",
	"[core]\n; hooksPath = no\n",
	"[core]\nhooksPath = \"un\\\"quoted\\\"\"\n",
	"[core]\nhooksPath = a\"b c\"d\n",
	"[core]\n hooksPath   =   ~/hooks   \n",
	"",
}

// TestAsGit reads configurations as git does. What git does not take as core.hooksPath may be taken here:
// then more is protected, and not less.
func TestAsGit(t *testing.T) {
	t.Parallel()
	git := leftout.Command(t, "git")
	for _, text := range configurations {
		file := filepath.Join(t.TempDir(), "config")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(git, "config", "--file", file, "--get", "core.hooksPath").Output() // status 1: there is none
		want, got := strings.TrimSuffix(string(out), "\n"), parseGitConfig(text).hooks
		if want != got && (want != "" || !strings.Contains(text, `"sub"`)) {
			t.Errorf("%q: %q, and git says %q", text, got, want)
		}
	}
}

func TestIncludes(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"config": "[include]\n path = one\n[includeIf \"gitdir:/x\"]\n path = ~/two\n",
		"one":    "[include]\n path = config\n[core]\n hooksPath = found\n", // a circle
		"two":    "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := readGitConfig(filepath.Join(dir, "config"), dir)
	if c.hooks != "found" || len(c.files) < 2 {
		t.Errorf("%+v", c)
	}
}

func FuzzParseGitConfig(f *testing.F) {
	for _, text := range configurations {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s := parseGitConfig(text); len(s.hooks) > len(text) {
			t.Errorf("%q becomes %q", text, s.hooks)
		}
	})
}
