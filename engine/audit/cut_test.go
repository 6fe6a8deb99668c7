package audit

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// truncateAfter cuts a segment behind its nth line.
func truncateAfter(t *testing.T, name string, lines int) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	end := 0
	for range lines {
		end += strings.IndexByte(string(text[end:]), '\n') + 1
	}
	if err := os.Truncate(name, int64(end)); err != nil {
		t.Fatal(err)
	}
}

// A cut, a replacement or a removal that a running process finds is on record, with the lines that it knew, until somebody
// accepts it. A cut that no process saw verifies: that is the control.
func TestCutIsRemembered(t *testing.T) {
	t.Parallel()
	for name, cut := range map[string]func(t *testing.T, dir string){
		"cut": func(t *testing.T, dir string) { truncateAfter(t, filepath.Join(dir, segmentName(1)), 4) },
		"emptied": func(t *testing.T, dir string) {
			removeAll(t, dir)
			writeFile(t, filepath.Join(dir, segmentName(1)), "")
		},
		"removed": func(t *testing.T, dir string) { removeAll(t, dir) },
		"replaced": func(t *testing.T, dir string) {
			text, err := os.ReadFile(filepath.Join(dir, segmentName(1)))
			if err != nil {
				t.Fatal(err)
			}
			removeAll(t, dir)
			writeFile(t, filepath.Join(dir, segmentName(1)), string(text))
			truncateAfter(t, filepath.Join(dir, segmentName(1)), 3)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := testOptions(t)
			o.CheckpointEvery, o.CheckpointCount = -1, 1000
			l := mustOpen(t, o)
			for _, id := range []string{"a", "b", "c"} {
				if err := l.Record(t.Context(), decision(id, "touch "+id, engine.Allow)); err != nil {
					t.Fatal(err)
				}
			}
			cut(t, o.Dir)
			if name == "cut" {
				if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || !r.OK {
					t.Fatalf("the control: a cut that nobody has noticed yet: %v, %v", r, err)
				}
			}
			if err := l.Record(t.Context(), decision("d", "touch d", engine.Allow)); !errors.Is(err, ErrTampered) {
				t.Errorf("the decision behind the cut: %v", err)
			}
			if err := l.Record(t.Context(), decision("e", "touch e", engine.Allow)); err != nil {
				t.Errorf("the decision after it: %v", err)
			}
			mustClose(t, l)
			r, err := Verify(o.Dir, VerifyOptions{})
			if err != nil || r.OK || !strings.Contains(r.String(), "nobody accepted this break") {
				t.Fatalf("the log verifies:\n%v%v", r, err)
			}
			if k := known(t, o.Dir); k.Size != 5 || len(k.Lines) != 5 || !strings.Contains(k.Lines[4], "touch c") {
				t.Errorf("on record: %+v", k)
			}
			mustClose(t, mustOpen(t, o)) // another process does not forget it
			if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK {
				t.Errorf("after another process: %v, %v", r.OK, err)
			}
			acceptAll(t, o)
			if r := mustVerify(t, o.Dir); !strings.Contains(r.String(), "accepted by ann") {
				t.Errorf("accepted:\n%v", r)
			}
		})
	}
}

// acceptAll accepts what Breaks returns, as an operator does.
func acceptAll(t *testing.T, o Options) {
	t.Helper()
	breaks, err := Breaks(o)
	if err != nil || len(breaks) == 0 {
		t.Fatalf("breaks: %v, %v", breaks, err)
	}
	var ids []string
	for _, b := range breaks {
		ids = append(ids, b.ID)
	}
	if err := AcceptBreaks(o, ids, "ann", "a disk was exchanged"); err != nil {
		t.Fatalf("accept %v: %v", breaks, err)
	}
}

// A second process that writes on behind a cut, past the end that the first one remembers, does not hide it.
func TestCutBehindASecondWriter(t *testing.T) {
	t.Parallel()
	pad := func(n int) string { return strings.Repeat("x", n) }
	for name, behind := range map[string][]string{
		"nothing behind":               nil,
		"ends in the next record":      {pad(8000)},
		"whole records past the end":   {pad(100), pad(8000), pad(100), pad(100)},
		"checkpoints past the end":     {pad(3000), pad(3000), pad(3000), pad(3000), pad(3000), pad(3000)},
		"shorter than the end, in all": {pad(10)},
	} {
		for _, cut := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, cut %v", name, cut), func(t *testing.T) {
				t.Parallel()
				o := testOptions(t)
				o.CheckpointCount = 5
				first := mustOpen(t, o)
				if err := first.Record(t.Context(), decision("a", pad(4000), engine.Allow)); err != nil {
					t.Fatal(err)
				}
				if cut {
					truncateAfter(t, filepath.Join(o.Dir, segmentName(1)), 2)
				}
				second := mustOpen(t, o)
				for _, command := range behind {
					if err := second.Record(t.Context(), decision("b", command, engine.Deny)); err != nil {
						t.Fatal(err)
					}
				}
				err := first.Record(t.Context(), decision("c", "touch c", engine.Deny))
				if cut != errors.Is(err, ErrTampered) || !cut && err != nil {
					t.Errorf("the next decision of the first: %v", err)
				}
				mustClose(t, second)
				mustClose(t, first)
				r, err := Verify(o.Dir, VerifyOptions{})
				if err != nil || r.OK == cut {
					t.Errorf("verify: %v\n%s", err, r)
				}
				if k := known(t, o.Dir); cut && (k.Size != 3 || len(k.Lines) != 3) {
					t.Errorf("on record: %+v", k)
				}
			})
		}
	}
}

