package fleet_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdktest "github.com/open-policy-agent/opa/v1/sdk/test"

	"github.com/sallyport-dev/sallyport/engine/rego/fleet"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// OPA's own server of bundles serves them here.
func TestBundleServerOfOPA(t *testing.T) {
	t.Parallel()
	s := sdktest.MustNewServer(sdktest.RawBundles(true), sdktest.MockBundle("/bundles/team.tar.gz", map[string]string{
		"x.rego": "package custom.x\n\ndeny contains {\"command\": 0} if input.version == 2\n",
	}))
	t.Cleanup(s.Stop)
	f, err := follow(t, fleet.Options{
		Servers: []fleet.Server{{URL: s.URL(), Bundles: []string{s.URL() + "/bundles/team.tar.gz"}}}, Dir: filepath.Join(t.TempDir(), "state"), Name: "test",
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.changes) != 1 || len(f.Texts()) != 1 {
		t.Errorf("changes %q", f.changes)
	}
}

// A discovery bundle names the bundles; of all else that it says nothing counts.
func TestDiscovery(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	s := newSource(t)
	var stolen bool
	thief := newSource(t)
	thief.set(func(http.ResponseWriter, *http.Request) { stolen = true })
	found := map[string][]byte{
		"/fleet/d.tar.gz": discovery(t, k.private, `package discovery

bundles := {"a": {"resource": "a.tar.gz"}, "b": {"resource": "/teams/b.tar.gz", "service": "thief"}}

services := {"thief": {"url": "`+thief.URL+`"}}

labels := {"path": "${PATH}"}

decision_logs := {"service": "thief", "console": true}
`),
		"/a.tar.gz":       bundleOf(t, "a", 1, k.private),
		"/teams/b.tar.gz": bundleOf(t, "b", 1, k.private),
	}
	s.set(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		text := found[r.URL.Path]
		s.mu.Unlock()
		if text == nil {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		sends(text)(w, r)
	})
	o := fleet.Options{Servers: []fleet.Server{{URL: s.URL, Discovery: "fleet/d.tar.gz", Bundles: []string{}}}, Keys: [][]byte{k.public}, Dir: filepath.Join(t.TempDir(), "state"), Name: "test"}
	f, err := followDiscovered(t, o)
	if err != nil {
		t.Fatal(err)
	}
	if got := f.last(); got != "a+b" && got != "b+a" {
		t.Fatalf("got %q", got)
	}
	put := func(name string, text []byte) {
		s.mu.Lock()
		defer s.mu.Unlock()
		found[name] = text
	}
	put("/fleet/d.tar.gz", discovery(t, k.private, "package discovery\n\nbundles := {\"a\": {\"resource\": \"a.tar.gz\"}}\n"))
	f.until(t, "b to go", func() bool { return f.last() == "a" })
	for _, bad := range []struct{ rego, want string }{
		{"package discovery\n\nbundles := {\"a\": {\"resource\": \"../a.tar.gz\"}}\n", "is no plain path"},
		{"package discovery\n\nbundles := {\"../a\": {\"resource\": \"a.tar.gz\"}}\n", "is no name of a bundle"},
		{"package discovery\n\nbundles := {}\n", "it names no bundles"},
		{"package discovery\n\nbundles := http.send({\"url\": \"" + thief.URL + "\", \"method\": \"GET\"}).body\n", "undefined function http.send"},
	} {
		put("/fleet/d.tar.gz", discovery(t, k.private, bad.rego))
		f.until(t, bad.want, func() bool { return strings.Contains(strings.Join(f.refused, "\n"), bad.want) })
	}
	put("/fleet/d.tar.gz", discovery(t, newKeys(t).private, "package discovery\n\nbundles := {\"c\": {\"resource\": \"c.tar.gz\"}}\n"))
	f.until(t, "another key", func() bool { return strings.Contains(strings.Join(f.refused, "\n"), "no configured key fits") })
	put("/a.tar.gz", bundleOf(t, "a2", 2, k.private))
	f.until(t, "a new bundle", func() bool { return f.last() == "a2" })
	if stolen {
		t.Error("another server was asked")
	}
	// With the server away, what was discovered is known, and judges.
	f.Close(context.Background())
	age(t, o.Dir)
	s.set(away)
	if f, err = followDiscovered(t, o); err != nil || f.last() != "a2" {
		t.Errorf("with the server away: %v, %q", err, f.last())
	}
}

// followDiscovered is follow, for a server whose bundles are not named.
func followDiscovered(t *testing.T, o fleet.Options) (*follower, error) {
	t.Helper()
	o.Servers = []fleet.Server{o.Servers[0]}
	o.Servers[0].Bundles = nil
	return follow(t, o)
}

// Status and decisions reach a collector; a collector that is away holds nothing up.
func TestReports(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	s := newSource(t)
	good := sends(bundleOf(t, "first", 5, k.private))
	got := make(chan map[string]any, 1000)
	s.set(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			if r.Header.Get("Authorization") != "Bearer t0ken" {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			good(w, r)
			return
		}
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			z, err := gzip.NewReader(body)
			if err != nil {
				t.Error(err)
				return
			}
			body = z
		}
		var v any
		if err := json.NewDecoder(body).Decode(&v); err != nil {
			t.Error(err)
		}
		list, ok := v.([]any)
		if !ok {
			list = []any{v}
		}
		for _, one := range list {
			m := one.(map[string]any)
			m["at"], m["auth"] = r.URL.Path, r.Header.Get("Authorization")
			got <- m
		}
	})
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("t0ken\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := one(s, filepath.Join(t.TempDir(), "state"), k.public)
	o.Servers[0].TokenFile, o.Servers[0].Status, o.Servers[0].Decisions = token, true, true
	o.Servers[0].Labels = map[string]string{"room": "12"}
	o.SetLimits(await.Guard, 50*time.Millisecond)
	f, err := follow(t, o)
	if err != nil {
		t.Fatal(err)
	}
	f.Send(fleet.Event{ID: "d-1", Path: fleet.DecisionPath, Time: time.Now(), Policies: map[string]string{"p": "r"}, Body: func() ([]byte, error) {
		return []byte(`{"result":{"effect":"deny"},"input":{"version":1},"redacted":["/x"]}`), nil
	}})
	var status, decision map[string]any
	for status == nil || decision == nil {
		m := await.Receive(t, "report", got)
		if m["auth"] != "Bearer t0ken" || m["labels"].(map[string]any)["room"] != "12" {
			t.Errorf("got %v", m)
		}
		switch m["at"] {
		case "/logs":
			decision = m
		case "/status":
			bundles, _ := m["bundles"].(map[string]any)
			if b, ok := bundles["team"].(map[string]any); ok && b["active_revision"] == "first" {
				status = m
			}
		}
	}
	if decision["decision_id"] != "d-1" || decision["path"] != "sallyport/main/decision" || decision["result"].(map[string]any)["effect"] != "deny" || decision["input"] == nil || decision["custom"] == nil {
		t.Errorf("got %v", decision)
	}
	over := make(chan struct{}) // not closed before all is done: nothing waits for the collector
	defer close(over)
	s.set(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		select {
		case <-r.Context().Done():
		case <-over:
		}
	})
	for range 5000 {
		f.Send(fleet.Event{ID: "d", Path: fleet.OutcomePath, Time: time.Now(), Body: func() ([]byte, error) { return []byte(`{"result":{},"input":{}}`), nil }})
	}
	f.Close(context.Background())
}

// discovery is a signed bundle of one module that stands for no policy.
func discovery(t *testing.T, key []byte, module string) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	a := tar.NewWriter(z)
	for name, text := range map[string]string{"/discovery.rego": module, "/.manifest": `{"revision": "d", "roots": ["discovery"], "rego_version": 1}`} {
		if err := a.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(a, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return sign(t, out.Bytes(), key)
}
