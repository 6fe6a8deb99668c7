package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

var (
	commandParam = param{name: "command", kind: text, required: true,
		about: "Bash text. It is read as bash reads it: pipes, loops and quoting work."}
	workDirParam = param{name: "work_dir", kind: text,
		about: "Directory to run in: absolute, or relative to the workspace. Default: the workspace."}
)

func shellTools() []tool {
	return []tool{
		{
			name: "execute_command", title: "Run a command", set: setShell,
			about: "Run a bash command and wait for it. Policies judge the whole text before anything runs: nested " +
				"shells, scripts and file paths too. " +
				"A refusal says which rule spoke and what to do instead; follow that, do not rephrase the command to " +
				"get around it. " +
				"stdin is empty and the environment is cleaned of secrets. " +
				"Long output keeps its head and its tail; read_file pages through the rest. " +
				"For what must outlive the call, use start_background_shell.",
			hints: hints{destructive: true, openWorld: true},
			params: []param{
				commandParam,
				{name: "timeout", kind: number, least: atLeast(0.001),
					about: "Seconds until the command and all that it started are ended. Default: the operator's. The " +
						"operator sets a maximum."},
				workDirParam,
			},
			output: commandResult{},
			run:    executeCommand,
			refuse: func(c *call, why string) result { return commandRefused(c.request.GetArguments(), why) },
		},
		{
			name: "check_command", title: "Check a command without running it", set: setShell,
			about: "Ask the policies about a bash command and run nothing: whether it would be allowed, refused, or " +
				"put to a person, and why. " +
				"The answer holds for this moment; execute_command judges again.",
			hints:  hints{readOnly: true, idempotent: true},
			params: []param{commandParam, workDirParam},
			output: checkResult{},
			run:    checkCommand,
			refuse: func(c *call, why string) result { return checkResult{Error: why, verdict: undecided()} },
		},
	}
}

// commandResult is the result of execute_command. Its first seven fields are those of the predecessor.
type commandResult struct {
	Success         bool    `json:"success" jsonschema:"It ran to its end and exited with 0."`
	ExitCode        int     `json:"exit_code" jsonschema:"Exit status; 128+n after signal n; -1 when it did not run or did not end by itself."`
	Stdout          string  `json:"stdout"`
	Stderr          string  `json:"stderr" jsonschema:"The output of the command there; after it, or in its place, why it was refused or ended."`
	ExecutionTime   float64 `json:"execution_time" jsonschema:"Seconds."`
	Command         string  `json:"command" jsonschema:"The text that was judged and run."`
	WorkDir         string  `json:"work_dir"`
	CPUTime         float64 `json:"cpu_time,omitempty" jsonschema:"Seconds of processors, of all its processes."`
	MaxMemory       int64   `json:"max_memory,omitempty" jsonschema:"Bytes, of its largest process; absent when not known."`
	StdoutBytes     int64   `json:"stdout_bytes,omitempty" jsonschema:"Bytes that it wrote."`
	StderrBytes     int64   `json:"stderr_bytes,omitempty" jsonschema:"Bytes that it wrote."`
	Ran             bool    `json:"ran" jsonschema:"False when it was refused."`
	Signal          string  `json:"signal,omitempty" jsonschema:"The signal that ended it, such as SIGKILL; absent when it exited by itself."`
	TimedOut        bool    `json:"timed_out,omitempty"`
	StdoutTruncated int64   `json:"stdout_truncated,omitempty" jsonschema:"Bytes left out between head and tail."`
	StderrTruncated int64   `json:"stderr_truncated,omitempty" jsonschema:"Bytes left out between head and tail."`
	StdoutName      string  `json:"stdout_name,omitempty" jsonschema:"Path by which read_file pages through the output that was left out."`
	StderrName      string  `json:"stderr_name,omitempty" jsonschema:"Path by which read_file pages through the output that was left out."`
	Changes         string  `json:"changes,omitempty" jsonschema:"Files that changed while it ran."`
	verdict

	complete bool // it ran to an end of its own
}

