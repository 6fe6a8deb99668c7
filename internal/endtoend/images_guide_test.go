package endtoend

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestImagesGuide does the steps of docs/images.md with a real engine, and holds what they say against what is shown.
func TestImagesGuide(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, "sallyport/runtime:latest")
	s.removeImage("sallyport-guide/my-image:latest")
	steps := stepsOf(t, "../../docs/images.md")
	env := append(s.env, "NO_COLOR=1", "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"))
	commands := 0
	for _, block := range blocks(steps) {
		if name, ok := strings.CutPrefix(block.mark, "write ~/"); ok {
			s.write(filepath.Join(s.home, name), block.text)
			continue
		}
		for _, c := range shownIn(block.text) {
			commands++
			cmd := exec.Command("bash", "-c", c.text)
			cmd.Dir, cmd.Env = s.workspace, env
			if out, err := cmd.CombinedOutput(); err != nil || !shows(c.output, string(out)) {
				t.Errorf("$ %s\nthe guide shows:\n%s\nnow (%v):\n%s", c.text, c.output, err, out)
			}
		}
	}
	if commands != 3 {
		t.Errorf("%d commands found in the steps", commands)
	}
}
