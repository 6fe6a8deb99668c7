package endtoend

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestDockerDoctor: the hardening of a live container is told, and nothing is left of what was looked at.
func TestDockerDoctor(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	c := s.config("c", "keep: true, memory: 1g, cpus: 2")
	var findings []struct{ Check, State, Detail, Fix string }
	r := s.do(c, "doctor", "--format", "json")
	if err := json.Unmarshal([]byte(r.stdout), &findings); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	count := map[string]int{}
	for _, f := range findings {
		count[f.Check]++
		if f.Check == "container" && f.State != "ok" || f.State != "ok" && f.Fix == "" {
			t.Errorf("%+v", f)
		}
	}
	if count["container"] < 22 || count["engine"] == 0 || count["image"] != 1 || count["supervisor"] != 1 || count["limits"] != 0 {
		t.Errorf("%v\n%s", count, r.stdout)
	}
	if all := s.list(c); len(all) != 0 {
		t.Errorf("the doctor left %+v", all)
	}
	// A live container that was changed is told.
	s.sh(c, "true")
	s.engine("update", "--pids-limit", "100000", s.list(c)[0].Container)
	if r := s.do(c, "doctor"); r.code != 1 || !strings.Contains(r.stdout, "fail  container      processes bounded: 100000") {
		t.Errorf("after a change from outside: %+v", r)
	}
	for _, tc := range [][3]string{
		{"host: \"unix:///nowhere\"", "fail  engine", "fix: start the engine"},
		{"image: \"sallyport-test/none:1\"", "fail  image ", "fix: "},
		{"network: host", "warn  network", "fix: "},
	} {
		r := s.do(s.config("bad", tc[0], "agent: other"), "doctor")
		if !strings.Contains(r.stdout, tc[1]) || !strings.Contains(r.stdout, tc[2]) {
			t.Errorf("%s: %+v", tc[0], r)
		}
	}
}

// TestDockerNoEngine: without an engine what is known is listed, with why the rest is not, and nothing runs anywhere else.
func TestDockerNoEngine(t *testing.T) {
	t.Parallel()
	s := dockerSite(t, runtimeImage())
	s.sh(s.config("c", ""), "true")
	c := s.config("none", "host: \"unix:///nowhere/docker.sock\"")
	r := s.do(c, "env", "list")
	if r.code != 1 || !strings.Contains(r.stdout, "unknown") || !strings.Contains(r.stderr, "nothing answers at unix:///nowhere/docker.sock") {
		t.Errorf("%+v", r)
	}
	if r := s.do(c, "env", "logs"); r.code != 0 || !strings.Contains(r.stdout, "exit 0") {
		t.Errorf("%+v", r)
	}
	if r := s.do(c, "exec", "--", "touch", "ran"); r.code == 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(filepath.Join(s.workspace, "ran")); err == nil {
		t.Error("it ran, somewhere else")
	}
}
