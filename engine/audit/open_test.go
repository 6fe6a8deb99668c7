package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/internal/leftout"
)

func TestOpenRefusesPlaces(t *testing.T) {
	t.Parallel()
	if !ownersKnown {
		leftout.Skip(t, leftout.Platform, "modes and owners of files are not known on this platform")
	}
	tests := map[string]struct {
		spoil func(o *Options) error
		want  string
	}{
		"no directory":        {func(o *Options) error { o.Dir = ""; return nil }, "no directory given"},
		"world-writable":      {func(o *Options) error { return os.Chmod(o.Dir, 0o777) }, "others may write"},
		"group-writable":      {func(o *Options) error { return os.Chmod(o.Dir, 0o770) }, "others may write"},
		"parent of everybody": {func(o *Options) error { return os.Chmod(filepath.Dir(o.Dir), 0o777) }, "everybody may rename it"},
		"file":                {func(o *Options) error { o.Dir = filepath.Join(o.Dir, segmentName(1)); return nil }, "not a directory"},
		"symlink":             {func(o *Options) error { l := o.Dir + "2"; err := os.Symlink(o.Dir, l); o.Dir = l; return err }, "symbolic link"},
		"log is a symlink":    {func(o *Options) error { return toLink(filepath.Join(o.Dir, segmentName(1))) }, "open audit log"},
		"log is a directory":  {func(o *Options) error { return toDir(filepath.Join(o.Dir, segmentName(1))) }, "open"},
		"lock is a symlink":   {func(o *Options) error { return toLink(filepath.Join(o.Dir, "lock")) }, "lock audit log"},
		"log is writable":     {func(o *Options) error { return os.Chmod(filepath.Join(o.Dir, segmentName(1)), 0o666) }, "others may write"},
		"key is readable":     {func(o *Options) error { k, _, _ := keyPaths(o.Dir); return os.Chmod(k, 0o644) }, "others may read"},
		"key is garbage":      {func(o *Options) error { k, _, _ := keyPaths(o.Dir); return os.WriteFile(k, []byte("x"), 0o600) }, "read signing key"},
		"tags are garbage":    {func(o *Options) error { _, _, k := keyPaths(o.Dir); return os.WriteFile(k, []byte("x"), 0o600) }, "read redaction key"},
		"keys are writable":   {func(o *Options) error { k, _, _ := keyPaths(o.Dir); return os.Chmod(filepath.Dir(k), 0o777) }, "others may write"},
		"tiny records":        {func(o *Options) error { o.MaxRecord = 10; return nil }, "too small"},
		"other owner": {func(o *Options) error {
			if os.Geteuid() != 0 {
				return errSkip
			}
			return os.Chown(o.Dir, 4242, -1)
		}, "owned by uid 4242"},
		"file of other owner": {func(o *Options) error {
			if os.Geteuid() != 0 {
				return errSkip
			}
			return os.Chown(filepath.Join(o.Dir, segmentName(1)), 4242, -1)
		}, "owned by uid 4242"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := testOptions(t)
			l := mustOpen(t, o)
			fill(t, l, 0, 1)
			mustClose(t, l)
			mustClose(t, mustOpen(t, o)) // it would open
			if err := tt.spoil(&o); errors.Is(err, errSkip) {
				leftout.Skip(t, leftout.Root, "only root can give files away")
			} else if err != nil {
				t.Fatal(err)
			}
			if _, err := Open(o); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

var errSkip = errors.New("skip")

func toLink(name string) error {
	if err := os.Rename(name, name+".real"); err != nil {
		return err
	}
	return os.Symlink(name+".real", name)
}

func toDir(name string) error {
	if err := os.Remove(name); err != nil {
		return err
	}
	return os.Mkdir(name, 0o700)
}

func TestModes(t *testing.T) {
	t.Parallel()
	if !ownersKnown {
		leftout.Skip(t, leftout.Platform, "modes of files are not known on this platform")
	}
	o := testOptions(t)
	l := mustOpen(t, o)
	fill(t, l, 0, 1)
	mustClose(t, l)
	err := filepath.WalkDir(filepath.Dir(o.Dir), func(p string, e fs.DirEntry, err error) error {
		if err != nil || p == filepath.Dir(o.Dir) {
			return err
		}
		fi, err := e.Info()
		if err == nil && fi.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", p, fi.Mode())
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

type panics struct{}

func (panics) MarshalJSON() ([]byte, error) { panic("boom") }

func TestRecordRefuses(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	l := mustOpen(t, o)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	tests := map[string]struct {
		ctx  context.Context
		r    engine.Record
		want string
	}{
		"cancelled":    {cancelled, outcome("x"), "canceled"},
		"no kind":      {nil, engine.Record{}, "unknown kind"},
		"odd kind":     {nil, engine.Record{Kind: "x\n"}, "unknown kind"},
		"own kind":     {nil, engine.Record{Kind: engine.KindCheckpoint}, "belongs to the log"},
		"long id":      {nil, engine.Record{Kind: engine.KindStop, Decision: strings.Repeat("x", 300)}, "decision id"},
		"panic":        {nil, engine.Record{Kind: engine.KindStop, Body: panics{}}, "boom"},
		"not a number": {nil, engine.Record{Kind: engine.KindStop, Body: map[string]any{"x": math.NaN()}}, "NaN"},
		"list":         {nil, engine.Record{Kind: engine.KindStop, Body: []int{1}}, "not an object"},
		"envelope":     {nil, engine.Record{Kind: engine.KindStop, Body: map[string]any{"prev": "x"}}, "belongs to the envelope"},
		"two of many":  {nil, engine.Record{Kind: engine.KindStop, Body: json.RawMessage(manyKeys)}, "duplicate key"},
		"duplicate":    {nil, engine.Record{Kind: engine.KindStop, Body: json.RawMessage(`{"a":1,"a":2}`)}, "duplicate key"},
		"deep":         {nil, engine.Record{Kind: engine.KindStop, Body: json.RawMessage(`{"a":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`)}, "nested deeper"},
		"huge": {nil, engine.Record{Kind: engine.KindStop, Body: func() any {
			m := map[string]int{}
			for i := range 200000 {
				m[fmt.Sprint("k", i)] = i
			}
			return m
		}()}, "more than"},
	}
	for name, tt := range tests {
		if tt.ctx == nil {
			tt.ctx = context.Background()
		}
		if err := l.Record(tt.ctx, tt.r); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", name, err, tt.want)
		}
	}
	fill(t, l, 0, 1) // none of this harmed the log
	mustClose(t, l)
	if r := mustVerify(t, o.Dir); r.Records != 5 {
		t.Errorf("report:\n%s", r)
	}
}

func TestCuts(t *testing.T) {
	t.Parallel()
	o := testOptions(t)
	l := mustOpen(t, o)
	whole := strings.Repeat("echo é; ", 8000) // 64 KiB and more of bytes, as a gate accepts
	long := strings.Repeat("echo é; ", 20000)
	list := make([]string, 300000)
	for i := range list {
		list[i] = "word"
	}
	for id, body := range map[string]any{
		"whole": engine.DecisionBody{Input: decision("", whole, "").Body.(engine.DecisionBody).Input},
		"long":  engine.DecisionBody{Input: decision("", long, "").Body.(engine.DecisionBody).Input},
		"list":  map[string]any{"argv": list},
	} {
		if err := l.Record(context.Background(), engine.Record{Kind: engine.KindDecision, Decision: id, Body: body}); err != nil {
			t.Fatal(id, err)
		}
	}
	mustClose(t, l)
	got := map[string][]string{}
	for e, err := range Read(o.Dir, Filter{Kind: engine.KindDecision}) {
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Raw) > defaultRecord {
			t.Errorf("%s: %d bytes", e.DecisionID, len(e.Raw))
		}
		cut, err := e.Cut()
		if err != nil {
			t.Fatal(err)
		}
		got[e.DecisionID] = cut
		d, err := e.Decision()
		if err != nil {
			t.Fatal(err)
		}
		switch e.DecisionID {
		case "whole":
			if d.Input.Request.Command != whole {
				t.Error("a text of ordinary length was changed")
			}
		case "long":
			if c := d.Input.Request.Command; !strings.HasPrefix(c, "echo é; ") || !strings.Contains(c, "[cut: 180000 bytes, sha256 ") || len(c) > 4300 {
				t.Errorf("long text: %.100s…%s", c, c[max(0, len(c)-120):])
			}
		}
	}
	want := map[string][]string{"whole": nil, "long": {"/input/request/command"}, "list": {"/argv"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	mustVerify(t, o.Dir)
}

// Whatever text comes in, one line comes out that is valid JSON with each key once.
func FuzzEncode(f *testing.F) {
	f.Add("echo hi", "d-1", `{"a":[1,{"b":null}],"c":"\u2028"}`)
	f.Add("a\nb\x00\x1b[31m\u202e\xff\"\\", "\n\"", `{"a":1,"a":2}`)
	f.Add("TOKEN=abc", "{}", `{"x":"\ud800","y":1e400}`)
	red := redact.New([]byte("k"), redact.Extra{})
	f.Fuzz(func(t *testing.T, text, id, raw string) {
		for _, body := range []any{map[string]string{"t": text, text + "k": text}, json.RawMessage(raw)} {
			p, err := encode(engine.Record{Kind: engine.KindStop, Decision: id, Body: body}, testTime, red, defaultRecord)
			if err != nil {
				continue
			}
			line := appendLine(nil, 7, p, "1-2", [32]byte{1})
			h, ok := isRecord(line)
			if !ok || h.seq != 7 || h.kind != "stop" || utf8.ValidString(id) && string(h.decision) != id {
				t.Fatalf("%q: %+v", line, h)
			}
			n, err := parseNode(line) // refuses duplicate keys
			if err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			if again := n.appendTo(nil); string(again) != string(line) {
				t.Fatalf("%q\n%q", line, again)
			}
		}
	})
}

func TestRealFullDisk(t *testing.T) {
	t.Parallel()
	dir, ok := smallDisk(t, 256<<10)
	if !ok {
		leftout.Skip(t, leftout.Root, "no small tmpfs can be mounted")
	}
	o := Options{Dir: filepath.Join(dir, "audit"), Reserve: 32 << 10, CheckpointEvery: -1}
	l := mustOpen(t, o)
	ctx := context.Background()
	if err := l.Record(ctx, decision("run", "true", engine.Allow)); err != nil {
		t.Fatal(err)
	}
	n := 0
	var err error
	for ; n < 10000 && err == nil; n++ {
		err = l.Record(ctx, decision(fmt.Sprint("d", n), "true", engine.Deny))
	}
	if !errors.Is(err, ErrFull) {
		t.Fatalf("after %d records: %v", n, err)
	}
	if err := l.Record(ctx, outcome("run")); err != nil {
		t.Errorf("the outcome of a running command: %v", err)
	}
	_ = l.Close() // the last checkpoint may find no space
	r := mustVerify(t, o.Dir)
	if r.Outcomes != 1 || r.Decisions != int64(n) {
		t.Errorf("%d acknowledged\n%s", n, r)
	}
}

// manyKeys is an object in which the first and the last key are equal.
var manyKeys = func() string {
	var b strings.Builder
	for i := range 2 * fewKeys {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	return "{" + b.String()[1:] + `,"k0":0}`
}()
