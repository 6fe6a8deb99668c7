package engine_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// work is an operation made of two functions.
type work struct {
	touches []facts.Touch
	plan    error
	run     func(ctx context.Context, files engine.Files, paths []facts.Path) error
}

func (w work) Plan(facts.FS) ([]facts.Touch, error) { return w.touches, w.plan }
func (w work) Run(ctx context.Context, files engine.Files, paths []facts.Path) error {
	return w.run(ctx, files, paths)
}

// allFiles does everything that it is asked and remembers it.
type allFiles struct{ log *events }

func (f allFiles) did(what, p string) { f.log.add("%s %s", what, filepath.Base(p)) }

func (f allFiles) Lstat(p string) (fs.FileInfo, error)     { f.did("lstat", p); return nil, nil }
func (f allFiles) ReadLink(p string) (string, error)       { f.did("readlink", p); return "", nil }
func (f allFiles) ReadDir(p string) ([]fs.DirEntry, error) { f.did("list", p); return nil, nil }
func (f allFiles) Mkdir(p string) error                    { f.did("mkdir", p); return nil }
func (f allFiles) Symlink(_, p string) error               { f.did("symlink", p); return nil }
func (f allFiles) Chmod(p string, _ fs.FileMode) error     { f.did("chmod", p); return nil }
func (f allFiles) Remove(p string) error                   { f.did("remove", p); return nil }
func (f allFiles) Open(p string) (io.ReadCloser, error) {
	f.did("open", p)
	return io.NopCloser(nil), nil
}
func (f allFiles) Write(p string, _ io.Reader, _ engine.WriteOptions) (int64, error) {
	f.did("write", p)
	return 0, nil
}

// uses calls every method on a path and returns the names of those that were let through.
func uses(files engine.Files, p string) []string {
	var out []string
	try := func(name string, err error) {
		if err == nil {
			out = append(out, name)
		} else if !errors.Is(err, engine.ErrNotJudged) || !errors.Is(err, fs.ErrPermission) {
			out = append(out, name+": "+err.Error())
		}
	}
	_, err := files.Lstat(p)
	try("lstat", err)
	_, err = files.ReadLink(p)
	try("readlink", err)
	_, err = files.ReadDir(p)
	try("list", err)
	_, err = files.Open(p)
	try("open", err)
	_, err = files.Write(p, bytes.NewReader(nil), engine.WriteOptions{})
	try("write", err)
	try("mkdir", files.Mkdir(p))
	try("symlink", files.Symlink("x", p))
	try("chmod", files.Chmod(p, 0o600))
	try("remove", files.Remove(p))
	return out
}

func TestOperationReachesWhatWasJudgedOnly(t *testing.T) {
	t.Parallel()
	looks := []string{"lstat", "readlink", "list"}
	with := func(more ...string) []string { return append(slices.Clone(looks), more...) }
	cases := []struct {
		touch facts.Touch
		path  string
		want  []string
	}{
		{facts.Touch{Path: "a", Access: "read"}, "a", with("open")},
		{facts.Touch{Path: "a", Access: "write"}, "a", with("write", "mkdir", "symlink", "chmod")},
		{facts.Touch{Path: "a", Access: "delete"}, "a", with("remove")},
		{facts.Touch{Path: "a", Access: "read"}, "a/b", nil},
		{facts.Touch{Path: "a", Access: "read"}, "ab", nil},
		{facts.Touch{Path: "a", Access: "read"}, ".", nil},
		{facts.Touch{Path: "a", Access: "read", Recursive: true}, "a/b/c", with("open")},
		{facts.Touch{Path: "a", Access: "delete", Recursive: true}, "a/b", with("remove")},
		{facts.Touch{Path: "a", Access: "delete", Recursive: true}, "ab", nil},
	}
	for _, c := range cases {
		w := newWorld(t)
		w.runner.files = allFiles{w.log}
		dir := w.options.Layout.Workspace
		var got, unclean []string
		out := w.do(t, engine.Request{Tool: "t", Operation: work{touches: []facts.Touch{c.touch}, run: func(_ context.Context, files engine.Files, _ []facts.Path) error {
			got = uses(files, filepath.Join(dir, c.path))
			unclean = uses(files, dir+"/a/../a")
			return nil
		}}})
		if diff := cmp.Diff(c.want, got); diff != "" || !out.Ran || out.Exit.Code != 0 {
			t.Errorf("%+v on %s: exit %+v (-want +got):\n%s", c.touch, c.path, out.Exit, diff)
		}
		if unclean != nil {
			t.Errorf("%+v: a path that is not clean was let through: %v", c.touch, unclean)
		}
	}
}

