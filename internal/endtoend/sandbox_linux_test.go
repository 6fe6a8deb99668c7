package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/leftout"
)

// TestSandbox is the first use of sallyport as it was built, without a configuration: commands are confined,
// for root and for an ordinary user.
func TestSandbox(t *testing.T) {
	t.Parallel()
	leftout.Command(t, "bwrap")
	users := map[string][]string{"as who tests": nil}
	if os.Getuid() == 0 {
		setpriv := leftout.Command(t, "setpriv")
		users["as an ordinary user"] = []string{setpriv, "--reuid=65534", "--regid=65534", "--clear-groups"}
	}
	for name, as := range users {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			workspace, env := home(t)
			h := filepath.Dir(workspace)
			if err := os.WriteFile(filepath.Join(h, "letter"), []byte("dear"), 0o644); err != nil {
				t.Fatal(err)
			}
			if as != nil {
				if err := os.RemoveAll(filepath.Join(h, ".local")); err != nil { // it belongs to the tester
					t.Fatal(err)
				}
				for _, dir := range []string{filepath.Dir(h), h, workspace, filepath.Join(h, "letter")} {
					if err := os.Chown(dir, 65534, 65534); err != nil {
						t.Fatal(err)
					}
				}
			}
			sallyport := func(args ...string) result {
				t.Helper()
				return run(t, workspace, env, append(append(append([]string{}, as...), program), args...)...)
			}
			r := sallyport("exec", "--format", "json", "-c", `echo mine > file; ls -A ~; ls /proc | grep -c '^[0-9]'`)
			var got struct {
				Isolation string
				Stdout    struct{ Text string }
			}
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != 0 || r.stderr != "" {
				t.Fatalf("status %d, %v: %s%s", r.code, err, r.stdout, r.stderr)
			}
			// In the home there is nothing but the way to the workspace; of processes a handful.
			lines := strings.Fields(got.Stdout.Text)
			if got.Isolation != "namespace" || len(lines) != 2 || lines[0] != "project" || len(lines[1]) > 1 {
				t.Errorf("%+v", got)
			}
			if b, err := os.ReadFile(filepath.Join(workspace, "file")); string(b) != "mine\n" {
				t.Errorf("%q, %v", b, err)
			}
			if entries, err := os.ReadDir(workspace); err != nil || len(entries) != 1 {
				t.Errorf("left behind: %v, %v", entries, err)
			}
			if r := sallyport("doctor"); !strings.Contains(r.stdout, "local: isolation namespace, network host") {
				t.Errorf("doctor says %s", r.stdout)
			}
		})
	}
}
