package hooks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// Rewriting is a command that sallyport exec is to run.
type Rewriting struct {
	Text, Dir string
	Session   string
	Timeout   time.Duration // that the host gives it
	Ticket    string        // by which exec knows that the host's user approves; "" for none
}

// unlimited is the time limit of a command to which the host gives none: the host ends it by itself.
const unlimited = 10 * time.Minute

// Rewrites reports whether sallyport exec can run a call of the host in its place.
func (h *Host) Rewrites(e Event) bool {
	_, ok := h.Answers["run"]
	return ok && h.Tools[e.Tool].Kind == "command"
}

// rewritten lets sallyport exec run an allowed command, and judge and record it as any other. done is false
// for a command that is not allowed.
func (o Options) rewritten(
	ctx context.Context, opened Opened, e Event, r engine.Request,
) (a reply, done bool) {
	out, err := opened.Gate.Check(ctx, r)
	if err != nil {
		return o.Host.broken(e, err), true
	}
	if out.Fault != nil || out.Decision.Effect != engine.Allow && out.Decision.Mode != engine.Monitor {
		return reply{}, false
	}
	kind := "run"
	if opened.Approve && out.Decision.Effect == engine.Allow {
		kind = "run-approve"
	}
	return o.Host.answer(kind, e, "", o.Host.changed(opened, e, r, "")), true
}

// asked has the host ask its user, and gives sallyport exec a ticket for a yes.
func (o Options) asked(opened Opened, e Event, r engine.Request, out engine.Outcome) reply {
	id, err := newTicket(opened.Dir, r, opened.Now)
	if err != nil {
		return o.Host.broken(e, err)
	}
	return o.Host.answer("run-ask", e, reasonsOf("sallyport asks", out), o.Host.changed(opened, e, r, id))
}

// changed is the input of a call with the command that runs it by sallyport exec.
func (h *Host) changed(opened Opened, e Event, r engine.Request, ticket string) map[string]any {
	tool := h.Tools[e.Tool]
	w := Rewriting{Text: r.Command, Dir: r.WorkDir, Timeout: unlimited, Ticket: ticket}
	w.Session = opened.Subject.Session
	if v, ok := at(e.Input, tool.Milliseconds); ok {
		if n, ok := v.(json.Number); ok {
			if ms, err := n.Int64(); err == nil && ms > 0 && ms < int64(keptFor/time.Millisecond) {
				w.Timeout = time.Duration(ms) * time.Millisecond
			}
		}
	}
	input := maps.Clone(e.Input)
	input[tool.Command] = opened.Rewrite(w)
	return input
}

// ticketFor is how long a ticket is good.
const ticketFor = 10 * time.Minute

// ticket says that a host asks its user about a command. The host runs the command with it only after a yes.
type ticket struct {
	Command string    `json:"command"`
	WorkDir string    `json:"work_dir"`
	Expires time.Time `json:"expires"`
}

func newTicket(dir string, r engine.Request, now time.Time) (id string, err error) {
	id = rand.Text()
	text, err := json.Marshal(ticket{r.Command, r.WorkDir, now.Add(ticketFor)})
	if err == nil && dir == "" {
		err = errors.New("no directory: set HOME or XDG_STATE_HOME")
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, id+".ticket"), text, 0o600)
	}
	if err != nil {
		return "", fmt.Errorf("keep the question: %w", err)
	}
	return id, nil
}

// Ticket is an Approver that grants the one command for which a host asked its user, once.
type Ticket struct {
	Dir, ID string
	Now     func() time.Time
}

// Approve uses the ticket up. An error says that it is not for this command, and refuses.
func (t Ticket) Approve(_ context.Context, r engine.ApprovalRequest) (engine.Approval, error) {
	file := filepath.Join(t.Dir, filepath.Base(t.ID)+".ticket")
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.Remove(file)
	}
	var k ticket
	if err == nil {
		err = json.Unmarshal(text, &k)
	}
	switch {
	case err != nil:
		return engine.Approval{}, fmt.Errorf("use the ticket of a hook: %w", err)
	case k.Command != r.Request.Command || k.WorkDir != r.WorkDir:
		return engine.Approval{}, errors.New("use the ticket of a hook: it is for another command")
	case !t.Now().Before(k.Expires):
		return engine.Approval{}, errors.New("use the ticket of a hook: it has expired")
	}
	return engine.Approval{Granted: true, By: "host", Comment: "the agent's user was asked by its hook"}, nil
}
