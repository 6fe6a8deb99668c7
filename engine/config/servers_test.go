package config

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// Each address comes from the server that covers it, the longest of several; of others there is one for each host.
func TestServers(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	l, err := Parse(`version: 1
policies:
  - https://a.example/team/x.tar.gz
  - https://a.example/y.tar.gz
  - https://b.example/z
  - http://127.0.0.1:8080/b
  - https://a.example.evil/x.tar.gz
policy_servers:
  - {url: "https://a.example/", polling: {min: 5s}}
  - {url: https://a.example/team, timeout: 3s, max_size: 1MiB}
  - {url: https://unused.example}
  - {url: https://found.example, discovery: fleet/d.tar.gz}
`, h.Dir+"/c.yaml", "--config", h)
	if err != nil {
		t.Fatal(err)
	}
	type row struct {
		url      string
		bundles  []string
		min, max time.Duration
		timeout  time.Duration
		size     int64
	}
	var got []row
	for _, s := range l.Servers() {
		got = append(got, row{s.URL, s.Bundles, time.Duration(s.Polling.Min), time.Duration(s.Polling.Max), time.Duration(s.Timeout), int64(s.MaxSize)})
	}
	want := []row{
		{"https://a.example", []string{"https://a.example/y.tar.gz"}, 5 * time.Second, 2 * time.Minute, 30 * time.Second, 16 << 20},
		{"https://a.example/team", []string{"https://a.example/team/x.tar.gz"}, time.Minute, 2 * time.Minute, 3 * time.Second, 1 << 20},
		{"https://found.example", nil, time.Minute, 2 * time.Minute, 30 * time.Second, 16 << 20},
		{"https://b.example", []string{"https://b.example/z"}, time.Minute, 2 * time.Minute, 30 * time.Second, 16 << 20},
		{"http://127.0.0.1:8080", []string{"http://127.0.0.1:8080/b"}, time.Minute, 2 * time.Minute, 30 * time.Second, 16 << 20},
		{"https://a.example.evil", []string{"https://a.example.evil/x.tar.gz"}, time.Minute, 2 * time.Minute, 30 * time.Second, 16 << 20},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(row{})); diff != "" {
		t.Error(diff)
	}
}

// An exemption is told of before its end and after it, and not long before.
func TestExemptionsAreToldOf(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	for in, want := range map[time.Duration]string{-time.Hour: " expired at ", 24 * time.Hour: " expires at ", 13 * 24 * time.Hour: " expires at ", 60 * 24 * time.Hour: ""} {
		text := "version: 1\nexemptions: [{rule: git/force_push, match: x, reason: r, expires: \"" + h.Now.Add(in).UTC().Format(time.RFC3339) + "\"}]\n"
		l, err := Parse(text, h.Dir+"/c.yaml", "--config", h)
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(l.Notes, "\n"); want == "" && notes != "" || !strings.Contains(notes, want) {
			t.Errorf("%v from now: %q, want %q", in, notes, want)
		}
	}
}
