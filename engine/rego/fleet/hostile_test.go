package fleet_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Whatever a server does, it holds nothing up, fills nothing and changes nothing; and it is followed on.
func TestHostileServer(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	good := bundleOf(t, "good", 5, k.private)
	var elsewhere bool
	other := newSource(t)
	other.set(func(w http.ResponseWriter, r *http.Request) {
		elsewhere = true
		sends(bundleOf(t, "elsewhere", 9, k.private))(w, r)
	})
	endless := func(w http.ResponseWriter, r *http.Request) {
		for r.Context().Err() == nil {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}
	for name, test := range map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"an endless answer":             {endless, "larger than 1048576 bytes"},
		"a huge bundle":                 {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 2<<20)) }, "larger than 1048576 bytes"},
		"a bundle that unpacks to more": {sends(bomb(t)), "it unpacks to more than"},
		"a redirect to elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL+"/team.tar.gz", http.StatusFound)
		}, "it sends us to " + other.URL},
		"a redirect without end": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path+"/x", http.StatusFound)
		}, "more than 3 times"},
		"half an answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100000")
			_, _ = w.Write(good[:100])
		}, "unexpected EOF"},
		"304 without a question for it": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotModified) }, ""},
		"nothing":                       {func(http.ResponseWriter, *http.Request) {}, "it is no gzip archive"},
		"a header without end": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X", strings.Repeat("x", 1<<20))
			_, _ = w.Write(good)
		}, "headers exceeded"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSource(t)
			s.set(sends(good))
			o := one(s, filepath.Join(t.TempDir(), "state"), k.public)
			f, err := follow(t, o)
			if err != nil {
				t.Fatal(err)
			}
			s.set(test.do)
			began := s.times()
			f.until(t, "what the server does", func() bool {
				return s.times() > began && strings.Contains(strings.Join(append(f.warned, f.refused...), "\n"), test.want)
			})
			if got := f.last(); got != "good" || len(f.changes) != 1 {
				t.Errorf("judging: %q", f.changes)
			}
			s.set(sends(bundleOf(t, "later", 6, k.private)))
			f.until(t, "the next bundle", func() bool { return f.last() == "later" })
		})
	}
	t.Cleanup(func() {
		if elsewhere {
			t.Error("the redirect was followed")
		}
	})
}

// The client gives up each request to a slow server, and the last accepted bundle judges.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	k := newKeys(t)
	good := bundleOf(t, "good", 5, k.private)
	for name, test := range map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"no answer": {func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }, "Client.Timeout exceeded"},
		"an answer drop by drop": {func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte{0x1f})
				w.(http.Flusher).Flush()
				pause, done := context.WithTimeout(r.Context(), 50*time.Millisecond)
				<-pause.Done()
				done()
			}
		}, "Client.Timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSource(t)
			o := one(s, filepath.Join(t.TempDir(), "state"), k.public)
			again := func(do http.HandlerFunc, timeout time.Duration, want string) *follower {
				s.set(do)
				o.Servers[0].Timeout = timeout
				f, err := follow(t, o)
				if err != nil {
					t.Fatal(err)
				}
				f.until(t, want, func() bool { return f.last() == want })
				return f
			}
			again(sends(good), 0, "good").Close(t.Context())
			age(t, o.Dir)
			f := again(test.do, 200*time.Millisecond, "good")
			began := s.times()
			f.until(t, "the next question", func() bool {
				return s.times() > began && strings.Contains(strings.Join(f.warned, "\n"), test.want)
			})
			f.Close(t.Context())
			again(sends(bundleOf(t, "later", 6, k.private)), 0, "later")
		})
	}
}

// bomb is a small archive of much.
func bomb(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	a := tar.NewWriter(z)
	const size = 40 << 20
	for _, name := range []string{"/a.rego", "/b.rego"} { // each alone would do
		if err := a.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: size}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(a, zeros{}, size); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if out.Len() > 1<<20 {
		t.Fatalf("it is %d bytes long", out.Len())
	}
	return out.Bytes()
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
