package fleet

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A token goes into a header: the client refuses any that is not a single printable word, before a request.
func TestToken(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"t0ken": "Bearer t0ken", " t0ken\r\n": "Bearer t0ken", "": "", "\n": "",
		"t0 ken": "", "t0ken\nX-Role: admin": "", "t0ken\x00": "", "t0ken\x7f.": "", "t\u00f6ken": "", "t0\tken": "",
	} {
		file := filepath.Join(t.TempDir(), "token")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequest(http.MethodGet, "https://a.example", nil)
		if err != nil {
			t.Fatal(err)
		}
		err = authorize(req, file)
		if got := req.Header.Get("Authorization"); got != want {
			t.Errorf("%q: sends %q, want %q", text, got, want)
		}
		if want == "" && (err == nil || !strings.Contains(err.Error(), "holds no token")) {
			t.Errorf("%q: %v, want that it holds no token", text, err)
		}
	}
}
