package mcpserver

import (
	"cmp"
	"context"
	"fmt"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/background"
)

// outputBytes is how much of each stream one call returns when it does not say.
const outputBytes = 64 << 10

func backgroundTools() []tool {
	shellID := param{name: "shell_id", kind: text, required: true,
		about: "As start_background_shell returned it."}
	return []tool{
		{
			name: "start_background_shell", title: "Start a background shell", set: setBackground,
			about: "Start a bash command that goes on after this call: a server, a watcher, a long build. It is " +
				"judged and confined exactly as by execute_command. " +
				"Only so many may run at once. It ends with this server, at its timeout, or by kill_background_shell, " +
				"with everything that it started.",
			hints: hints{destructive: true, openWorld: true},
			params: []param{
				commandParam, workDirParam,
				{name: "timeout", kind: number, least: atLeast(0.001),
					about: "Seconds until it is ended. Default: the operator's maximum."},
			},
			output: startResult{}, run: startShell,
			refuse: func(c *call, why string) result {
				return startResult{Command: echoed(arguments(c.request.GetArguments()).text("command")), Error: why,
					verdict: undecided()}
			},
		},
		{
			name: "get_background_shell_output", title: "Read a background shell's output", set: setBackground,
			about: "Read what a background shell wrote. Pass the next offsets of the last call to get only what is " +
				"new. Lines that are not finished yet are shown, too. " +
				"The oldest output is dropped when there is much; the result says how much is missing.",
			hints: hints{readOnly: true, idempotent: true},
			params: []param{
				shellID,
				{name: "stdout_offset", kind: whole, least: atLeast(0), standard: 0,
					about: "Byte of stdout to begin at."},
				{name: "stderr_offset", kind: whole, least: atLeast(0), standard: 0,
					about: "Byte of stderr to begin at."},
				{name: "max_bytes", kind: whole, least: atLeast(1), standard: outputBytes,
					about: "Of each stream, about this much at most."},
			},
			output: outputResult{}, run: shellOutput,
			refuse: func(_ *call, why string) result { return outputResult{Error: why} },
		},
		{
			name: "get_background_shell_status", title: "See how a background shell is doing", set: setBackground,
			about:  "Tell whether a background shell runs, and how it ended if it does not.",
			hints:  hints{readOnly: true, idempotent: true},
			params: []param{shellID},
			output: statusResult{}, run: shellStatus,
			refuse: func(_ *call, why string) result { return statusResult{Error: why} },
		},
		{
			name: "kill_background_shell", title: "End a background shell", set: setBackground,
			about: "End a background shell and everything that it started: TERM, a moment of grace, KILL. The " +
				"answer " +
				"comes when all of it is gone and says which signal it took. " +
				"One that has ended already is no error.",
			hints:  hints{destructive: true, idempotent: true},
			params: []param{shellID},
			output: killResult{}, run: killShell,
			refuse: func(_ *call, why string) result { return killResult{Error: why} },
		},
		{
			name: "list_background_shells", title: "List the background shells", set: setBackground,
			about:  "List the background shells of this server: those that run, and for a while those that ended.",
			hints:  hints{readOnly: true, idempotent: true},
			output: listResult{}, run: listShells,
			refuse: func(_ *call, why string) result { return listResult{Shells: []shellStatusFields{}, Error: why} },
		},
	}
}

// startResult is the result of start_background_shell.
type startResult struct {
	Success bool   `json:"success"`
	ShellID string `json:"shell_id" jsonschema:"Names the shell in the other tools; empty when none was started."`
	Status  string `json:"status" jsonschema:"running; empty when none was started."`
	PID     int    `json:"pid"`
	Command string `json:"command"`
	WorkDir string `json:"work_dir"`
	Error   string `json:"error,omitempty" jsonschema:"Why none was started."`
	verdict
}