// Each break is accepted by its own id, with a name and a reason.
func TestAcceptByID(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.CheckpointCount = 1000
	var logs []*Log
	for range 2 { // two processes remember the same end, and tell of the same cut
		logs = append(logs, mustOpen(t, o))
	}
	for i, l := range logs {
		if err := l.Record(t.Context(), decision(fmt.Sprint(i), "true", engine.Deny)); err != nil {
			t.Fatal(err)
		}
	}
	truncateAfter(t, filepath.Join(o.Dir, segmentName(1)), 2)
	for _, l := range logs {
		if err := l.Close(); !errors.Is(err, ErrTampered) {
			t.Errorf("close: %v", err)
		}
	}
	open, err := Breaks(o)
	if err != nil || len(open) != 2 || open[0].ID == open[1].ID {
		t.Fatalf("breaks: %v, %v", open, err)
	}
	for _, bad := range []struct{ id, by, why string }{
		{open[0].ID, "", "why"}, {open[0].ID, "ann", " "}, {"B00000000", "ann", "why"}, {"", "ann", "why"},
	} {
		if err := AcceptBreaks(o, []string{bad.id}, bad.by, bad.why); err == nil {
			t.Errorf("%q: accepted", bad)
		}
	}
	if err := AcceptBreaks(o, []string{open[1].ID}, "ann", "why"); err != nil {
		t.Fatal(err)
	}
	if left, err := Breaks(o); err != nil || len(left) != 1 || left[0].ID != open[0].ID {
		t.Errorf("left: %v, %v", left, err)
	}
	if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK || !strings.Contains(r.String(), "accept-break "+open[0].ID) {
		t.Errorf("verify: %v\n%s", err, r)
	}
	if err := AcceptBreaks(o, []string{open[1].ID}, "ann", "again"); err == nil {
		t.Error("accepted twice")
	}
	if err := AcceptBreaks(o, []string{open[0].ID}, "ann", "why"); err != nil {
		t.Fatal(err)
	}
	mustVerify(t, o.Dir)
}

// The outcome of a command that cut the log is not lost, though no decision of it is left.
func TestOutcomeBehindACut(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.CheckpointEvery, o.CheckpointCount = -1, 1000
	l := mustOpen(t, o)
	if err := l.Record(t.Context(), decision("a", "./cut", engine.Allow)); err != nil {
		t.Fatal(err)
	}
	truncateAfter(t, filepath.Join(o.Dir, segmentName(1)), 2)
	if err := l.Record(t.Context(), outcome("a")); err != nil {
		t.Errorf("the outcome: %v", err)
	}
	mustClose(t, l)
	found := false
	for e, err := range Read(o.Dir, Filter{Kind: engine.KindOutcome}) {
		found = found || err == nil && e.DecisionID == "a"
	}
	if k := known(t, o.Dir); !found || len(k.Lines) != 3 || !strings.Contains(k.Lines[2], "./cut") {
		t.Errorf("outcome %v, known %+v", found, k)
	}
}

// Where even the checkpoint speaks of more than is left, nothing is written behind the rest, and the
// remembered end is saved beside it.
func TestCutBehindTheCheckpoint(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.CheckpointEvery, o.CheckpointCount = -1, 3
	l := mustOpen(t, o)
	fill(t, l, 0, 10)
	truncateAfter(t, filepath.Join(o.Dir, segmentName(1)), 2)
	for range 2 {
		if err := l.Record(t.Context(), decision("d", "touch d", engine.Allow)); !errors.Is(err, ErrTampered) {
			t.Errorf("a decision: %v", err)
		}
	}
	_ = l.Close() // it fails as well
	saved, err := filepath.Glob(filepath.Join(o.Dir, "torn", "*cut.json"))
	if err != nil || len(saved) != 1 {
		t.Errorf("saved: %v, %v", saved, err)
	}
	// Without the checkpoint the rest would pass for the whole.
	if err := os.Remove(filepath.Join(o.Dir, CheckpointFile)); err != nil {
		t.Fatal(err)
	}
	if r, err := Verify(o.Dir, VerifyOptions{}); err != nil || r.OK || !strings.Contains(r.String(), "found the log cut") {
		t.Errorf("the cut is forgotten: %v\n%v", err, r)
	}
	acceptAll(t, o)
	mustVerify(t, o.Dir)
}

// A decision that is to be signed is refused where its checkpoint cannot be written.
func TestSignedOrRefused(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	o.CheckpointEvery = -1
	l := mustOpen(t, o)
	defer l.Close()
	r := decision("a", "./x", engine.Allow)
	r.Sign = true
	if err := l.Record(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	c, ok, err := readAnchor(osFS{}, o.Dir, l.PublicKey())
	if err != nil || !ok || c.Size < 3 {
		t.Errorf("signed: %+v, %v, %v", c, ok, err)
	}
	name := filepath.Join(o.Dir, CheckpointFile)
	if err := errors.Join(os.Remove(name), os.MkdirAll(filepath.Join(name, "x"), 0o700)); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(t.Context(), decision("b", "./x", engine.Allow)); err != nil {
		t.Errorf("the control, which needs no checkpoint: %v", err)
	}
	r.Decision = "c"
	if err := l.Record(t.Context(), r); err == nil {
		t.Error("a decision whose checkpoint is not written is recorded")
	}
}

// known returns the end of the log that the newest recovery record holds.
func known(t *testing.T, dir string) (k knownEnd) {
	t.Helper()
	for e, err := range Read(dir, Filter{Kind: engine.KindRecovery}) {
		var b recoveryBody
		if err == nil {
			err = json.Unmarshal(e.Raw, &b)
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.Known != nil {
			k = *b.Known
		}
	}
	return k
}

// removeAll removes the records and checkpoints of a log, and leaves its keys.
func removeAll(t *testing.T, dir string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if base := filepath.Base(name); strings.HasPrefix(base, "audit-") || base == CheckpointFile {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func writeFile(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
