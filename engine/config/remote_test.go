package config_test

import (
	"slices"
	"testing"

	"github.com/sallyport-dev/sallyport/engine/config"
)

// What is to be elsewhere need not be here, and the workspace is the one there.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	const runners = "version: 1\nrunners: {box: {command: [ssh, box], workspace: /srv/work}}\npaths: [{path: /not/here, access: write}]\nenvironment: {venv: /not/here/venv}\n"
	host := config.Host{Dir: t.TempDir(), Home: t.TempDir(), Getenv: func(string) string { return "" }}
	if _, err := config.Parse(runners, host.Dir+"/c.yaml", "", host); err == nil {
		t.Error("with the local runner, places that are not here are taken")
	}
	l, err := config.Parse(runners+"runner: box\n", host.Dir+"/c.yaml", "", host)
	if err != nil {
		t.Fatal(err)
	}
	layout := l.Layout()
	if layout.Workspace != "/srv/work" || layout.Roots[0].Path != "/srv/work" || layout.Roots[1].Path != "/not/here" {
		t.Errorf("workspace %q, roots %+v", layout.Workspace, layout.Roots)
	}
	r, ok := l.Elsewhere()
	if !ok || r.Isolation != "remote" || r.Network != "unknown" || !slices.Equal(r.Command, []string{"ssh", "box"}) {
		t.Errorf("%v, %+v", ok, r)
	}
	l.Runner = "local"
	if layout := l.Layout(); layout.Workspace != string(l.Workspace) {
		t.Errorf("workspace of the local runner: %q", layout.Workspace)
	}
}
