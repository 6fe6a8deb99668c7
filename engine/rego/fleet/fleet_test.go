package fleet_test

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/rego/fleet"
)

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
	for name, test := range map[string]struct {
		do   http.HandlerFunc
		want string
	}{
		"away":         {away, "503"},
		"wrong":        {sends(bundleOf(t, "wrong", 6, newKeys(t).private)), ""},
		"older":        {sends(bundleOf(t, "older", 4, k.private)), ""},
		"not modified": {sends(bundleOf(t, "first", 5, k.private)), ""},
	} {
		age(t, dir)
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