func executeCommand(ctx context.Context, c *call) result {
	w, err := c.resumed()
	if err != nil {
		return c.tool.refuse(c, upperFirst(err.Error())+".")
	}
	if w == nil {
		w = c.begin(ctx, func(ctx context.Context, w *round) result {
			r := engine.Request{
				Tool: c.tool.name, Command: c.args.text("command"), WorkDir: c.workDir(),
				Timeout: c.args.seconds("timeout"), Subject: c.subject,
			}
			if c.followed() {
				r.Stdout, r.Stderr = &w.output.stdout, &w.output.stderr
			}
			out, err := c.server.o.Gate.Do(ctx, r)
			if err != nil {
				return commandRefused(c.args, requestText(err))
			}
			c.remember(out)
			return c.commandResultOf(out, r)
		})
	}
	defer c.follow(ctx, &w.output).stop()
	return w.wait(ctx, c)
}

// workDir is the directory that a call is for.
func (c *call) workDir() string { return cmp.Or(c.args.text("work_dir"), c.server.o.WorkDir) }

// commandRefused is the result of a call that never came to a decision.
func commandRefused(args map[string]any, why string) commandResult {
	asked := arguments(args)
	return commandResult{ExitCode: -1, Stderr: why, Command: echoed(asked.text("command")),
		WorkDir: echoed(asked.text("work_dir")), verdict: undecided()}
}

func (c *call) commandResultOf(out engine.Outcome, asked engine.Request) commandResult {
	r := commandResult{
		ExitCode: -1, Command: echoed(judgedText(out, asked.Command)),
		WorkDir: echoed(cmp.Or(out.WorkDir, asked.WorkDir)), Ran: out.Ran,
		verdict: c.verdictOf(out),
	}
	if !out.Ran {
		r.Stderr = c.refusalText(out)
		return r
	}
	e := out.Exit
	if out.Trial != nil {
		r.Changes = out.Trial.Changes.String(out.WorkDir)
	} else if out.Changes != nil {
		r.Changes = out.Changes.String(out.WorkDir)
	}
	r.ExitCode, r.Signal, r.TimedOut, r.ExecutionTime = e.Code, e.Signal, e.TimedOut, seconds(e.Duration)
	r.CPUTime, r.MaxMemory = seconds(e.UserTime+e.SystemTime), e.MaxRSS
	r.StdoutBytes, r.StderrBytes = e.Stdout.Bytes, e.Stderr.Bytes
	keep := &c.server.outputs
	roomOut, roomErr := shares(c.server.o.Result, len(e.Stdout.Text), len(e.Stderr.Text))
	r.Stdout, r.StdoutName, r.StdoutTruncated = keep.shown(e.Stdout.Text, roomOut)
	r.Stderr, r.StderrName, r.StderrTruncated = keep.shown(e.Stderr.Text, roomErr)
	r.StdoutTruncated += e.Stdout.Dropped
	r.StderrTruncated += e.Stderr.Dropped
	var notes []string
	discarded := out.Trial.Fate()
	if discarded != "" {
		notes = append(notes, "The command ran in a trial, and "+discarded)
	}
	switch {
	case out.Fault != nil:
		notes = append(notes, "The command ran. "+faultText(out.Fault))
	case e.TimedOut:
		seconds := 0.0
		if out.Input != nil {
			seconds = out.Input.Request.TimeoutSeconds
		}
		notes = append(notes, fmt.Sprintf("Command timed out after %s seconds",
			strconv.FormatFloat(seconds, 'f', -1, 64)))
	case e.Killed != "":
		notes = append(notes, "Command ended: "+e.Killed)
	case e.Error != nil:
		notes = append(notes, fmt.Sprintf("Execution error: %v", e.Error))
	}
	if e.OOMKills > 0 {
		notes = append(notes, oomText(e.OOMKills))
	}
	if e.Survivors > 0 {
		notes = append(notes, fmt.Sprintf("%d processes of the command could not be ended", e.Survivors))
	}
	for _, h := range out.Held[:min(len(out.Held), maxHeldNotes)] {
		notes = append(notes, h.String())
	}
	if out.Programs != nil {
		for _, p := range out.Programs.Refused[:min(len(out.Programs.Refused), maxHeldNotes)] {
			notes = append(notes, p.String(), "Instead: "+p.Remediation)
		}
	}
	r.complete = out.Fault == nil && !e.TimedOut && e.Killed == "" && e.Error == nil && discarded == ""
	if !r.complete {
		r.ExitCode = -1
	}
	r.Success = r.complete && e.Code == 0
	r.Stderr = withNotes(r.Stderr, notes)
	return r
}

