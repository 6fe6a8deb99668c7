package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
)

// madeLog writes a log of n decisions and returns its directory, and a copy of its public key elsewhere.
func madeLog(t *testing.T, n int) (dir, key string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "audit")
	l, err := audit.Open(audit.Options{Dir: dir, CheckpointCount: 5, CheckpointEvery: -1, Reserve: -1})
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := fmt.Sprint("d-", i)
		r := engine.Record{Kind: engine.KindDecision, Decision: id, Body: engine.DecisionBody{
			Decision: engine.Decision{ID: id, Effect: engine.Deny, Mode: engine.Enforce, Reasons: []engine.Reason{}},
		}}
		if err := l.Record(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	key = filepath.Join(t.TempDir(), "pub")
	write(t, key, []byte(l.PublicKey()+"\n"))
	return dir, key
}

func write(t *testing.T, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(name, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func tried(args ...string) (code int, out string) {
	var b bytes.Buffer
	return run(args, &b, &b), b.String()
}

func TestLog(t *testing.T) {
	t.Parallel()
	dir, key := madeLog(t, 12)
	name := filepath.Join(dir, "audit-000001.jsonl")
	whole := read(t, name)
	if code, out := tried("log", dir, "--public-key", key); code != 0 || !strings.HasSuffix(out, "\nok\n") {
		t.Fatalf("as it was written: %d\n%s", code, out)
	}
	kept := filepath.Join(t.TempDir(), "kept")
	write(t, kept, read(t, filepath.Join(dir, "checkpoint")))
	if code, out := tried("log", dir, "--public-key", key, "--checkpoint", kept); code != 0 || strings.Contains(out, "not proved") {
		t.Fatalf("with a checkpoint from elsewhere: %d\n%s", code, out)
	}
	lines := bytes.SplitAfter(whole, []byte("\n"))
	lines = lines[:len(lines)-1]
	change := func(what string, text []byte) {
		t.Helper()
		write(t, name, text)
		if code, out := tried("log", dir, "--public-key", key); code != 1 {
			t.Errorf("%s: %d\n%s", what, code, out)
		}
	}
	for i := range lines {
		change(fmt.Sprint("removed ", i), bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
		change(fmt.Sprint("doubled ", i), bytes.Join(slices.Insert(slices.Clone(lines), i, lines[i]), nil))
		change(fmt.Sprint("cut after ", i), bytes.Join(lines[:i], nil))
	}
	for i := 0; i < len(whole); i += 7 {
		flipped := bytes.Clone(whole)
		flipped[i] ^= 1
		change(fmt.Sprint("bit of byte ", i), flipped)
	}
	write(t, name, whole)
	if err := os.Remove(filepath.Join(dir, "checkpoint")); err != nil {
		t.Fatal(err)
	}
	write(t, name, bytes.Join(lines[:5], nil))
	if code, out := tried("log", dir, "--public-key", key); code != 0 {
		t.Errorf("the control: a cut without any checkpoint behind it: %d\n%s", code, out)
	}
	if code, out := tried("log", dir, "--public-key", key, "--checkpoint", kept); code != 1 || !strings.Contains(out, "the given checkpoint speaks of") {
		t.Errorf("the same with a checkpoint from elsewhere: %d\n%s", code, out)
	}
}

func TestProof(t *testing.T) {
	t.Parallel()
	dir, key := madeLog(t, 9)
	p, err := audit.Prove(dir, "d-4", nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "proof.json")
	write(t, name, text)
	if code, out := tried("proof", name, "--public-key", key); code != 0 || !strings.Contains(out, `decision of decision "d-4"`) {
		t.Fatalf("as it was made: %d\n%s", code, out)
	}
	for i := range text {
		if i < bytes.Index(text, []byte(`"records"`)) {
			continue // the signature has spare bits in its last digit
		}
		if text[i] == '"' || text[i] == '{' {
			continue // spaces and names of members that nobody reads
		}
		changed := bytes.Clone(text)
		changed[i] ^= 1
		var q, r audit.Proof
		if json.Unmarshal(changed, &q) == nil && json.Unmarshal(text, &r) == nil && fmt.Sprint(q) == fmt.Sprint(r) {
			continue // it says the same
		}
		write(t, name, changed)
		if code, out := tried("proof", name, "--public-key", key); code != 1 {
			t.Errorf("byte %d changed: %d\n%s", i, code, out)
		}
	}
	_, other := madeLog(t, 1)
	write(t, name, text)
	if code, out := tried("proof", name, "--public-key", other); code != 1 {
		t.Errorf("with another key: %d\n%s", code, out)
	}
}

// A log whose old files were pruned holds by their hashes, and not without them.
func TestPruned(t *testing.T) {
	t.Parallel()
	dir, key := madeLog(t, 40)
	o := audit.Options{Dir: dir, CheckpointCount: 5, CheckpointEvery: -1, Reserve: -1, SegmentSize: 8 << 10}
	for i := range 3 {
		l, err := audit.Open(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 20 {
			if err := l.Record(t.Context(), engine.Record{Kind: engine.KindStart}); err != nil {
				t.Fatal(i, err)
			}
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if done, err := audit.Prune(o, time.Now().Add(time.Hour), "ann"); err != nil || done.Files == 0 {
		t.Fatalf("pruned %+v, %v", done, err)
	}
	if code, out := tried("log", dir, "--public-key", key); code != 0 {
		t.Fatalf("pruned: %d\n%s", code, out)
	}
	name := filepath.Join(dir, "audit-000001.hashes")
	whole := read(t, name)
	changed := bytes.Clone(whole)
	changed[len(changed)-1] ^= 1
	write(t, name, changed)
	if code, out := tried("log", dir, "--public-key", key); code != 1 {
		t.Errorf("with another hash: %d\n%s", code, out)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if code, out := tried("log", dir, "--public-key", key); code != 1 {
		t.Errorf("without hashes: %d\n%s", code, out)
	}
}

func TestUsage(t *testing.T) {
	t.Parallel()
	for _, args := range [][]string{
		{}, {"log"}, {"log", "x"}, {"else", "x", "--public-key", "y"}, {"log", "x", "--public-key", "y", "z"},
		{"proof", "x", "--public-key", "y", "--checkpoint", "z"},
	} {
		if code, out := tried(args...); code != 2 || !strings.Contains(out, "Usage:") {
			t.Errorf("%q: %d\n%s", args, code, out)
		}
	}
	if code, _ := tried("--help"); code != 0 {
		t.Errorf("--help: %d", code)
	}
	dir, _ := madeLog(t, 1)
	for _, key := range []string{"/dev/zero", filepath.Join(dir, "nothing")} {
		if code, out := tried("log", dir, "--public-key", key); code != 1 {
			t.Errorf("key %s: %d\n%s", key, code, out)
		}
	}
}
