package endtoend

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestReadmeTranscript runs every command of the README's transcripts as it is written there and holds the
// output against what the README shows.
func TestReadmeTranscript(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	leftout.Command(t, "python3", "apt-get install python3")
	commands := transcript(string(text))
	if len(commands) < 4 {
		t.Fatalf("%d commands found in the README's transcripts", len(commands))
	}
	workspace, env := home(t)
	env = append(env, "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	for _, c := range commands {
		cmd := exec.Command("bash", "-c", c.text)
		cmd.Dir, cmd.Env = workspace, env
		out, _ := cmd.CombinedOutput() // what a refusal exits with is not shown there
		got := strings.ReplaceAll(string(out), filepath.Dir(workspace), "/home/ann")
		if diff := cmp.Diff(steady(c.output), steady(got)); diff != "" {
			t.Errorf("$ %s\n(-README +now):\n%s", c.text, diff)
		}
	}
}

type shown struct{ text, output string }

// transcript returns the commands between the transcript marks, each with the lines below it.
func transcript(readme string) []shown {
	var out []shown
	for _, part := range regexp.MustCompile(`(?s)<!-- transcript.*?-->\n`+"```console\n(.*?)```"+`\n<!-- /transcript -->`).FindAllStringSubmatch(readme, -1) {
		for line := range strings.Lines(part[1]) {
			if text, ok := strings.CutPrefix(line, "$ "); ok {
				out = append(out, shown{text: strings.TrimSpace(text)})
			} else if len(out) > 0 {
				out[len(out)-1].output += line
			}
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