// seconds is a duration to the millisecond: a model reads each digit.
func seconds(d time.Duration) float64 { return float64(d.Milliseconds()) / 1000 }

// maxHeldNotes bounds the held files, and the refused programs, that notes name; the result lists all.
const maxHeldNotes = 10

// oomText says that memory ran out. It may be another command of the environment that lost a process.
func oomText(kills int) string {
	return fmt.Sprintf(
		"The kernel killed %d processes of this environment for want of memory while the command ran", kills)
}

// judgedText is the judged text, with a configured prefix; else the requested one.
func judgedText(out engine.Outcome, asked string) string {
	if out.Input != nil && out.Input.Request.Command != "" {
		return out.Input.Request.Command
	}
	return asked
}

// withNotes adds our own messages on separate lines below the output of a command.
func withNotes(text string, notes []string) string {
	for _, n := range notes {
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		text += n
	}
	return text
}

func upperFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func (r commandResult) failed() bool { return !r.complete }

func (r commandResult) mirror() string {
	var p page
	switch {
	case !r.Ran:
		p.line("REFUSED: it did not run.")
		p.line("%s", r.Stderr)
		p.verdict(r.verdict)
		return p.text()
	case r.TimedOut:
		p.line("TIMED OUT after %.1f s in %s", r.ExecutionTime, r.WorkDir)
	case r.Signal != "":
		p.line("ended by %s after %.2f s in %s", r.Signal, r.ExecutionTime, r.WorkDir)
	default:
		p.line("exit code %d after %.2f s in %s", r.ExitCode, r.ExecutionTime, r.WorkDir)
	}
	p.verdict(r.verdict)
	p.block("stdout"+leftOut(r.StdoutTruncated), r.Stdout)
	p.block("stderr"+leftOut(r.StderrTruncated), r.Stderr)
	if r.Stdout == "" && r.Stderr == "" {
		p.line("(no output)")
	}
	return p.text()
}

// leftOut says in a title how much of a stream is missing.
func leftOut(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf(" (%d bytes left out in the middle)", bytes)
}

// checkResult is the result of check_command.
type checkResult struct {
	Success  bool   `json:"success" jsonschema:"The command could be judged, whatever the decision."`
	WouldRun bool   `json:"would_run" jsonschema:"execute_command would run it without asking anybody."`
	Command  string `json:"command"`
	WorkDir  string `json:"work_dir"`
	Error    string `json:"error,omitempty" jsonschema:"Why it could not be judged."`
	verdict
}

func checkCommand(ctx context.Context, c *call) result {
	out, err := c.server.o.Gate.Check(ctx, engine.Request{
		Tool: "execute_command", Command: c.args.text("command"), WorkDir: c.workDir(), Subject: c.subject,
	})
	if err != nil {
		return c.tool.refuse(c, requestText(err))
	}
	r := checkResult{Success: out.Fault == nil, Command: echoed(judgedText(out, c.args.text("command"))),
		WorkDir: echoed(out.WorkDir), verdict: c.verdictOf(out)}
	r.DecisionID = "" // nothing was recorded that the id could name
	if canElicit(ctx) {
		r.HowToAllow = "" // execute_command asks the person
	}
	r.WouldRun = out.Decision.Effect == engine.Allow || out.Decision.Mode == engine.Monitor && out.Fault == nil
	if out.Fault != nil {
		r.Error = "It could not be judged. " + faultText(out.Fault)
	}
	return r
}

func (r checkResult) failed() bool { return !r.Success }

func (r checkResult) mirror() string {
	var p page
	switch {
	case r.Error != "":
		p.line("%s", r.Error)
	case r.WouldRun:
		p.line("ALLOWED: it would run in %s.", r.WorkDir)
	case r.Effect == string(engine.Ask):
		p.line("ASK: a person would have to approve it.")
	default:
		p.line("REFUSED: it would not run.")
	}
	p.verdict(r.verdict)
	return p.text()
}
