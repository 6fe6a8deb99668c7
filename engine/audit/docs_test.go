package audit

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// The shell recipes of the documentation work as they stand, on a good log and on a broken one.
func TestDocumentedRecipes(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"sh", "sed", "sha256sum"} {
		if _, err := exec.LookPath(tool); err != nil {
			leftout.Skip(t, leftout.Programs, fmt.Sprintf("the recipes need %s: %v: install it", tool, err))
		}
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "audit-log.md"))
	if err != nil {
		t.Fatal(err)
	}
	recipes := regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(string(doc), -1)
	if len(recipes) != 2 {
		t.Fatalf("%d recipes", len(recipes))
	}
	o, b := smallLog(t, 3)
	run := func(script string) string {
		t.Helper()
		cmd := exec.Command("sh", "-c", script)
		cmd.Dir = o.Dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	hashes := strings.Fields(run(recipes[0][1]))
	if len(hashes) != 3 || hashes[0] != hashes[2] { // sha256sum prints "-" as well
		t.Errorf("one link: %q", hashes)
	}
	if out := run(recipes[1][1]); out != "" {
		t.Errorf("all links: %s", out)
	}
	writeLog(t, o, []byte(strings.Replace(string(b), `"local"`, `"other"`, 1)))
	if out := run(recipes[1][1]); out != "broken at: {\"seq\":4\n" {
		t.Errorf("all links of a changed log: %q", out)
	}
}

// The recipe that checks a proof by hand finds the root of the checkpoint, and another one for a changed record.
func TestDocumentedProofRecipe(t *testing.T) {
	t.Parallel()
	for _, tool := range []string{"bash", "jq", "sed", "sha256sum", "base64"} {
		if _, err := exec.LookPath(tool); err != nil {
			leftout.Skip(t, leftout.Programs, fmt.Sprintf("the recipe needs %s: %v: install it", tool, err))
		}
	}
	doc, err := os.ReadFile(filepath.Join("..", "..", "docs", "audit-log.md"))
	if err != nil {
		t.Fatal(err)
	}
	recipe := regexp.MustCompile("(?s)```bash\n(.*?)```").FindStringSubmatch(string(doc))
	if recipe == nil {
		t.Fatal("the recipe is not there")
	}
	o, _ := smallLog(t, 11)
	p, err := Prove(o.Dir, "d-6", nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, changed := range []bool{false, true} {
		if changed {
			p.Records[0].Line = strings.Replace(p.Records[0].Line, `"d-`, `"e-`, 1)
		}
		text, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		writeFile(t, filepath.Join(dir, "proof.json"), string(text))
		cmd := exec.Command("bash", "-c", recipe[1])
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		roots := strings.Fields(string(out))
		if len(roots) != 3 || roots[1] != roots[2] || (roots[0] == roots[2]) == changed {
			t.Errorf("changed %v: %q", changed, roots)
		}
	}
}