func startShell(ctx context.Context, c *call) result {
	r := engine.Request{
		Tool: c.tool.name, Command: c.args.text("command"), WorkDir: c.workDir(),
		Timeout: c.args.seconds("timeout"), Subject: c.subject,
	}
	shell, out, err := c.server.o.Background.Start(ctx, r)
	if err != nil {
		return c.tool.refuse(c, upperFirst(err.Error())+".")
	}
	c.remember(out)
	s := startResult{Command: echoed(r.Command), WorkDir: echoed(cmp.Or(out.WorkDir, r.WorkDir)),
		verdict: c.verdictOf(out)}
	switch {
	case shell.ID != "":
		s.Success, s.ShellID, s.Status, s.PID = true, shell.ID, string(shell.State), shell.PID
	case out.Ran && out.Exit.Error != nil:
		s.Error = fmt.Sprintf("Execution error: %v", out.Exit.Error)
	default:
		s.Error = c.refusalText(out)
	}
	return s
}

func (r startResult) failed() bool { return !r.Success }

func (r startResult) mirror() string {
	var p page
	if r.Success {
		p.line("started %s (pid %d) in %s", r.ShellID, r.PID, r.WorkDir)
	} else {
		p.line("NOT STARTED.")
		p.line("%s", r.Error)
	}
	p.verdict(r.verdict)
	return p.text()
}

// outputResult is the result of get_background_shell_output.
type outputResult struct {
	Success       bool   `json:"success"`
	ShellID       string `json:"shell_id"`
	Status        string `json:"status" jsonschema:"running, stopped (exited with 0), failed (exited otherwise) or killed."`
	ExitCode      *int   `json:"exit_code,omitempty" jsonschema:"Absent while it runs."`
	Stdout        string `json:"stdout"`
	Stderr        string `json:"stderr"`
	StdoutNext    int64  `json:"stdout_next" jsonschema:"Pass as stdout_offset to read on."`
	StderrNext    int64  `json:"stderr_next" jsonschema:"Pass as stderr_offset to read on."`
	StdoutDropped int64  `json:"stdout_dropped,omitempty" jsonschema:"Bytes before this text that are no longer kept."`
	StderrDropped int64  `json:"stderr_dropped,omitempty" jsonschema:"Bytes before this text that are no longer kept."`
	StdoutTotal   int64  `json:"stdout_total" jsonschema:"Bytes written so far."`
	StderrTotal   int64  `json:"stderr_total" jsonschema:"Bytes written so far."`
	Error         string `json:"error,omitempty"`
}

func shellOutput(_ context.Context, c *call) result {
	since := background.Since{Stdout: c.args.offset("stdout_offset"), Stderr: c.args.offset("stderr_offset")}
	o, err := c.server.o.Background.Output(c.args.text("shell_id"), since,
		c.args.whole("max_bytes", outputBytes))
	if err != nil {
		return c.tool.refuse(c, upperFirst(err.Error())+".")
	}
	return outputResult{
		Success: true, ShellID: o.Shell.ID, Status: string(o.Shell.State), ExitCode: exitCode(o.Shell),
		Stdout: o.Stdout.Text, StdoutNext: o.Stdout.Next, StdoutDropped: o.Stdout.Dropped,
		StdoutTotal: o.Stdout.Total,
		Stderr:      o.Stderr.Text, StderrNext: o.Stderr.Next, StderrDropped: o.Stderr.Dropped,
		StderrTotal: o.Stderr.Total,
	}
}

// exitCode is absent while a shell runs.
func exitCode(s background.Shell) *int {
	if !s.Ended() {
		return nil
	}
	return &s.ExitCode
}

func (r outputResult) failed() bool { return !r.Success }

func (r outputResult) mirror() string {
	if !r.Success {
		return r.Error
	}
	var p page
	p.line("%s is %s%s", r.ShellID, r.Status, exitWords(r.ExitCode))
	p.line("read on with stdout_offset %d (of %d), stderr_offset %d (of %d)",
		r.StdoutNext, r.StdoutTotal, r.StderrNext, r.StderrTotal)
	p.block("stdout"+dropped(r.StdoutDropped), r.Stdout)
	p.block("stderr"+dropped(r.StderrDropped), r.Stderr)
	if r.Stdout == "" && r.Stderr == "" {
		p.line("(nothing new)")
	}
	return p.text()
}

func exitWords(code *int) string {
	if code == nil {
		return ""
	}
	return fmt.Sprintf(", exit code %d", *code)
}

func dropped(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d older bytes are no longer kept)", bytes)
}
