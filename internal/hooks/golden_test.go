package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

var update = flag.Bool("update", false, "rewrite the answers below testdata")

// fakeGate gives one decision and remembers the request.
type fakeGate struct {
	effect  engine.Effect
	fault   error
	request *engine.Request
	ended   *engine.Reported
}

func (g *fakeGate) Decide(_ context.Context, _ string, r engine.Request) (engine.Outcome, error) {
	g.request = &r
	d := engine.Decision{ID: "D-1", Effect: g.effect, Mode: engine.Enforce}
	if g.effect != engine.Allow {
		d.Reasons = []engine.Reason{
			{Rule: "a/b", Effect: g.effect, Severity: "high", Message: "because", Remediation: "Do c."},
		}
	}
	out := engine.Outcome{Decision: d, Input: &facts.Input{}}
	if g.fault != nil {
		out.Decision.Effect = engine.Deny
		out.Fault = &engine.Fault{ID: "F-1", Part: "audit", Err: g.fault}
	}
	return out, nil
}

func (g *fakeGate) Check(ctx context.Context, r engine.Request) (engine.Outcome, error) {
	return g.Decide(ctx, "", r)
}

func (g *fakeGate) Report(_ context.Context, r engine.Reported) error {
	g.ended = &r
	return nil
}

// answered runs one hook and shows the bytes that the host gets.
func answered(t *testing.T, h *Host, event []byte, gate *fakeGate, dir string, approve bool) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := Run(t.Context(), Options{
		Host: h, In: bytes.NewReader(event), Out: &out, Err: &errs,
		Dir: "/home/ann/project", Home: "/home/ann",
		Open: func(context.Context, Event, func(time.Duration)) (Opened, error) {
			return Opened{
				Gate: gate, Close: func() error { return nil }, Dir: dir,
				Approve: approve,
				Now:     time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC),
			}, nil
		},
	})
	checkForm(t, code, out.Bytes(), errs.String())
	return fmt.Sprintf("exit %d\n%s%s", code, out.String(), errs.String())
}

// checkForm holds that an answer is one of the forms that every host understands.
func checkForm(t *testing.T, code int, out []byte, text string) {
	t.Helper()
	from := json.NewDecoder(bytes.NewReader(out))
	var object map[string]any
	err := from.Decode(&object)
	switch {
	case code == 0 && (err != nil || from.More()):
		t.Errorf("stdout is not one JSON object: %q", out)
	case code == Refused && len(out) > 0:
		t.Errorf("stdout beside exit code 2: %q", out)
	case code == Refused && strings.TrimSpace(text) == "":
		t.Error("exit code 2 without a text, by which some hosts let a call run")
	case code != 0 && code != Refused:
		t.Errorf("exit code %d, by which hosts let a call run", code)
	}
}

// summary shows a request.
func summary(r *engine.Request) string {
	if r == nil {
		return "no request\n"
	}
	text := r.Tool + " in " + r.WorkDir
	if r.Background {
		text += ", in the background"
	}
	if touched, ok := r.Operation.(touching); ok {
		for _, one := range touched {
			text += fmt.Sprintf(", %s %s", one.Access, one.Path)
			if one.Recursive {
				text += " and below"
			}
		}
	}
	for _, one := range r.Touches {
		text += fmt.Sprintf(", %s %s (recursive %t)", one.Access, one.Path, one.Recursive)
	}
	if r.Command != "" {
		text += ": " + r.Command
	}
	return text + "\n"
}

// TestGolden holds the requests that are made of events, and the answers.
func TestGolden(t *testing.T) {
	t.Parallel()
	for _, name := range Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h, err := Named(name)
			if err != nil {
				t.Fatal(err)
			}
			file := filepath.Join("testdata", name+".txtar")
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := map[string]string{}
			made := &txtar.Archive{Comment: archive.Comment}
			for _, f := range archive.Files {
				want[f.Name] = string(f.Data)
				if event, ok := strings.CutSuffix(f.Name, ".event"); ok {
					made.Files = append(
						made.Files,
						f,
						txtar.File{Name: event + ".golden", Data: []byte(golden(t, h, f.Data))},
					)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(made), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range made.Files {
				if diff := cmp.Diff(want[f.Name], string(f.Data)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
		})
	}
}

// golden is an event's request, with the answers to all decisions.
func golden(t *testing.T, h *Host, event []byte) string {
	t.Helper()
	e, err := h.Parse(event)
	if err == nil && e.After {
		dir := t.TempDir()
		before := kept{Version: keptVersion, Decision: "D-1", Effect: engine.Ask, Input: &facts.Input{}}
		if err := keep(dir, h.keyOf(e), before, time.Now()); err != nil {
			t.Fatal(err)
		}
		gate := &fakeGate{}
		text := answered(t, h, event, gate, dir, false)
		if gate.ended == nil {
			return "nothing reported\n" + text
		}
		x := gate.ended.Exit
		return fmt.Sprintf(
			"%s %s: exit code %d after %s, %d and %d bytes, killed %q\n%s",
			gate.ended.Decision,
			gate.ended.Effect,
			x.Code,
			x.Duration,
			x.Stdout.Bytes,
			x.Stderr.Bytes,
			x.Killed,
			text,
		)
	}
	gate := &fakeGate{effect: engine.Allow}
	text := answered(t, h, event, gate, t.TempDir(), false)
	out := summary(gate.request) + "allow: " + text
	if gate.request == nil {
		return out
	}
	out += "approve: " + answered(t, h, event, gate, t.TempDir(), true)
	for _, effect := range []engine.Effect{engine.Ask, engine.Deny, ""} {
		out += fmt.Sprintf(
			"%s: %s",
			effect,
			answered(t, h, event, &fakeGate{effect: effect}, t.TempDir(), true),
		)
	}
	full := &fakeGate{effect: engine.Allow, fault: errors.New("no space left on device")}
	return out + "fault: " + answered(t, h, event, full, t.TempDir(), true)
}