func TestOperationRunsAfterItsRecordOrNotAtAll(t *testing.T) {
	t.Parallel()
	for _, effect := range []engine.Effect{engine.Allow, engine.Ask, engine.Deny} {
		w := newWorld(t)
		w.policy.answer = judgement(effect)
		w.options.Ledger = &fakeLedger{log: w.log}
		var paths []facts.Path
		out := w.do(t, engine.Request{Tool: "delete_file", Operation: work{
			touches: []facts.Touch{{Path: "b", Access: "delete"}, {Path: "a", Access: "read"}},
			run: func(_ context.Context, _ engine.Files, p []facts.Path) error {
				w.log.add("run")
				paths = p
				return nil
			},
		}})
		want := map[engine.Effect][]string{
			engine.Allow: {"record start", "record decision", "ledger begin", "run", "ledger end 0", "record outcome"},
			engine.Ask:   {"record start", "record decision", "record approval"},
			engine.Deny:  {"record start", "record decision"},
		}[effect]
		if diff := cmp.Diff(want, w.log.lines()); diff != "" {
			t.Errorf("%s: events (-want +got):\n%s", effect, diff)
		}
		if ran := effect == engine.Allow; out.Ran != ran || ran && (len(paths) != 2 || filepath.Base(paths[0].Real) != "b") {
			t.Errorf("%s: ran %v with paths %+v: want those of the touches, in order", effect, out.Ran, paths)
		}
	}
}

func TestOperationThatEndsBadly(t *testing.T) {
	t.Parallel()
	untilDone := func(ctx context.Context, _ engine.Files, _ []facts.Path) error {
		<-ctx.Done()
		return ctx.Err()
	}
	cases := map[string]struct {
		run   func(context.Context, engine.Files, []facts.Path) error
		limit time.Duration
		kill  bool
		want  func(engine.Exit) bool
	}{
		"error": {run: func(context.Context, engine.Files, []facts.Path) error { return fs.ErrNotExist },
			want: func(e engine.Exit) bool { return errors.Is(e.Error, fs.ErrNotExist) && !e.TimedOut && e.Killed == "" }},
		"panic": {run: func(context.Context, engine.Files, []facts.Path) error { panic("oh") },
			want: func(e engine.Exit) bool { return e.Error != nil && strings.Contains(e.Error.Error(), "panic in t: oh") }},
		"timeout": {run: untilDone, limit: time.Millisecond, want: func(e engine.Exit) bool { return e.TimedOut && e.Error != nil }},
		"killed":  {run: untilDone, kill: true, want: func(e engine.Exit) bool { return e.Killed == "enough" && !e.TimedOut }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			job := w.start(t, t.Context(), w.gate(t), engine.Request{Tool: "t", Timeout: c.limit,
				Operation: work{touches: []facts.Touch{{Path: "a", Access: "read"}}, run: c.run}})
			if c.kill {
				job.Kill("enough")
			}
			if e := job.Wait().Exit; e.Code != 2 || !c.want(e) {
				t.Errorf("exit %+v", e)
			}
			if lines := w.log.lines(); lines[len(lines)-1] != "record outcome" {
				t.Errorf("events %v: want the outcome on record", lines)
			}
		})
	}
}

func TestOperationThatMakesNoSense(t *testing.T) {
	t.Parallel()
	never := func(context.Context, engine.Files, []facts.Path) error { panic("it ran") }
	some := []facts.Touch{{Path: "a", Access: "read"}}
	for name, r := range map[string]engine.Request{
		"no plan":           {Operation: work{plan: errors.New("no such directory"), run: never}},
		"no touches":        {Operation: work{run: never}},
		"a command as well": {Command: "true", Operation: work{touches: some, run: never}},
	} {
		w := newWorld(t)
		if _, err := w.gate(t).Do(t.Context(), r); !errors.Is(err, engine.ErrRequest) {
			t.Errorf("%s: %v: want ErrRequest", name, err)
		}
		if got := w.log.lines(); len(got) != 0 {
			t.Errorf("%s: events %v, want none", name, got)
		}
	}
}

// rehearsal is work that only lists its steps.
type rehearsal struct{ work }

func (rehearsal) Rehearses() bool { return true }

// TestRehearsalLeavesNoTrace: it is judged and recorded, and nothing counts as read by it.
func TestRehearsalLeavesNoTrace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Ledger = &fakeLedger{log: w.log}
	w.do(t, engine.Request{Tool: "copy_file", Operation: rehearsal{work{
		touches: []facts.Touch{{Path: "a", Access: "read"}},
		run:     func(context.Context, engine.Files, []facts.Path) error { return nil },
	}}})
	if diff := cmp.Diff([]string{"record start", "record decision", "record outcome"}, w.log.lines()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
