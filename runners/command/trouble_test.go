package command_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/leftout"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// Whatever goes wrong on the way to a supervisor, the error says what and what to do.
func TestNoSupervisor(t *testing.T) {
	t.Parallel()
	sh := leftout.Command(t, "sh")
	greeting := fmt.Sprintf("echo sallyport-supervisor/%d; ", wire.Version)
	for name, tc := range map[string]struct {
		command []string
		want    string
	}{
		"no such program":    {[]string{"no-such-program-here"}, "install it or write its whole path"},
		"cannot connect":     {[]string{sh, "-c", "echo 'Connection refused' >&2; exit 255"}, "exit status 255, and says: Connection refused"},
		"a login that talks": {[]string{sh, "-c", "echo Welcome to box; exec cat"}, `the other side is no supervisor: it says "Welcome to box"`},
		"ends at once":       {[]string{sh, "-c", ":"}, "ended by itself"},
		"another version":    {[]string{sh, "-c", "echo sallyport-supervisor/99; exec cat"}, fmt.Sprintf(`speaks version "99" of the protocol, and this side %d`, wire.Version)},
		"a line without end": {[]string{sh, "-c", "exec tr '\\0' x </dev/zero"}, "no supervisor"},
		"refuses":            {[]string{sh, "-c", greeting + `read -r x; printf '\0\0\0\162{"error":"find shell: none","release":"","os":"","arch":"","posix":false,"home":"","temporary":[],"executable":""}'; exec cat`}, "find shell: none"},
		"breaks off":         {[]string{sh, "-c", greeting + `read -r x; printf '\0\0\1\0{'; exec cat >/dev/null`}, "unexpected EOF"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := try(command.Options{Command: tc.command})
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("got %v\nwant %s", err, tc.want)
			}
		})
	}
}

// What says nothing is not waited for longer than the request.
func TestSilence(t *testing.T) {
	t.Parallel()
	sh := leftout.Command(t, "sh")
	r, err := command.New(command.Options{Name: "box", Command: []string{sh, "-c", "exec sleep 60"}, Host: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 200*time.Millisecond)
	defer cancel()
	_, err = r.Open(ctx, engine.EnvironmentSpec{})
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "it takes too long") {
		t.Errorf("got %v", err)
	}
}

// judge allows everything and notes what it was asked about.
type judge struct{ inputs []*facts.Input }

func (j *judge) Evaluate(_ context.Context, in *facts.Input) (engine.Judgement, error) {
	j.inputs = append(j.inputs, in)
	return engine.Judgement{Effect: engine.Allow}, nil
}

func (j *judge) Policy() engine.PolicyInfo { return engine.PolicyInfo{} }

type records struct{}

func (records) Record(context.Context, ...engine.Record) error { return nil }

// A gate whose environment is lost opens another for the next request, and judges by that.
func TestGateOpensAnother(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r, err := command.New(command.Options{Name: "box", Command: []string{program}, Host: append(os.Environ(), "HOME="+dir), Given: []string{"GIVEN=there"}})
	if err != nil {
		t.Fatal(err)
	}
	j := &judge{}
	g, err := engine.New(engine.Options{Layout: facts.Layout{Workspace: dir, Home: "/home/here", Roots: []facts.Root{{Path: dir, Write: true, Zone: "workspace"}}}, Evaluators: []engine.Evaluator{j}, Runner: r, Recorder: records{}})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	do := func(text string) engine.Outcome {
		t.Helper()
		out, err := g.Do(context.Background(), engine.Request{Tool: "execute_command", Command: text})
		if err != nil || out.Fault != nil {
			t.Fatalf("%s: %v, %v", text, err, out.Fault)
		}
		return out
	}
	write(t, filepath.Join(dir, "file"), "")
	if out := do("cat file; echo $GIVEN; pwd"); out.Exit.Code != 0 || out.Exit.Stdout.Text != "there\n"+dir+"\n" {
		t.Errorf("exit %+v", out.Exit)
	}
	if out := do("kill -9 $PPID; sleep 60"); out.Exit.Code != -1 || out.Exit.Error == nil {
		t.Errorf("the end of the supervisor: %+v", out.Exit)
	}
	if out := do("echo again"); out.Exit.Stdout.Text != "again\n" {
		t.Errorf("after it: %+v", out.Exit)
	}
	in := j.inputs[0]
	want := facts.Runner{Name: "box", Isolation: "remote", Network: "unknown", Programs: facts.Unseen}
	want.Confinement = facts.Confinement{Write: "untried", Read: "untried", Connect: "untried"}
	if in.Runner != want {
		t.Errorf("runner %+v", in.Runner)
	}
	exists := slices.ContainsFunc(in.Paths, func(p facts.Path) bool {
		return p.Path == filepath.Join(dir, "file") && p.Exists && p.Zone == "workspace"
	})
	if in.Request.WorkDirState != "dir" || !exists {
		t.Errorf("facts about files there: %s, %+v", in.Request.WorkDirState, in.Paths)
	}
}

func TestPrefix(t *testing.T) {
	t.Parallel()
	env := open(t, command.Options{Command: []string{program}, Prefix: "env A=1", Isolation: "container", Network: "none"})
	defer env.Close()
	for text, want := range map[string]string{"printenv A": "env A=1 printenv A", "a; b": "env A=1 bash -c 'a; b'", "": ""} {
		if c, err := env.Prepare(text, "/"); err != nil || c.Text != want {
			t.Errorf("%q: %q, %v", text, c.Text, err)
		}
	}
}

func TestNew(t *testing.T) {
	t.Parallel()
	for _, words := range [][]string{nil, {""}} {
		if _, err := command.New(command.Options{Command: words}); err == nil {
			t.Errorf("%q was taken", words)
		}
	}
	r, err := command.New(command.Options{Name: "pod", Command: []string{"x"}, Isolation: "container", Network: "none"})
	if want := (facts.Runner{Name: "pod", Isolation: "container", Network: "none"}); err != nil || r.Describe() != want {
		t.Errorf("%+v, %v", r.Describe(), err)
	}
}
