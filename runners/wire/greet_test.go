package wire

import (
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Every setting arrives as it was sent, those that somebody adds included.
func TestSettingsArrive(t *testing.T) {
	t.Parallel()
	s := Settings{
		Workspace: "/w", Venv: "auto", Env: []string{"A=\xff", "B="}, User: &User{UID: 1, GID: 2, Groups: []int{3}}, Home: "/h\xff",
		Roots: []string{"/r", "/\xfe"}, Reown: []string{"/o"}, NoSetID: true, NoUnixSockets: true,
		Watched: []string{"/r/\xff"}, Kept: "/k/\xff", KeptMost: 1 << 40, Programs: true,
	}
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is not tried here", v.Type().Field(i).Name)
		}
	}
	body, err := json.Marshal(helloOf(s))
	if err != nil {
		t.Fatal(err)
	}
	var h hello
	if err := decode(body, &h); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, h.settings()); diff != "" {
		t.Errorf("(-sent +arrived)\n%s", diff)
	}
}

// TestGuideVersion: the manifest in the guide states the version of the protocol that this build speaks.
func TestGuideVersion(t *testing.T) {
	guide, err := os.ReadFile("../../docs/runners.md")
	if err != nil {
		t.Fatal(err)
	}
	want := fmt.Sprintf("\ninterface: %d ", Version)
	if !strings.Contains(string(guide), want) {
		t.Errorf("docs/runners.md has no line %q", want[1:])
	}
}
