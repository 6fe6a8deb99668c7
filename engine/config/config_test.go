package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// full uses every section. Its places are made by testHost.
const full = `version: 1
agent: coder
workspace: work
profile: strict
mode: monitor
runner: build-box
timeout: 90s
limits: {max_timeout: 2h, grace: 5s, approval: 1m, output: 2MiB, background: 3, ring_lines: 500}
paths:
  - {path: ./reference, access: read}
  - {path: shared, access: write, protected: [secrets, ./a/b]}
  - {path: notes.txt}
  - {path: gone, optional: true}
  - {path: scratch, access: write, zone: temporary}
commands:
  allow: ["python .*", "pytest .*"]
  deny: ["git push"]
rules: {dangerous/permissions: ask}
exemptions:
  - {rule: git/force_push, match: "git push --force origin wip", reason: "own branch", expires: 2026-12-31}
  - {rule: git/force_push, match: "git push -f", reason: "over", expires: 2020-01-01}
generated: ["*.o"]
labels: {customer: ["data/customers/**", "~/hr", /srv/people]}
policies: [./policies, "https://example.com/bundle.tar.gz"]
plugins: [no-crypto.wasm]
environment: {venv: auto, prefix: "uv run", env_file: .env, env_file_names: [A], env: [GITHUB_TOKEN]}
local: {sandbox: none, network: host}
docker: {image: x, memory: 2g, cpus: 1.5, network: bridge, pull: missing, user: "1000:1000", root: read-only, deliver: copy, credentials: {mount: [ssh_keys], env: [T]}, packages: {python: ["requests>=2", "/wheels/a-1-py3-none-any.whl"], system: [g++, "jq=1.7.1-6+deb13u1", libc6:amd64, /x.deb], npm: ["@types/node@20"]}, mounts: [{source: shared}]}
runners: {build-box: {command: [ssh, build-box, sallyport-supervisor]}}
audit: {dir: audit, redact: ["tok-[a-z]+"], checkpoint: {every: 10s, publish: [points]}}
`

