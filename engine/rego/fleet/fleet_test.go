package fleet_test

import (
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
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/rego/fleet"
	"github.com/sallyport-dev/sallyport/policies"
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

// bundleOf builds a bundle whose revision is its name.
func bundleOf(t testing.TB, revision string, serial int64, key []byte) []byte {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.rego"), fmt.Appendf(nil, rule, revision), 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := rego.BuildBundle(t.Context(), rego.BundleOptions{Builtin: policies.FS(), Dirs: []string{dir}, Revision: revision, Serial: serial, Key: key})
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
}

// until waits until a condition holds.
func (f *follower) until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		f.mu.Lock()
		ok := holds()
		f.mu.Unlock()
		if ok {
			return
		}
		if time.Since(start) > time.Minute {
			f.mu.Lock()
			defer f.mu.Unlock()
			t.Fatalf("%s does not come: changes %q, refused %q, warned %q", what, f.changes, f.refused, f.warned)
		}
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
	for i := range o.Servers {
		s := &o.Servers[i]
		if s.PollMin == 0 {
			s.PollMin, s.PollMax = time.Second, time.Second
		}
		if s.Timeout == 0 {
			s.Timeout = 20 * time.Second
		}
		if s.MaxSize == 0 {
			s.MaxSize = 1 << 20
		}
	}
	note := func(list *[]string) func(string) {
		return func(text string) {
			f.mu.Lock()
			defer f.mu.Unlock()
			*list = append(*list, text)
		}
	}
	o.Log = fleet.Log{
		Warn: note(&f.warned), Debug: func(text string) { t.Log(text) },
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

// A bundle that came is not sent again, a new one takes its place, and what is not taken changes nothing and
// is told once.
func TestFollow(t *testing.T) {
	t.Parallel()
	k, stranger := newKeys(t), newKeys(t)
	s := newSource(t)
	s.set(sends(bundleOf(t, "first", 5, k.private)))
	dir := filepath.Join(t.TempDir(), "state")
	f, err := follow(t, one(s, dir, k.public))
	if err != nil {
		t.Fatal(err)
	}
	if got := f.last(); got != "first" {
		t.Fatalf("got %q", got)
	}
	began := s.times()
	f.until(t, "another question", func() bool { return s.times() > began+1 })
	if len(f.changes) != 1 {
		t.Errorf("changes without a change: %q", f.changes)
	}
	s.set(sends(bundleOf(t, "second", 6, k.private)))
	f.until(t, "the second", func() bool { return f.last() == "second" })
	for _, test := range []struct {
		name, refused string
		text          []byte
	}{
		{"an older one", "its serial 5 is older than 6", bundleOf(t, "first again", 5, k.private)},
		{"one without a serial", "it has no serial, and one with serial 6 judged before", bundleOf(t, "none", 0, k.private)},
		{"another key", "no configured key fits", bundleOf(t, "third", 7, stranger.private)},
		{"no signature", "bundle missing .signatures.json", bundleOf(t, "third", 7, nil)},
		{"what cannot judge", "it cannot judge", bundleOf(t, "bad", 7, k.private)},
		{"garbage", "it is no gzip archive", []byte("<html>this is a login page</html>")},
	} {
		s.set(sends(test.text))
		f.until(t, test.name, func() bool { return len(f.refused) > 0 && strings.Contains(f.refused[len(f.refused)-1], test.refused) })
	}
	began = s.times()
	f.until(t, "another question", func() bool { return s.times() > began+1 })
	if f.last() != "second" || len(f.refused) != 6 {
		t.Errorf("judging: %q, refused: %q", f.last(), f.refused)
	}
	if st := f.States()[0]; st.Revision != "second" || st.Serial != 6 || st.Trouble == nil {
		t.Errorf("state: %+v", st)
	}
	s.set(away)
	f.until(t, "a word about the server", func() bool { return len(f.warned) > 0 && strings.Contains(f.warned[len(f.warned)-1], "503") })
	s.set(sends(bundleOf(t, "fourth", 8, k.private)))
	f.until(t, "the fourth", func() bool { return f.last() == "fourth" })
	f.until(t, "an end of the trouble", func() bool { return f.States()[0].Trouble == nil })
}

// Where a server is away at the start, what was accepted last judges; without that there is no start.
func TestStartWithoutServer(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	s := newSource(t)
	dir := filepath.Join(t.TempDir(), "state")
	s.set(away)
	if _, err := follow(t, one(s, dir, k.public)); err == nil || !strings.Contains(err.Error(), "team.tar.gz: the server answers 503 Service Unavailable: no bundle of it is kept") {
		t.Fatalf("without anything kept: %v", err)
	}
	s.set(sends(bundleOf(t, "first", 5, k.private)))
	f, err := follow(t, one(s, dir, k.public))
	if err != nil {
		t.Fatal(err)
	}
	f.Close(t.Context())
	if info, err := os.Stat(dir); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", info, err)
	}
	aged := func() {
		files, _ := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
		for _, file := range files {
			long := time.Now().Add(-time.Hour)
			if err := os.Chtimes(file, long, long); err != nil {
				t.Fatal(err)
			}
		}
		if len(files) != 1 {
			t.Fatalf("kept: %q", files)
		}
	}
	for name, test := range map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"away":         {away, "503"},
		"wrong":        {sends(bundleOf(t, "wrong", 6, newKeys(t).private)), ""},
		"older":        {sends(bundleOf(t, "older", 4, k.private)), ""},
		"not modified": {sends(bundleOf(t, "first", 5, k.private)), ""},
	} {
		aged()
		s.set(test.do)
		f, err := follow(t, one(s, dir, k.public))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.last() != "first" {
			t.Errorf("%s: judging: %q", name, f.last())
		}
		if st := f.States()[0]; name != "not modified" && (!st.Kept || st.Trouble == nil) {
			t.Errorf("%s: state: %+v", name, st)
		}
		if test.want != "" && !strings.Contains(strings.Join(f.warned, "\n"), test.want) {
			t.Errorf("%s: warned: %q", name, f.warned)
		}
		f.Close(t.Context())
	}
	// Fresh, it is not asked for at all.
	s.set(sends(bundleOf(t, "first", 5, k.private)))
	if f, err = follow(t, one(s, dir, k.public)); err != nil {
		t.Fatal(err)
	}
	f.Close(t.Context())
	o := one(s, dir, k.public)
	o.Servers[0].PollMin, o.Servers[0].PollMax = time.Hour, time.Hour
	before := s.times()
	if f, err = follow(t, o); err != nil || f.last() != "first" || s.times() != before {
		t.Errorf("%v, %q, asked %d times", err, f.last(), s.times()-before)
	}
	if texts, ok := f.Kept(); !ok || len(texts) != 1 {
		t.Errorf("kept: %d, %v", len(texts), ok)
	}
	// What was changed on the disk is not used.
	f.Close(t.Context())
	files, _ := filepath.Glob(filepath.Join(dir, "*.tar.gz"))
	if err := os.WriteFile(files[0], bundleOf(t, "mine", 9, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	s.set(away)
	if _, err := follow(t, o); err == nil {
		t.Error("a bundle without a signature was taken from the disk")
	}
}

// A kept bundle that can judge no more does not stand in the way of the one that can.
func TestKeptThatCannotJudge(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	s := newSource(t)
	dir := filepath.Join(t.TempDir(), "state")
	s.set(sends(bundleOf(t, "v1", 5, k.private)))
	f, err := follow(t, one(s, dir, k.public))
	if err != nil {
		t.Fatal(err)
	}
	f.Close(t.Context())
	again := func() (*follower, error) {
		o := one(s, dir, k.public)
		o.Servers[0].PollMax = time.Hour // it is fresh
		f := &follower{}
		if f.Fleet, err = fleet.Open(fill(o)); err != nil {
			t.Fatal(err)
		}
		err := f.Start(t.Context(), func(_ context.Context, texts map[string][]byte) error {
			for _, text := range texts {
				if info, _ := rego.VerifyBundle(text, o.Keys); info.Revision == "v1" {
					return errors.New("it cannot judge any more")
				}
			}
			return nil
		})
		if err == nil {
			f.Close(t.Context())
		}
		return f, err
	}
	if _, err := again(); err == nil || !strings.Contains(err.Error(), "it cannot judge any more") {
		t.Errorf("got %v", err)
	}
	s.set(sends(bundleOf(t, "v2", 6, k.private)))
	if _, err := again(); err != nil {
		t.Error(err)
	}
}

func fill(o fleet.Options) fleet.Options {
	for i := range o.Servers {
		o.Servers[i].PollMin, o.Servers[i].Timeout, o.Servers[i].MaxSize = time.Second, 20*time.Second, 1<<20
	}
	return o
}

func sign(t *testing.T, text, key []byte) []byte {
	t.Helper()
	text, err := rego.SignBundle(text, key)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
