package plugins

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/rego/fleet"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/policies"
)

// fleetServer serves one bundle and takes reports.
type fleetServer struct {
	*httptest.Server
	mu     sync.Mutex
	bundle []byte
	logs   []map[string]any
}

func newFleetServer(t *testing.T) *fleetServer {
	t.Helper()
	s := &fleetServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		switch r.URL.Path {
		case "/team.tar.gz":
			_, _ = w.Write(s.bundle)
		case "/logs":
			z, err := gzip.NewReader(r.Body)
			if err != nil {
				t.Error(err)
				return
			}
			var events []map[string]any
			if err := json.NewDecoder(z).Decode(&events); err != nil {
				t.Error(err)
			}
			s.logs = append(s.logs, events...)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// serves builds a bundle that refuses a program.
func (s *fleetServer) serves(t *testing.T, refused string) {
	t.Helper()
	dir := t.TempDir()
	text := "# METADATA\n# title: X\n# custom:\n#   severity: low\n#   remediation: None.\npackage custom.x\n\ndeny contains {\"command\": i} if {\n\tsome i, c in input.commands\n\tc.name == \"" + refused + "\"\n}\n"
	if err := os.WriteFile(filepath.Join(dir, "x.rego"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := rego.BuildBundle(t.Context(), rego.BundleOptions{Builtin: policies.FS(), Dirs: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.bundle = bundle
}

func servedConfig(t *testing.T, text string) *config.Loaded {
	t.Helper()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "home/project"), 0o755); err != nil {
		t.Fatal(err)
	}
	host := config.Host{
		Dir: root, Home: filepath.Join(root, "home"), Now: time.Now(), Environ: os.Environ(),
		Getenv: func(name string) string {
			return map[string]string{"XDG_STATE_HOME": filepath.Join(root, "state")}[name]
		},
	}
	l, err := config.Parse("version: 1\nworkspace: home/project\nlocal: {sandbox: none}\n"+text, filepath.Join(root, "c.yaml"), "--config", host)
	if err != nil {
		t.Fatal(err)
	}
	return Precompiled(t, l)
}

// A gate follows its server: what comes judges from the next request on, what cannot be taken changes nothing, and
// both are on record. Each decision is sent as the audit log has it, without its secrets.
func TestServed(t *testing.T) {
	t.Parallel()
	server := newFleetServer(t)
	server.serves(t, "one")
	l := servedConfig(t, fmt.Sprintf("policies: [%q]\npolicy_servers: [{url: %q, timeout: 5m, polling: {min: 1s, max: 1s}, decision_logs: true, status: true, labels: {room: \"12\"}}]\n", server.URL+"/team.tar.gz", server.URL))
	var warned []string
	s, err := Assemble(t.Context(), l, Options{Version: "test", Follow: true, Judge: await.Guard, Warn: func(err error) { warned = append(warned, err.Error()) }})
	if err != nil {
		t.Fatal(err)
	}
	told := make(chan engine.PolicyBody, 10)
	ctx, cancel := context.WithCancel(t.Context())
	var watching sync.WaitGroup
	watching.Go(func() { s.Watch(ctx, func(b engine.PolicyBody, _ error) { told <- b }) })
	effect := func(text string) engine.Effect {
		out, err := s.Do(t.Context(), engine.Request{Tool: "execute_command", Command: text})
		if err != nil || out.Fault != nil {
			t.Fatal(err, out.Fault)
		}
		return out.Decision.Effect
	}
	if got := effect("one"); got != engine.Deny {
		t.Errorf("the first bundle: %s", got)
	}
	if got := effect("true --password=correcthorse9battery"); got != engine.Allow {
		t.Errorf("what it does not refuse: %s", got)
	}
	server.serves(t, "true")
	if b := await.Receive(t, "word of the second bundle", told); b.Error != "" || b.Before.Bundles[server.URL+"/team.tar.gz"] == b.Policy.Bundles[server.URL+"/team.tar.gz"] {
		t.Errorf("told %+v", b)
	}
	await.True(t, "the second bundle judges", func() bool { return effect("true") == engine.Deny })
	server.mu.Lock()
	server.bundle = []byte("no bundle")
	server.mu.Unlock()
	if b := await.Receive(t, "word of what is no bundle", told); !strings.Contains(b.Error, "team.tar.gz: read bundle: it is no gzip archive") || b.Before.Revision != b.Policy.Revision {
		t.Errorf("told %+v", b)
	}
	if got := effect("true"); got != engine.Deny {
		t.Errorf("after what is no bundle: %s", got)
	}
	cancel()
	watching.Wait()
	await.True(t, "the decisions are sent", func() bool {
		server.mu.Lock()
		defer server.mu.Unlock()
		return len(server.logs) >= 4
	})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	text, err := json.Marshal(server.logs)
	if err != nil {
		t.Fatal(err)
	}
	if len(server.logs) < 4 || strings.Contains(string(text), "correcthorse9battery") || !strings.Contains(string(text), "[redacted:") || !strings.Contains(string(text), `"room":"12"`) {
		t.Errorf("%d decisions were sent: %.2000s", len(server.logs), text)
	}
	sent := map[string]int{}
	for _, event := range server.logs {
		path, _ := event["path"].(string)
		note := ""
		switch result, _ := event["result"].(map[string]any); path {
		case fleet.CheckpointPath:
			note, _ = result["note"].(string)
		case fleet.OutcomePath:
			if result["exit_code"] == nil || event["decision_id"] == "" {
				t.Errorf("outcome: %v", event)
			}
		case fleet.DecisionPath:
			custom, _ := event["custom"].(map[string]any)
			note, _ = custom["checkpoint"].(string)
		}
		if note != "" {
			path += " with a checkpoint"
			if _, err := audit.OpenCheckpoint([]byte(note), s.log.PublicKey()); err != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
		sent[path]++
	}
	for _, path := range []string{fleet.DecisionPath + " with a checkpoint", fleet.OutcomePath, fleet.CheckpointPath + " with a checkpoint"} {
		if sent[path] == 0 {
			t.Errorf("nothing was sent as %s: %v", path, sent)
		}
	}
	if got := policyRecords(t, l); got != "taken kept" {
		t.Errorf("on record: %s", got)
	}
	if len(warned) > 0 {
		t.Errorf("warned: %q", warned)
	}
}

// Without a server, and without anything that is kept, nothing is made; one-shot commands use what is kept.
func TestServedWithoutServer(t *testing.T) {
	t.Parallel()
	server := newFleetServer(t)
	server.serves(t, "one")
	l := servedConfig(t, fmt.Sprintf("policies: [%q]\npolicy_servers: [{url: %q, timeout: 5m}]\n", server.URL+"/team.tar.gz", server.URL))
	for _, o := range []Options{{CheckOnly: true}, {Version: "test"}, {Version: "test", Follow: true}} {
		s, err := Assemble(t.Context(), l, o)
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.Check(t.Context(), engine.Request{Tool: "execute_command", Command: "one"}); err != nil || out.Decision.Effect != engine.Deny || out.Fault != nil {
			t.Errorf("%+v: %v, %+v", o, err, out.Decision)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		server.Server.Close() // from now on it is what was kept
	}
	if err := os.RemoveAll(l.PoliciesDir()); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{CheckOnly: true}, {Version: "test"}, {Version: "test", Follow: true}} {
		if s, err := Assemble(t.Context(), l, o); err == nil || !strings.Contains(err.Error(), "no bundle of it is kept that could judge in its place") {
			t.Errorf("%+v: %v", o, err)
			if err == nil {
				s.Close()
			}
		}
	}
}
