package hooks

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// TestRewrite holds that an allowed command becomes one of sallyport exec, that a denied one stays denied,
// and that a question names the ticket of the command. Other tools are judged as without.
func TestRewrite(t *testing.T) {
	t.Parallel()
	h, dir := claude(t), t.TempDir()
	for _, test := range []struct {
		event  string
		effect engine.Effect
		want   string
	}{
		{listing, engine.Allow, `"updatedInput":{"command":"exec /ws 10m0s  ls"}`},
		{strings.Replace(listing, `"ls"`, `"ls","timeout":5000`, 1), engine.Allow,
			`"command":"exec /ws 5s  ls","timeout":5000`},
		{listing, engine.Deny, `"permissionDecision":"deny"`},
		{listing, engine.Ask, `"permissionDecision":"ask"`},
		{strings.Replace(strings.Replace(listing, "Bash", "Read", 1), "command", "file_path", 1),
			engine.Allow, `{}`},
	} {
		var out, errs bytes.Buffer
		ticket := ""
		code := Run(t.Context(), Options{
			Host: h, In: strings.NewReader(test.event), Out: &out, Err: &errs,
			Open: func(context.Context, Event, func(time.Duration)) (Opened, error) {
				return Opened{
					Gate: &fakeGate{
						effect: test.effect,
					}, Close: func() error { return nil }, Dir: dir,
					Now: time.Now(),
					Rewrite: func(r Rewriting) string {
						ticket = r.Ticket
						return "exec " + r.Dir + " " + r.Timeout.String() + " " + r.Ticket + " " + r.Text
					},
				}, nil
			},
		})
		checkForm(t, code, out.Bytes(), errs.String())
		if !strings.Contains(out.String(), test.want) || (ticket != "") != (test.effect == engine.Ask) {
			t.Errorf("%s %s: %s%s, ticket %q", test.event, test.effect, out.String(), errs.String(), ticket)
		}
	}
}

// TestTicket holds that a ticket is for one command in one directory, for some time, and once.
func TestTicket(t *testing.T) {
	t.Parallel()
	dir, now := t.TempDir(), time.Now()
	r := engine.Request{Command: "git branch -D old", WorkDir: "/ws"}
	for name, test := range map[string]struct {
		command, dir string
		at           time.Time
		used         bool
		want         bool
	}{
		"as asked":          {r.Command, r.WorkDir, now, false, true},
		"another command":   {"rm -rf x", r.WorkDir, now, false, false},
		"another directory": {r.Command, "/", now, false, false},
		"late":              {r.Command, r.WorkDir, now.Add(ticketFor), false, false},
		"twice":             {r.Command, r.WorkDir, now, true, false},
	} {
		id, err := newTicket(dir, r, now)
		if err != nil {
			t.Fatal(err)
		}
		by := Ticket{Dir: dir, ID: id, Now: func() time.Time { return test.at }}
		ask := engine.ApprovalRequest{Request: engine.Request{Command: test.command}, WorkDir: test.dir}
		if test.used {
			if _, err := by.Approve(t.Context(), ask); err != nil {
				t.Fatal(err)
			}
		}
		if a, err := by.Approve(t.Context(), ask); a.Granted != test.want || (err == nil) != test.want {
			t.Errorf("%s: %+v, %v", name, a, err)
		}
	}
	if a, err := (Ticket{Dir: dir, ID: "../x", Now: time.Now}).Approve(t.Context(),
		engine.ApprovalRequest{}); err == nil ||
		a.Granted {
		t.Errorf("%+v, %v", a, err)
	}
}
