package fleet_test

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/rego/fleet"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// keys are PEM of a private key and its public half.
type keys struct{ private, public []byte }

func newKeys(t testing.TB) keys {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		t.Fatal(err)
	}
	return keys{pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public})}
}

const rule = `# METADATA
# title: A rule
# custom:
#   severity: low
#   remediation: None.
package custom.x

deny contains {"command": i, "msg": "%s"} if {
	some i, c in input.commands
	c.name == "forbidden"
}
`

// builtin is enough of built-in policies to build a bundle beside them.
var builtin = fstest.MapFS{
	"sallyport/main/main.rego":     {Data: []byte("package sallyport.main\n\ndecision := {}\n\nexplanation := {}\n")},
	"sallyport/rules/x/a/a.rego":   {Data: []byte("package sallyport.rules.x.a\n\ndeny contains {} if false\n")},
	"sallyport/profiles/data.json": {Data: []byte(`{"standard": {"default": "own"}}`)},
}

// bundleOf builds a bundle whose revision is its name.
func bundleOf(t testing.TB, revision string, serial int64, key []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.rego"), fmt.Appendf(nil, rule, revision), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := rego.BuildBundle(t.Context(), rego.BundleOptions{Builtin: builtin, Dirs: []string{dir}, Revision: revision, Serial: serial, Key: key})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// source is a server of bundles that does as it is told.
type source struct {
	*httptest.Server
	mu    sync.Mutex
	do    http.HandlerFunc
	asked int
	posts map[string][][]byte
}

func (s *source) set(do http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.do = do
}

func (s *source) times() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked
}

func newSource(t *testing.T) *source {
	s := &source{posts: map[string][][]byte{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked++
		do := s.do
		s.mu.Unlock()
		do(w, r)
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// sends answers with a text, and with 304 to who has it.
func sends(text []byte) http.HandlerFunc {
	etag := fmt.Sprintf("%q", fmt.Sprint(len(text), text[len(text)-8:]))
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = w.Write(text)
	}
}

func away(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }

// follower follows servers and remembers what happened.
type follower struct {
	*fleet.Fleet
	mu      sync.Mutex
	changes []string // revisions that became active, one text for each change
	refused []string
	warned  []string
	bad     string // revisions that hold this cannot judge
	over    bool   // the test is: what OPA's goroutines say now, nobody hears
}

// until waits until a condition holds.
func (f *follower) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	if !await.Holds(func() bool {
		f.mu.Lock()
		defer f.mu.Unlock()
		return holds()
	}) {
		f.mu.Lock()
		defer f.mu.Unlock()
		t.Fatalf("%s does not come: changes %q, refused %q, warned %q", what, f.changes, f.refused, f.warned)
	}
}

func (f *follower) last() string {
	if len(f.changes) == 0 {
		return ""
	}
	return f.changes[len(f.changes)-1]
}

func follow(t *testing.T, o fleet.Options) (*follower, error) {
	t.Helper()
	f := &follower{bad: "bad"}
	o = fill(o)
	note := func(list *[]string) func(string) {
		return func(text string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			*list = append(*list, text)
		}
	}
	t.Cleanup(func() {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.over = true
	})
	o.Log = fleet.Log{
		Warn: note(&f.warned),
		Debug: func(text string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			if !f.over {
				t.Log(text)
			}
		},
		Refused: func(place string, err error) { note(&f.refused)(err.Error()) },
	}
	var err error
	if f.Fleet, err = fleet.Open(o); err != nil {
		return nil, err
	}
	err = f.Start(t.Context(), func(_ context.Context, texts map[string][]byte) error {
		var revisions []string
		for _, text := range texts {
			info, err := rego.VerifyBundle(text, o.Keys)
			if err != nil {
				return err
			}
			if strings.Contains(info.Revision, f.bad) {
				return errors.New("it cannot judge")
			}
			if len(o.Servers[0].Bundles) == 1 {
				err = o.Serials.Accept(map[string]int64{o.Servers[0].Bundles[0]: info.Serial})
			}
			if err != nil {
				return err
			}
			revisions = append(revisions, info.Revision)
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.changes = append(f.changes, strings.Join(revisions, "+"))
		return nil
	})
	if err != nil {
		return f, err
	}
	t.Cleanup(func() { f.Close(context.Background()) })
	return f, nil
}

// one is a follower of one bundle of a source.
func one(s *source, dir string, public ...[]byte) fleet.Options {
	return fleet.Options{
		Servers: []fleet.Server{{URL: s.URL, Bundles: []string{s.URL + "/team.tar.gz"}}},
		Keys:    public, Dir: dir, Serials: rego.Serials{Dir: filepath.Join(dir, "serials")}, Name: "test",
	}
}

// fill polls as often as OPA does, and lets no good answer be late.
func fill(o fleet.Options) fleet.Options {
	if !o.Limited() {
		o.SetLimits(await.Guard, 0)
	}
	o.Servers = slices.Clone(o.Servers)
	for i := range o.Servers {
		s := &o.Servers[i]
		s.PollMin, s.PollMax = cmp.Or(s.PollMin, time.Second), cmp.Or(s.PollMax, time.Second)
		s.Timeout, s.MaxSize = cmp.Or(s.Timeout, await.Guard), cmp.Or(s.MaxSize, 1<<20)
	}
	return o
}

// age makes the stored bundle too old to be used without asking the server.
func age(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if err != nil || len(files) == 0 {
		t.Fatalf("kept: %q, %v", files, err)
	}
	for _, file := range files {
		long := time.Now().Add(-time.Hour)
		if err := os.Chtimes(file, long, long); err != nil {
			t.Fatal(err)
		}
	}
}

func sign(t *testing.T, text, key []byte) []byte {
	t.Helper()
	text, err := rego.SignBundle(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
