package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Each decision of logs of many sizes has a proof, and a proof with anything changed does not hold.
func TestProve(t *testing.T) {
	t.Parallel()
	for n := range 12 {
		o := testOptions(t)
		l := mustOpen(t, o)
		fill(t, l, 0, n+1)
		mustClose(t, l)
		for i := range n + 1 {
			p, err := Prove(o.Dir, fmt.Sprint("d-", i), nil)
			if err != nil || len(p.Records) != 2 {
				t.Fatalf("%d of %d: %d records, %v", i, n+1, len(p.Records), err)
			}
		}
	}
	o, _ := smallLog(t, 5)
	key, err := PublicKey(o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for what, spoil := range map[string]func(p *Proof){
		"format":      func(p *Proof) { p.Format = 2 },
		"no record":   func(p *Proof) { p.Records = nil },
		"signature":   func(p *Proof) { p.Checkpoint = strings.Replace(p.Checkpoint, "\n", "\n1", 1) },
		"line":        func(p *Proof) { p.Records[0].Line = strings.Replace(p.Records[0].Line, "echo", "true", 1) },
		"index":       func(p *Proof) { p.Records[0].Index++ },
		"hash":        func(p *Proof) { p.Records[0].Proof[1] = p.Records[0].Proof[0] },
		"upper case":  func(p *Proof) { p.Records[0].Proof[0] = strings.ToUpper(p.Records[0].Proof[0]) },
		"short":       func(p *Proof) { p.Records[0].Proof = p.Records[0].Proof[1:] },
		"long":        func(p *Proof) { p.Records[0].Proof = append(p.Records[0].Proof, p.Records[0].Proof[0]) },
		"other place": func(p *Proof) { p.Records[0].Line = p.Records[1].Line },
	} {
		p, err := Prove(o.Dir, "d-3", nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Check(key); err != nil {
			t.Fatalf("%s: as it was: %v", what, err)
		}
		spoil(&p)
		if _, err := p.Check(key); err == nil {
			t.Errorf("%s: a changed proof holds", what)
		}
	}
}

// What the checkpoint does not cover, and a log that does not have its root, have no proof.
func TestProveRefuses(t *testing.T) {
	t.Parallel()
	o, b := smallLog(t, 5)
	note, err := os.ReadFile(filepath.Join(o.Dir, CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	l := mustOpen(t, o)
	fill(t, l, 10, 1)
	mustClose(t, l)
	if _, err := Prove(o.Dir, "d-10", note); err == nil || !strings.Contains(err.Error(), "take a newer checkpoint") {
		t.Errorf("a record behind the checkpoint: %v", err)
	}
	if _, err := Prove(o.Dir, "d-3", note); err != nil {
		t.Errorf("a record before the checkpoint: %v", err)
	}
	if _, err := Prove(o.Dir, "d-77", nil); err == nil || !strings.Contains(err.Error(), "there is no record of it") {
		t.Errorf("no such decision: %v", err)
	}
	writeLog(t, o, []byte(strings.Replace(string(b), "echo d-1", "true d-1", 1)))
	if _, err := Prove(o.Dir, "d-3", note); !errors.Is(err, ErrTampered) {
		t.Errorf("a changed log: %v", err)
	}
}
