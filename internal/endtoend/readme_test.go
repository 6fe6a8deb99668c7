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
	leftout.Command(t, "bwrap")
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	commands := transcript(string(text))
	if len(commands) < 2 {
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

// transcript returns the commands between the transcript marks, each with the lines below it.
func transcript(readme string) []shown {
	var out []shown
	for _, part := range regexp.MustCompile(`(?s)<!-- transcript.*?-->\n`+"```console\n(.*?)```"+`\n<!-- /transcript -->`).FindAllStringSubmatch(readme, -1) {
		out = append(out, shownIn(part[1])...)
	}
	return out
}
