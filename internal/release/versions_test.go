package release

import (
	"os"
	"testing"

	"golang.org/x/mod/modfile"
)

func TestVersionOfOPA(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	mod, err := modfile.Parse("go.mod", text, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range mod.Require {
		if r.Mod.Path == "github.com/open-policy-agent/opa" {
			if r.Mod.Version != opa {
				t.Errorf("version says %s, go.mod %s", opa, r.Mod.Version)
			}
			return
		}
	}
	t.Error("go.mod does not require OPA")
}
