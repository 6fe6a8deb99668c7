package audit

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// smallLog returns the options and the bytes of a log with n commands and a last checkpoint.
func smallLog(t *testing.T, n int) (Options, []byte) {
	t.Helper()
	o := testOptions(t)
	o.CheckpointCount = 7
	l := mustOpen(t, o)
	fill(t, l, 0, n)
	mustClose(t, l)
	b, err := os.ReadFile(filepath.Join(o.Dir, segmentName(1)))
	if err != nil {
		t.Fatal(err)
	}
	return o, b
}

func writeLog(t testing.TB, o Options, b []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(o.Dir, segmentName(1)), b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// memCopy puts a log into memory: a file for each of thousands of edits would measure the disk.
func memCopy(t *testing.T, o Options) (*memDisk, *memNode) {
	t.Helper()
	d := newMemDisk()
	for _, dir := range []string{"/s", "/s/audit", "/s/keys"} {
		d.entries[dir] = &memNode{dir: true, mode: os.ModeDir | 0o700, links: 1}
	}
	for _, name := range []string{"audit/checkpoint", "audit/" + segmentName(1), "keys/audit.sign.pub", "keys/audit.sign.key", "keys/audit.redact.key"} {
		content, err := os.ReadFile(filepath.Join(filepath.Dir(o.Dir), name))
		if err != nil {
			t.Fatal(err)
		}
		d.inodes++
		d.entries["/s/"+name] = &memNode{mode: 0o600, ino: d.inodes, data: content, links: 1}
	}
	return d, d.entries["/s/audit/"+segmentName(1)]
}

func memVerify(t *testing.T, d *memDisk) bool {
	t.Helper()
	r, err := verify(d, "/s/audit", VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return r.OK
}

func TestEveryBitFlip(t *testing.T) {
	t.Parallel()
	o, b := smallLog(t, 2)
	d, n := memCopy(t, o)
	if !memVerify(t, d) {
		t.Fatal("the log does not verify as it is")
	}
	for i := range b {
		if thin() && i%31 != 0 {
			continue
		}
		for bit := range 8 {
			n.data[i] ^= 1 << bit
			if memVerify(t, d) {
				t.Fatalf("bit %d of byte %d (%q) is not detected", bit, i, b[max(0, i-20):min(len(b), i+20)])
			}
			n.data[i] ^= 1 << bit
		}
	}
	t.Logf("%d flips", 8*len(b))
}

// The report names the first bad place.
func TestReportNamesThePlace(t *testing.T) {
	t.Parallel()
	o, b := smallLog(t, 10)
	lines := strings.SplitAfter(string(b), "\n")
	lines[5] = strings.Replace(lines[5], "local", "other", 1)
	writeLog(t, o, []byte(strings.Join(lines, "")))
	r, err := Verify(o.Dir, VerifyOptions{})
	if err != nil || r.OK || len(r.Problems) == 0 {
		t.Fatalf("%v\n%s", err, r)
	}
	// Record 5 was changed: the link in record 6 shows it.
	if p := r.Problems[0]; p.File != segmentName(1) || p.Line != 7 || p.Seq != 6 {
		t.Errorf("first problem: %+v", p)
	}
	if !strings.Contains(r.String(), "NOT OK") || !strings.Contains(r.String(), "audit-000001.jsonl:7: record 6:") {
		t.Errorf("printed:\n%s", r)
	}
}

// Who has the key can rewrite the log and sign it anew; a checkpoint that was kept elsewhere tells.
func TestCheckpointKeptElsewhere(t *testing.T) {
	t.Parallel()
	o, _ := smallLog(t, 5)
	kept, err := os.ReadFile(filepath.Join(o.Dir, CheckpointFile))
	if err != nil {
		t.Fatal(err)
	}
	key, err := publicKey(osFS{}, o.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{segmentName(1), CheckpointFile} {
		if err := os.Remove(filepath.Join(o.Dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	// The forger has the keys, and logs fewer records.
	l, err := Open(func() Options { o := o; return o }())
	if err != nil {
		t.Fatal(err)
	}
	fill(t, l, 50, 2)
	mustClose(t, l)
	acceptAll(t, o)
	mustVerify(t, o.Dir) // nothing else in the directory can tell
	r, err := Verify(o.Dir, VerifyOptions{Checkpoint: kept, PublicKey: key})
	if err != nil || r.OK || !strings.Contains(r.String(), "given checkpoint") {
		t.Errorf("%v\n%s", err, r)
	}
	l = mustOpen(t, o)
	fill(t, l, 60, 20) // more than before: now the root differs, not the size
	mustClose(t, l)
	r, err = Verify(o.Dir, VerifyOptions{Checkpoint: kept, PublicKey: key})
	if err != nil || r.OK || !strings.Contains(r.String(), "another root") {
		t.Errorf("%v\n%s", err, r)
	}
	if _, err := Verify(o.Dir, VerifyOptions{Checkpoint: bytes.Replace(kept, []byte("\n"), []byte("\n1"), 1), PublicKey: key}); err == nil {
		t.Error("a checkpoint that was changed is accepted")
	}
}

// What follows a break makes it tampering, not a tear; only an operator may go on after it.
func TestOpenRefusesTampering(t *testing.T) {
	t.Parallel()
	edits := map[string]func(lines []string, o Options) []string{
		"changed": func(l []string, _ Options) []string {
			l[len(l)-3] = strings.Replace(l[len(l)-3], "local", "other", 1)
			return l
		},
		"removed":      func(l []string, _ Options) []string { return slices.Delete(l, len(l)-4, len(l)-3) },
		"last but one": func(l []string, _ Options) []string { return slices.Delete(l, len(l)-3, len(l)-2) },
		"swapped":      func(l []string, _ Options) []string { l[len(l)-4], l[len(l)-3] = l[len(l)-3], l[len(l)-4]; return l },
		"end cut off":  func(l []string, _ Options) []string { return l[:len(l)-3] },
		"garbage":      func(l []string, _ Options) []string { return slices.Insert(l, len(l)-3, "garbage\n") },
		"all gone":     func(l []string, o Options) []string { return nil },
		"forged anchor": func(l []string, o Options) []string {
			_ = os.WriteFile(filepath.Join(o.Dir, CheckpointFile), []byte("x"), 0o600)
			return l
		},
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := testOptions(t)
			l := mustOpen(t, o)
			fill(t, l, 0, 6)
			b, err := os.ReadFile(filepath.Join(o.Dir, segmentName(1)))
			if err != nil {
				t.Fatal(err)
			}
			anchor, err := os.ReadFile(filepath.Join(o.Dir, CheckpointFile))
			if err != nil {
				t.Fatal(err)
			}
			mustClose(t, l)
			if name != "end cut off" { // as after a crash: Open reads from the first checkpoint on
				if err := os.WriteFile(filepath.Join(o.Dir, CheckpointFile), anchor, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			lines := strings.SplitAfter(string(b), "\n")
			writeLog(t, o, []byte(strings.Join(edit(lines[:len(lines)-1], o), "")))
			if _, err := Open(o); !errors.Is(err, ErrTampered) {
				t.Fatalf("open: %v", err)
			}
			acceptAll(t, o)
			l = mustOpen(t, o)
			fill(t, l, 100, 1)
			mustClose(t, l)
			r := mustVerify(t, o.Dir)
			if len(r.Breaks) != 1 || !strings.Contains(r.String(), "a break, accepted by ann") {
				t.Errorf("the break is not reported:\n%s", r)
			}
			mustClose(t, mustOpen(t, o))
		})
	}
}

func FuzzVerify(f *testing.F) {
	o := testOptions(f)
	l := mustOpen(f, o)
	fill(f, l, 0, 2)
	mustClose(f, l)
	b, err := os.ReadFile(filepath.Join(o.Dir, segmentName(1)))
	if err != nil {
		f.Fatal(err)
	}
	public, err := os.ReadFile(filepath.Join(filepath.Dir(o.Dir), "keys", "audit.sign.pub"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(b[:len(b)/2])
	f.Add([]byte(nil))
	f.Add([]byte(`{"seq":0,"time":"2030-01-02T03:04:05.000006000Z","kind":"segment","decision_id":"\u","writer":"","prev":"` + strings.Repeat("0", 64) + "\"}\n"))
	f.Fuzz(func(t *testing.T, log []byte) {
		d := newMemDisk()
		d.entries["/s/keys/audit.sign.pub"] = &memNode{mode: 0o600, data: public, links: 1}
		d.entries["/s/audit/"+segmentName(1)] = &memNode{mode: 0o600, data: log, links: 1}
		r, err := verify(d, "/s/audit", VerifyOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if r.OK && !bytes.HasPrefix(b, log[:len(log)-int(r.Torn)]) {
			t.Errorf("a log that was never written verifies: %q", log)
		}
		_ = r.String()
	})
}
