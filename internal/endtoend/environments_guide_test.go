package endtoend

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const environmentsGuide = "../../docs/environments.md"

// TestEnvironmentsGuide does the steps of docs/environments.md with a real engine, and holds what they say against what
// is shown. "…" stands for what differs from machine to machine.
func TestEnvironmentsGuide(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, "sallyport/runtime:latest")
	steps := stepsOf(t, environmentsGuide)
	env := append(s.env, "NO_COLOR=1", "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	commands := 0
	for _, block := range blocks(steps) {
		if name, ok := strings.CutPrefix(block.mark, "write ~/"); ok {
			file := filepath.Join(s.home, name)
			if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(block.text), 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		for _, c := range shownIn(block.text) {
			commands++
			cmd := exec.Command("bash", "-c", c.text)
			cmd.Dir, cmd.Env = s.workspace, env
			out, _ := cmd.CombinedOutput() // what a command of the guide exits with is part of what it shows
			if !shows(c.output, string(out)) {
				t.Errorf("$ %s\nthe guide shows:\n%s\nnow:\n%s", c.text, c.output, out)
			}
		}
	}
	if commands < 10 {
		t.Errorf("%d commands found in the steps", commands)
	}
}

// TestEnvironmentsGuideNamesErrors holds that every error in the table of troubles is one that the program can say.
func TestEnvironmentsGuideNamesErrors(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(environmentsGuide)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## When something is wrong")
	table, _, _ = strings.Cut(table, "\n## ")
	var said strings.Builder
	for _, dir := range []string{"runners", "engine/config", "plugins", "cmd"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			said.Write(b)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, other := range []string{ // what the system or a program says
		"exec format error", "Could not resolve host", "Network is unreachable", "Read-only file system", "no space left on device", "Operation not permitted", "Device or resource busy", "command not found", "setting up uid map: Permission denied",
	} {
		said.WriteString(other + "\n")
	}
	rows := regexp.MustCompile(`(?m)^\| (.*?) \|`).FindAllStringSubmatch(table, -1)
	if len(rows) < 15 {
		t.Fatalf("%d rows", len(rows))
	}
	for _, row := range rows {
		for _, quoted := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(row[1], -1) {
			for _, part := range strings.Split(quoted[1], "…") {
				// Names that differ are not looked for.
				part = regexp.MustCompile(`unix:///\S+|image sallyport/runtime:latest`).ReplaceAllString(part, "")
				if part = strings.Trim(part, " ,"); part != "" && !strings.Contains(said.String(), part) {
					t.Errorf("nothing says %q", part)
				}
			}
		}
	}
}

// TestEnvironmentsGuideConfigurations holds that every configuration that the guide shows is sound.
func TestEnvironmentsGuideConfigurations(t *testing.T) {
	t.Parallel()
	workspace, env := home(t)
	for _, dir := range []string{"reference", "shared/secrets", "tools"} {
		if err := os.MkdirAll(filepath.Join(filepath.Dir(workspace), dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(workspace), "agent.env"), []byte("REGISTRY_TOKEN=x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(environmentsGuide)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	if len(found) < 5 {
		t.Fatalf("%d configurations", len(found))
	}
	for _, m := range found {
		config := m[1]
		if !strings.HasPrefix(config, "version") {
			config = "version: 1\nworkspace: ~/project\n" + config
		}
		if strings.Contains(config, "system:") {
			config += "runner: docker-sudo\n"
		}
		file := filepath.Join(filepath.Dir(workspace), "guide.yaml")
		if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if r := run(t, workspace, env, program, "config", "check", file); r.code != 0 {
			t.Errorf("%s\n%s%s", config, r.stdout, r.stderr)
		}
	}
}

// TestMassGenKeys holds that every key to which the guide leads those who move over is one of the configuration.
func TestMassGenKeys(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(environmentsGuide)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "## From MassGen's keys")
	keys := 0
	for _, row := range regexp.MustCompile(`(?m)^\| .* \| (.*) \|$`).FindAllStringSubmatch(table, -1) {
		for _, m := range regexp.MustCompile("`((?:docker|commands|environment|limits)\\.[a-z_.]+)`").FindAllStringSubmatch(row[1], -1) {
			keys++
			if !strings.Contains(string(reference), "`"+m[1]+"`") {
				t.Errorf("the configuration has no key %s", m[1])
			}
		}
	}
	if keys < 15 {
		t.Errorf("%d keys found", keys)
	}
}

// TestEnvironmentsGuideDefaults holds that the defaults in the guide are those of the reference.
func TestEnvironmentsGuideDefaults(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(environmentsGuide)
	if err != nil {
		t.Fatal(err)
	}
	reference, err := os.ReadFile("../../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("`(docker\\.[a-z_]+)` \\(([0-9]+(?: GiB)?)[,)]").FindAllStringSubmatch(string(text), -1)
	if len(found) < 3 {
		t.Fatalf("%d defaults", len(found))
	}
	for _, m := range found {
		row := regexp.MustCompile("(?m)^\\| `" + regexp.QuoteMeta(m[1]) + "` \\| [a-z]+ \\| `([^`]*)` ").FindStringSubmatch(string(reference))
		if row == nil || row[1] != strings.ReplaceAll(m[2], " ", "") {
			t.Errorf("%s is %v there, and %s in the guide", m[1], row, m[2])
		}
	}
}
