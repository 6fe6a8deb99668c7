package endtoend

import (
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestRecording holds the recorded session of the README against a new recording.
func TestRecording(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	workspace, env := home(t)
	script, err := filepath.Abs("../../docs/recording.sh")
	if err != nil {
		t.Fatal(err)
	}
	now := run(t, workspace, env, "bash", script, program)
	if now.code != 0 {
		t.Fatalf("exit %d\n%s%s", now.code, now.stdout, now.stderr)
	}
	picture, err := os.ReadFile("../../docs/pictures/recording.svg")
	if err != nil {
		t.Fatal(err)
	}
	lines := func(svg string) string {
		var out strings.Builder
		for _, m := range regexp.MustCompile(`(?m)^<text .*?>(.*)</text>$`).FindAllStringSubmatch(svg, -1) {
			out.WriteString(html.UnescapeString(m[1]) + "\n")
		}
		return steady(out.String())
	}
	shown := lines(string(picture))
	if strings.Count(shown, "\n") < 20 {
		t.Errorf("the picture has few lines:\n%s", shown)
	}
	if diff := cmp.Diff(shown, lines(now.stdout)); diff != "" {
		t.Errorf("docs/recording.sh bin/sallyport > docs/pictures/recording.svg makes it anew (-picture +now):\n%s", diff)
	}
}
