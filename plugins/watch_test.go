package plugins

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// A gate that runs takes new policies up, keeps the old ones where the new are broken, and both are on record.
func TestWatch(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	rule := func(body string) {
		text := "# METADATA\n# title: X\n# custom:\n#   severity: low\n#   remediation: None.\npackage custom.x\n\n" + body + "\n"
		// In one step: a writer who is held up between emptying a file and filling it is seen to be quiet.
		part := filepath.Join(root, "policies", ".part")
		if err := os.WriteFile(part, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(part, filepath.Join(root, "policies", "x.rego")); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{"home/project", "policies"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	rule("warn contains {\"command\": 0}")
	host := config.Host{
		Dir: root, Home: filepath.Join(root, "home"), Now: time.Now(), Environ: os.Environ(),
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}[name]
		},
	}
	l, err := config.Parse("version: 1\nworkspace: home/project\npolicies: [policies]\nlocal: {sandbox: none}\n", filepath.Join(root, "c.yaml"), "--config", host)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Assemble(t.Context(), Precompiled(t, l), Options{Version: "test", Judge: await.Guard})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan engine.PolicyBody, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() {
		s.watch(ctx, 10*time.Millisecond, func(b engine.PolicyBody, err error) {
			if err != nil {
				t.Error(err)
			}
			told <- b
		})
	})
	effect := func() engine.Effect {
		out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: "true"})
		if err != nil || out.Fault != nil {
			t.Fatal(err, out.Fault)
		}
		return out.Decision.Effect
	}
	if got := effect(); got != engine.Allow {
		t.Fatalf("got %s", got)
	}
	rule("deny contains {\"command\": 0} if input.version == 1")
	if b := await.Receive(t, "word of the new policies", told); b.Error != "" {
		t.Errorf("got %+v", b)
	}
	await.True(t, "the new policies judge", func() bool { return effect() == engine.Deny })
	rule("deny contains {\"command\": 0} if input.versoin == 1")
	if b := await.Receive(t, "word of the broken policies", told); !strings.Contains(b.Error, "x.rego:8:") {
		t.Errorf("got %+v", b)
	}
	if got := effect(); got != engine.Deny {
		t.Errorf("with broken policies: %s", got)
	}
	cancel()
	watching.Wait()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := policyRecords(t, l); got != "taken kept" {
		t.Errorf("on record: %s", got)
	}
}

// policyRecords tells of each set of policies on record whether it was taken or the one before kept.
func policyRecords(t *testing.T, l *config.Loaded) string {
	t.Helper()
	var kinds []string
	for e, err := range audit.Read(string(l.Audit.Dir), audit.Filter{Kind: engine.KindPolicy}) {
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.Policy()
		if err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, map[bool]string{true: "taken", false: "kept"}[b.Error == ""])
	}
	return strings.Join(kinds, " ")
}
