package mcpserver

import (
	"context"
	"errors"
	"math"

	"github.com/sallyport-dev/sallyport/internal/background"
)

// shellStatusFields describe one background shell.
type shellStatusFields struct {
	ShellID         string  `json:"shell_id"`
	Status          string  `json:"status" jsonschema:"running, stopped (exited with 0), failed (exited otherwise) or killed."`
	ExitCode        *int    `json:"exit_code,omitempty" jsonschema:"Absent while it runs."`
	PID             int     `json:"pid"`
	Command         string  `json:"command"`
	CWD             string  `json:"cwd"`
	StartTime       string  `json:"start_time" jsonschema:"RFC 3339."`
	DurationSeconds float64 `json:"duration_seconds"`
	Signal          string  `json:"signal,omitempty" jsonschema:"The signal that ended it; absent when it exited by itself."`
	TimedOut        bool    `json:"timed_out,omitempty"`
	Reason          string  `json:"reason,omitempty" jsonschema:"Why we ended it, if we did."`
	DecisionID      string  `json:"decision_id" jsonschema:"Names in the audit log the decision by which it was started."`
	Note            string  `json:"note,omitempty" jsonschema:"The error."`
}

func statusOf(s background.Shell) shellStatusFields {
	f := shellStatusFields{
		ShellID: s.ID, Status: string(s.State), ExitCode: exitCode(s), PID: s.PID, Command: s.Command,
		CWD:       s.WorkDir,
		StartTime: s.StartTime(), DurationSeconds: math.Round(s.Duration.Seconds()*100) / 100, Signal: s.Signal,
		TimedOut: s.TimedOut, Reason: s.Reason, DecisionID: s.Decision.ID, Note: s.Error,
	}
	if f.Note == "" && s.OOMKills > 0 {
		f.Note = oomText(s.OOMKills)
	}
	if s.Fault != "" {
		f.Note = brokenText(s.Fault)
	}
	return f
}

func (f shellStatusFields) line(p *page) {
	p.line("%s: %s%s after %.2f s, pid %d, in %s: %s", f.ShellID, f.Status, exitWords(f.ExitCode),
		f.DurationSeconds, f.PID, f.CWD, visible(f.Command))
	for _, part := range []struct{ name, text string }{{"signal", f.Signal}, {"ended because", f.Reason},
		{"note", f.Note}} {
		if part.text != "" {
			p.line("  %s: %s", part.name, part.text)
		}
	}
	if f.TimedOut {
		p.line("  it ran into its timeout")
	}
}

// statusResult is the result of get_background_shell_status.
type statusResult struct {
	Success bool `json:"success"`
	shellStatusFields
	Error string `json:"error,omitempty"`
}

func shellStatus(_ context.Context, c *call) result {
	s, err := c.server.o.Background.Status(c.args.text("shell_id"))
	if err != nil {
		return c.tool.refuse(c, upperFirst(err.Error())+".")
	}
	return statusResult{Success: true, shellStatusFields: statusOf(s)}
}

func (r statusResult) failed() bool { return !r.Success }

func (r statusResult) mirror() string {
	if !r.Success {
		return r.Error
	}
	var p page
	r.line(&p)
	return p.text()
}

// killResult is the result of kill_background_shell.
type killResult struct {
	Success  bool   `json:"success"`
	ShellID  string `json:"shell_id"`
	Status   string `json:"status" jsonschema:"How it ended: stopped, failed or killed."`
	ExitCode *int   `json:"exit_code,omitempty"`
	Signal   string `json:"signal,omitempty" jsonschema:"The signal that ended it; absent when it exited by itself."`
	Message  string `json:"message,omitempty"`
	Error    string `json:"error,omitempty"`
}

func killShell(ctx context.Context, c *call) result {
	s, already, err := c.server.o.Background.Kill(ctx, c.args.text("shell_id"),
		"killed by kill_background_shell")
	var unknown *background.UnknownError
	if errors.As(err, &unknown) {
		return c.tool.refuse(c, upperFirst(err.Error())+".")
	}
	r := killResult{Success: err == nil, ShellID: s.ID, Status: string(s.State), ExitCode: exitCode(s),
		Signal: s.Signal}
	switch {
	case err != nil:
		r.Error = upperFirst(err.Error()) + "."
	case already:
		r.Message = "Process already terminated"
	}
	return r
}

func (r killResult) failed() bool { return !r.Success }

func (r killResult) mirror() string {
	if !r.Success {
		return r.Error
	}
	var p page
	p.line("%s: %s%s", r.ShellID, r.Status, exitWords(r.ExitCode))
	if r.Signal != "" {
		p.line("  signal: %s", r.Signal)
	}
	if r.Message != "" {
		p.line("%s", r.Message)
	}
	return p.text()
}

// listedCommand is how many characters of each command a list shows; the status of one shows all.
const listedCommand = 500

// listResult is the result of list_background_shells.
type listResult struct {
	Success bool                `json:"success"`
	Shells  []shellStatusFields `json:"shells"`
	Count   int                 `json:"count"`
	Error   string              `json:"error,omitempty"`
}

func listShells(_ context.Context, c *call) result {
	all := c.server.o.Background.List()
	r := listResult{Success: true, Shells: make([]shellStatusFields, len(all)), Count: len(all)}
	for i, s := range all {
		r.Shells[i] = statusOf(s)
		r.Shells[i].Command = shortened(s.Command, listedCommand)
	}
	return r
}

func (r listResult) failed() bool { return !r.Success }

func (r listResult) mirror() string {
	if !r.Success {
		return r.Error
	}
	var p page
	p.line("background shells: %d", r.Count)
	for _, s := range r.Shells {
		s.line(&p)
	}
	return p.text()
}
