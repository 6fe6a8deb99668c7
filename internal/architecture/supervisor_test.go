package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/internal/testprogram"
)

// The supervisor is put on machines of others: it holds nothing that decides, and stays small.
func TestSupervisorIsSmall(t *testing.T) {
	t.Parallel()
	const program = module + "/cmd/sallyport-supervisor"
	out, err := exec.Command("go", "list", "-deps", program).CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, out)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 50 {
		t.Fatalf("only %d packages: the test looks in the wrong place", len(deps))
	}
	for _, dep := range deps {
		for _, banned := range []string{
			"github.com/open-policy-agent/opa", "github.com/tetratelabs/wazero", "github.com/mark3labs/mcp-go", "github.com/spf13/cobra", "go.yaml.in/yaml",
			"net/http", module + "/policies", module + "/plugins", module + "/engine/rego", module + "/engine/audit", module + "/engine/config",
		} {
			if below(dep, banned) && dep != module+"/policies/revision" {
				t.Errorf("the supervisor holds %s", dep)
			}
		}
	}
	dir := t.TempDir()
	if err := testprogram.Build(dir, "cmd/sallyport-supervisor"); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "sallyport-supervisor"))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", info.Size())
	if info.Size() > 8<<20 {
		t.Errorf("the supervisor has %d bytes, want at most 8 MiB", info.Size())
	}
}

// The front of an installation starts at once: it links nothing that takes long to start, and that it does
// not use.
func TestFrontIsSmall(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", module+"/internal/front").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, out)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 50 {
		t.Fatalf("only %d packages: the test looks in the wrong place", len(deps))
	}
	for _, dep := range deps {
		if strings.Contains(dep, ".") && !below(dep, module) && !below(dep, "golang.org/x") &&
			!strings.HasPrefix(dep, "vendor/") ||
			slices.ContainsFunc([]string{"engine", "policies", "plugins", "net/http", "text/template"},
				func(banned string) bool {
					return dep != module+"/policies/revision" && (below(dep, module+"/"+banned) || dep == banned)
				}) {
			t.Errorf("the front holds %s", dep)
		}
	}
}

// The gate holds no client of a cluster: that is in a plugin.
func TestGateHoldsNoCluster(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("go", "list", "-deps", module+"/cmd/sallyport").CombinedOutput()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, out)
	}
	deps := strings.Fields(string(out))
	if len(deps) < 50 {
		t.Fatalf("only %d packages: the test looks in the wrong place", len(deps))
	}
	for _, dep := range deps {
		if below(dep, "k8s.io") || below(dep, module+"/runners/kubernetes") {
			t.Errorf("the gate holds %s", dep)
		}
	}
}