// testHost makes a directory with the places that full names, and a host that works in it.
func testHost(t *testing.T) Host {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"work", "reference", "shared", "scratch", "policies", "home"} {
		if err := os.Mkdir(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"notes.txt", "no-crypto.wasm", ".env"} {
		if err := os.WriteFile(filepath.Join(root, file), []byte("A=1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Host{
		Dir: root, Home: filepath.Join(root, "home"), Executable: "/opt/sallyport",
		Getenv: func(string) string { return "" },
		Now:    time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC),
	}
}

func parse(t *testing.T, text string) (*Loaded, error) {
	t.Helper()
	h := testHost(t)
	return Parse(text, filepath.Join(h.Dir, "sallyport.yaml"), "--config", h)
}

func TestFullConfiguration(t *testing.T) {
	t.Parallel()
	h := testHost(t)
	l, err := Parse(full, filepath.Join(h.Dir, "c.yaml"), "--config", h)
	if err != nil {
		t.Fatal(err)
	}
	in := func(p string) string { return filepath.Join(h.Dir, p) }
	want := facts.Layout{
		Workspace: in("work"),
		Home:      h.Home,
		Roots: []facts.Root{
			{Path: in("work"), Write: true, Zone: "workspace"},
			{Path: in("reference"), Zone: "context"},
			{Path: in("shared"), Write: true, Zone: "context", Protected: []string{in("shared/secrets"), in("shared/a/b")}},
			{Path: in("notes.txt"), Zone: "context", File: true},
			{Path: in("scratch"), Write: true, Zone: "temporary"},
		},
		Temporary: []string{"/tmp", "/var/tmp"},
		Labels: []facts.PathLabel{{
			Name: "customer", Patterns: []string{in("work/data/customers/**"), h.Home + "/hr", "/srv/people"},
		}},
		Self: []facts.Place{
			{Path: "/opt/sallyport", Label: "self_binary"},
			{Path: in("c.yaml"), Label: "self_config"},
			{Path: in("home/.config/sallyport/config.yaml"), Label: "self_config"},
			{Path: "/etc/sallyport/config.yaml", Label: "self_config"},
			{Path: in("policies"), Label: "self_policy"},
			{Path: in("no-crypto.wasm"), Label: "self_policy"},
			{Path: in("no-crypto.manifest.json"), Label: "self_policy"},
			{Path: in("home/.local/state/sallyport/policies"), Label: "self_policy"},
			{Path: in("home/.local/state/sallyport/compiled"), Label: "self_policy"},
			{Path: in("audit"), Label: "self_audit"},
			{Path: in("keys"), Label: "self_key"},
			{Path: in("home/.local/state/sallyport/sessions"), Label: "self_audit"},
			{Path: in("home/.local/state/sallyport/hooks"), Label: "self_audit"},
			{Path: in("home/.local/state/sallyport/environments"), Label: "self_audit"},
			{Path: in("home/.local/state/sallyport/sandboxes"), Label: "self_audit"},
			{Path: in("home/.local/state/sallyport/held"), Label: "self_audit"},
			{Path: in("home/.local/state/sallyport/undo"), Label: "self_audit"},
			{Path: in("home/.local/state/sallyport/undo-shared"), Label: "self_audit"},
			{Path: in("home/.local/state/sallyport/approvals"), Label: "self_socket"},
			{Path: in("home/.local/state/sallyport/resident"), Label: "self_socket"},
			{Path: in("home/.local/state/sallyport/compiled"), Label: "self_policy"},
		},
		Generated: []string{"*.o"},
	}
	got := l.Layout()
	patterns := got
	got.Allow, got.Deny, got.Exemptions, got.YAML = nil, nil, nil, nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("layout (-want +got):\n%s", diff)
	}
	var ends []string
	for _, e := range patterns.Exemptions {
		ends = append(ends, e.Expires.Format(time.DateTime))
	}
	if diff := cmp.Diff([]string{"2027-01-01 00:00:00", "2020-01-02 00:00:00"}, ends); diff != "" {
		t.Errorf("ends of exemptions, in their places (-want +got):\n%s", diff)
	}
	if len(l.Notes) != 2 || !strings.Contains(l.Notes[0], "not granted") || !strings.Contains(l.Notes[1], "expired") {
		t.Errorf("notes = %q", l.Notes)
	}
	if l.Limits.Output != 2<<20 || l.Docker.Memory != 2<<30 || time.Duration(l.Timeout) != 90*time.Second {
		t.Errorf("limits = %+v, memory %d, timeout %d", l.Limits, l.Docker.Memory, l.Timeout)
	}
}

func TestPatternsAreAnchored(t *testing.T) {
	t.Parallel()
	l, err := parse(t, `version: 1
commands:
  allow: ["python .*|make", "pytest"]
  deny: ["git push", "rm( |$)", "(?i)DEL"]
`)
	if err != nil {
		t.Fatal(err)
	}
	layout := l.Layout()
	for _, test := range []struct {
		list  string
		index int
		text  string
		want  bool
	}{
		{"allow", 0, "python x.py", true},
		{"allow", 0, "python -c 'a\nb'", true},
		{"allow", 0, "make", true},
		{"allow", 0, "make all", false},
		{"allow", 0, "cpython x", false},
		{"allow", 1, "pytest\n", false},
		{"deny", 0, "git push origin", true},
		{"deny", 0, "git push-fake", true},
		{"deny", 0, "sudo git push", false},
		{"deny", 1, "rm x", true},
		{"deny", 1, "rm", true},
		{"deny", 1, "rmdir x", false},
		{"deny", 2, "del x", true},
	} {
		list := layout.Allow
		if test.list == "deny" {
			list = layout.Deny
		}
		if got := list[test.index].MatchString(test.text); got != test.want {
			t.Errorf("%s[%d] on %q = %v, want %v", test.list, test.index, test.text, got, test.want)
		}
	}
}
