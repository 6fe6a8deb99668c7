package hooks

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

const listing = `{"session_id":"s","cwd":"/ws","hook_event_name":"PreToolUse","tool_name":"Bash",` +
	`"tool_input":{"command":"ls"},"tool_use_id":"t"}`

func claude(t *testing.T) *Host {
	t.Helper()
	h, err := Named("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	return h
}

type closedPipe struct{}

func (closedPipe) Write([]byte) (int, error) { return 0, errors.New("closed") }

// TestRefusesWhatBreaks holds that each fault refuses in the one form that all hosts obey. The same event is
// allowed where nothing breaks.
func TestRefusesWhatBreaks(t *testing.T) {
	t.Parallel()
	gate := func() *fakeGate { return &fakeGate{effect: engine.Allow} }
	opened := func(g Gate) Opened {
		return Opened{
			Gate:  g,
			Close: func() error { return nil },
			Dir:   t.TempDir(),
			Now:   time.Now(),
		}
	}
	for name, test := range map[string]struct {
		in   io.Reader
		open func(context.Context, Event, func(time.Duration)) (Opened, error)
		out  io.Writer
		wait time.Duration
		want string // in the text; "" for an answer
	}{
		"nothing": {},
		"configuration": {want: "bad key", open: func(context.Context, Event, func(time.Duration)) (Opened, error) {
			return Opened{}, errors.New("bad key")
		}},
		"panic": {want: "panic: boom", open: func(context.Context, Event, func(time.Duration)) (Opened, error) { panic("boom") }},
		"time": {want: "time limit", wait: time.Nanosecond,
			open: func(ctx context.Context, _ Event, _ func(time.Duration)) (Opened, error) {
				<-ctx.Done()
				return Opened{}, ctx.Err()
			}},
		"time of the opening": {want: "time limit of 1ns", wait: time.Hour,
			open: func(ctx context.Context, _ Event, limit func(time.Duration)) (Opened, error) {
				limit(time.Nanosecond)
				<-ctx.Done()
				return Opened{}, ctx.Err()
			}},
		"end of the gate": {want: "disk", open: func(context.Context, Event, func(time.Duration)) (Opened, error) {
			o := opened(gate())
			o.Close = func() error { return errors.New("disk") }
			return o, nil
		}},
		"no place for the call": {want: "keep the call", open: func(context.Context, Event, func(time.Duration)) (Opened, error) {
			o := opened(gate())
			o.Dir = "/dev/null/x"
			return o, nil
		}},
		"answer not written": {out: closedPipe{}, want: "write answer"},
		"event not read":     {in: io.MultiReader(strings.NewReader("{"), unreadable{}), want: "unread"},
		"too long":           {in: io.LimitReader(endless{}, MaxEvent+2), want: "longer than"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			o := Options{
				Host:  claude(t),
				In:    test.in,
				Out:   test.out,
				Err:   &errs,
				Open:  test.open,
				Limit: test.wait,
			}
			if o.In == nil {
				o.In = strings.NewReader(listing)
			}
			if o.Out == nil {
				o.Out = &out
			}
			if o.Open == nil {
				o.Open = func(context.Context, Event, func(time.Duration)) (Opened, error) { return opened(gate()), nil }
			}
			code := Run(t.Context(), o)
			checkForm(t, code, out.Bytes(), errs.String())
			if refused := code == Refused; refused != (test.want != "") ||
				!strings.Contains(errs.String(), test.want) {
				t.Errorf(
					"exit %d, stdout %q, stderr %q; want %q",
					code,
					out.String(),
					errs.String(),
					test.want,
				)
			}
		})
	}
}

type unreadable struct{}

func (unreadable) Read([]byte) (int, error) { return 0, errors.New("unread") }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// TestGarbage holds that no text but an event is taken for one.
func TestGarbage(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "null", "[]", "{}", "x", `"x"`, listing + "x", listing + listing, "\xff" + listing,
		strings.Replace(listing, `"PreToolUse"`, `"pretooluse"`, 1),
		strings.Replace(listing, `"PreToolUse"`, `7`, 1),
		strings.Replace(listing, `{"command":"ls"}`, `"ls"`, 1), strings.Replace(listing, `"Bash"`, `""`, 1),
		strings.Replace(listing, `{"command":"ls"}`, `null`, 1), strings.Replace(listing, `"s"`, `{}`, 1),
	} {
		if e, err := claude(t).Parse([]byte(text)); err == nil {
			t.Errorf("%s: %+v", text, e)
		}
	}
	if _, err := claude(t).Parse([]byte(listing)); err != nil {
		t.Error(err)
	}
}

// TestKept holds that a call is found once, by its own host, session and name, and is forgotten in time.
func TestKept(t *testing.T) {
	t.Parallel()
	h, dir := claude(t), filepath.Join(t.TempDir(), "hooks")
	e, err := h.Parse([]byte(listing))
	if err != nil {
		t.Fatal(err)
	}
	other := e
	other.Session = "other"
	put := func(at time.Time) {
		t.Helper()
		if err := keep(dir, h.keyOf(e), kept{Version: keptVersion, Decision: "D-1"}, at); err != nil {
			t.Fatal(err)
		}
	}
	put(time.Now())
	if _, err := take(dir, h.keyOf(other)); err == nil {
		t.Error("found in another session")
	}
	if k, err := take(dir, h.keyOf(e)); err != nil || k.Decision != "D-1" {
		t.Errorf("%+v, %v", k, err)
	}
	if _, err := take(dir, h.keyOf(e)); err == nil {
		t.Error("found twice")
	}
	put(time.Now())
	if err := keep(dir, h.keyOf(other), kept{}, time.Now().Add(keptFor+time.Hour)); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("%d kept, %v", len(left), err)
	}
}

// FuzzParse holds that no text makes anything but an answer in a form that hosts obey, and that a call that
// is allowed without a decision is one of a tool without effects.
func FuzzParse(f *testing.F) {
	f.Add([]byte(listing))
	f.Add([]byte(strings.Replace(listing, "PreToolUse", "PostToolUse", 1)))
	f.Add([]byte(strings.Replace(listing, "Bash", "Glob", 1)))
	f.Add([]byte(strings.Replace(listing, "Bash", "mcp__a__b", 1)))
	f.Add([]byte(`{"tool_name":`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range Names() {
			h, err := Named(name)
			if err != nil {
				t.Fatal(err)
			}
			gate := &fakeGate{effect: engine.Deny}
			got := answered(t, h, text, gate, t.TempDir(), false)
			e, err := h.Parse(text)
			if _, denies := h.Answers["fault"]; err != nil && !denies && strings.HasPrefix(got, "exit 0") {
				t.Errorf("%s: %v: %s", name, err, got)
			}
			own, _, mcp := h.mcpTool(e)
			if err == nil && !e.After && gate.request == nil && strings.HasPrefix(got, "exit 0") &&
				h.Tools[e.Tool].Kind != "none" &&
				(!mcp || own != ownServer) && h.Answers["fault"].JSON == nil {
				t.Errorf("%s: %s was answered without a decision", name, e.Tool)
			}
		}
	})
}
