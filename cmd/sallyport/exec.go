package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/hooks"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

// execFlags are the flags of exec.
type execFlags struct {
	text, runner, workDir, session, agent, ticket string
	stdin, tty, dryRun, apply                     bool
	timeout                                       time.Duration
	format                                        *format
}

func (a *app) execCommand() *cobra.Command {
	var f execFlags
	cmd := &cobra.Command{
		Use:   "exec [flags] -- WORDS…  |  exec [flags] -c TEXT",
		Short: "Run a command through the gate",
		Long: `Run a command through the gate, which judges it, records the decision, and only then runs it.

WORDS are a program and its arguments, taken exactly. TEXT is bash text.

With --dry-run it runs in a trial: in a sandbox without a network, and its changes of files are
listed, judged by the policies and thrown away. With --apply they are applied if the policies allow
that, and nobody else has changed the same files meanwhile; where the policies ask, you see the list
first. Where no trial is possible, nothing runs.

With --tty it gets a terminal of its own, shown in yours: for editors, pagers, interpreters.

Exits with the status of the command; 124 after a timeout, 125 when sallyport itself failed,
126 when it was denied, 127 when there is no such command, 128+n when signal n ended it.`,
		Example: `  sallyport exec -- pytest -q
  sallyport exec --timeout 5m -c 'make build && make test'
  sallyport exec --dry-run -- ./cleanup.sh
  sallyport exec --tty --timeout 1h -- python3`,
		RunE: func(cmd *cobra.Command, words []string) error {
			text, err := a.textOf(f.text, cmd.Flags().Changed("command"), words, f.workDir)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("timeout") && f.timeout <= 0 {
				return usageError{fmt.Errorf("--timeout %v: it must be greater than zero", f.timeout)}
			}
			return a.exec(cmd.Context(), text, f)
		},
	}
	flags := cmd.Flags()
	flags.SetInterspersed(false) // words behind the first one belong to the command
	flags.StringVarP(&f.text, "command", "c", "", "bash `text` to run")
	flags.StringVar(
		&f.runner, "runner", "", "where to run it: local, docker, docker-sudo, or a `name` from runners: (default "+
			"from the configuration)")
	flags.StringVar(
		&f.workDir, "work-dir", "", "`directory` to run it in: absolute, or relative to the workspace (default: "+
			"the workspace)")
	flags.BoolVar(&f.stdin, "stdin", false, "pass on standard input, which is not judged; policies see that")
	flags.BoolVarP(
		&f.tty, "tty", "t", false, "give it a terminal, which gets your input; the input is not judged, as with "+
			"--stdin")
	flags.BoolVar(&f.dryRun, "dry-run", false, "run it in a trial and throw its changes of files away")
	flags.BoolVar(&f.apply, "apply", false, "run it in a trial and apply its changes if policies allow them")
	flags.DurationVar(&f.timeout, "timeout", 0, "timeout (default from the configuration)")
	flags.StringVar(&f.session, "session", "", "`name` of the session, for policies and records")
	flags.StringVar(
		&f.agent, "agent", "", "`name` of the agent, for policies and records (default from the configuration)")
	flags.StringVar(&f.ticket, "ticket", "", "`id` that a hook gave: the agent's user approves, if it asks")
	f.format = formatFlag(cmd)
	return cmd
}

func (a *app) exec(ctx context.Context, text string, f execFlags) error {
	var screen *screen
	if f.tty {
		if *f.format == formatJSON {
			return usageError{errors.New("--tty shows the output as it comes: leave out --format json")}
		}
		var err error
		if screen, err = screenOf(a.in); err != nil {
			return usageError{err}
		}
	}
	l, err := a.loadFor(f.agent, f.runner)
	if err != nil {
		return err
	}
	if err := hooks.CheckSession(f.session, a.asker, string(l.Workspace)); err != nil {
		return usageError{err}
	}
	assemble, err := a.assembler(l, f)
	if err != nil {
		return err
	}
	var s *plugins.Sallyport
	redact := func(text string) string { return s.Redact(text) }
	s, err = assemble(ctx, l, plugins.Options{
		Session: f.session, Approver: a.approver(l, f, redact), Version: version().Sallyport,
		Once: f.trial() == "" && !l.Approvals.Trial,
		Warn: a.warn, Progress: a.viewProgress().report,
	})
	if err != nil {
		return err
	}
	request := engine.Request{Tool: "execute_command", Command: text, WorkDir: f.workDir, Timeout: f.timeout}
	request.Trial = f.trial()
	if f.stdin {
		request.Stdin = a.in
	}
	if f.tty {
		request.Stdin, request.Terminal = screen, screen.terminal()
	}
	if *f.format == formatText {
		request.Stdout, request.Stderr = screen.shown(a.out), a.err
		request.Joined = a.joined()
	}
	out, code, err := a.follow(ctx, s, request, screen)
	if (&plugins.Warm{}).Helps(l) {
		a.startResident(l)
	}
	if err != nil {
		return err
	}
	if *f.format == formatJSON {
		if err := writeJSON(a.out, executed(out, code, redact)); err != nil {
			return err
		}
		return status(code)
	}
	a.explainExec(out, redact)
	return status(code)
}

// follow runs a command to its end, passes signals on to it, lends it the terminal if there is one, and
// closes the gate.
func (a *app) follow(
	ctx context.Context, s *plugins.Sallyport, request engine.Request, screen *screen,
) (engine.Outcome, int, error) {
	signals := a.catchSignals(ctx)
	defer signals.stop()
	job, err := s.Start(signals.ctx, request)
	if err != nil {
		return engine.Outcome{}, 0, errors.Join(err, s.Close())
	}
	defer screen.restore()
	screen.lend(job)
	out := signals.follow(job)
	screen.restore()
	if err := s.Close(); err != nil {
		a.complain(err) // the command is on record all the same: its status stands
	}
	return out, execStatus(out, signals.cause()), nil
}

// trial is the fate of the command's changes.
func (f execFlags) trial() engine.TrialMode {
	switch {
	case f.apply:
		return engine.Apply
	case f.dryRun:
		return engine.DryRun
	}
	return ""
}

// approver is the person at the terminal, or the user of an agent whose hook asked.
func (a *app) approver(l *config.Loaded, f execFlags, redact func(string) string) engine.Approver {
	switch {
	case f.ticket != "":
		return hooks.Ticket{Dir: l.HooksDir(), ID: f.ticket, Now: time.Now}
	case a.live != nil: // a process at a terminal runs its commands itself
		return approver(l, nil)
	}
	return approver(l, terminal(redact))
}

// joined reports whether both outputs lead to one file, pipe or terminal.
func (a *app) joined() bool {
	if a.live != nil {
		return sameFile(a.live.Out, a.live.Err)
	}
	x, ok := a.out.(*os.File)
	y, also := a.err.(*os.File)
	return ok && also && sameFile(x, y)
}

func sameFile(x, y *os.File) bool {
	this, err := x.Stat()
	that, failed := y.Stat()
	return err == nil && failed == nil && os.SameFile(this, that)
}

// execStatus is the exit code for an outcome. A command that a signal was passed on to, and that ended of
// it, has its own status as it has at a shell.
func execStatus(out engine.Outcome, interrupted syscall.Signal) int {
	switch {
	case interrupted != 0 && (!out.Ran || out.Exit.Killed != ""):
		return execSignal + int(interrupted)
	case !out.Ran && out.Decision.Fault != "":
		return execBroken
	case !out.Ran:
		return execDenied
	case out.Exit.TimedOut:
		return execTimedOut
	case out.Fault != nil || out.Exit.Code < 0:
		return execBroken
	case out.Trial != nil && out.Trial.Refused():
		return execDenied
	case out.Trial != nil && out.Trial.Error != nil:
		return execBroken
	}
	return out.Exit.Code
}

// explainExec reports why a command did not run, or how it ended.
func (a *app) explainExec(out engine.Outcome, redact func(string) string) {
	if !out.Ran {
		a.explainDenial(out)
		return
	}
	switch {
	case out.Exit.TimedOut:
		a.say("timed out after %s: give it more with --timeout", granted(out))
	case out.Exit.Error != nil:
		a.say("%s", printable(out.Exit.Error.Error()))
	}
	if n := out.Exit.OOMKills; n > 0 {
		a.say("the kernel killed %d processes of the environment for want of memory: give it more, or use less", n)
	}
	if out.Exit.Survivors > 0 {
		a.say("%d processes of the command could not be ended", out.Exit.Survivors)
	}
	if out.Changes != nil && a.verbose > 0 {
		if line := out.Changes.String(out.WorkDir); line != "" {
			a.say("%s", printable(line))
		}
	}
	if out.Trial != nil && out.Exit.Error == nil {
		a.explainTrial(out.Trial, redact)
	}
	for _, line := range slices.Concat(show.RefusedPrograms(out.Programs), show.Held(out.Held)) {
		a.say("%s", printable(line))
	}
	if out.Fault != nil {
		a.complain(out.Fault)
	}
	if out.Decision.Mode == engine.Monitor && out.Decision.Effect != engine.Allow {
		a.say("monitor mode: it ran although the decision is %s (%s)", out.Decision.Effect, out.Decision.ID)
	}
	if out.Approval == nil { // the person who approved it has seen the reasons
		writeReasons(a.err, "sallyport: ", show.JudgedText(out), out.Decision)
	}
}

// granted is the time that a command had.
func granted(out engine.Outcome) time.Duration {
	return time.Duration(out.Input.Request.TimeoutSeconds * float64(time.Second))
}

func (a *app) explainDenial(out engine.Outcome) {
	word := "denied"
	switch {
	case out.Fault != nil:
		word = "error" // no rule denied it
	case out.Decision.Effect == engine.Ask:
		word = "not approved"
	}
	a.say("%s: it did not run", styleOf(a.err).Red(word))
	writeReasons(a.err, "sallyport: ", show.JudgedText(out), out.Decision)
	if out.Fault != nil {
		a.complain(out.Fault) // the cause is for the operator, who typed the command line
	}
	if answer := out.Approval; answer != nil && answer.Comment != "" {
		a.say("%s: %s", printable(answer.By), printable(answer.Comment))
	}
	if out.Decision.Effect == engine.Ask && out.Approval != nil && out.Approval.By == "" {
		a.say("hint: this asks a person and nobody could be asked: run it at a terminal, set " +
			"approvals: {wait: true} to answer from another one, or allow it in the configuration under " +
			"rules or exemptions")
	}
	a.say("decision %s", out.Decision.ID)
	if out.Fault != nil && out.Fault.Part != "audit" {
		a.say("on record: sallyport audit show %s", out.Decision.ID)
	}
}

// judgedText is the text that spans refer to.
// execution is the JSON form of an outcome.
type execution struct {
	engine.Decision
	Approval  *engine.Approval `json:"approval"`
	Ran       bool             `json:"ran"`
	Command   string           `json:"command"` // as judged and run
	WorkDir   string           `json:"work_dir"`
	Runner    string           `json:"runner"`
	Isolation string           `json:"isolation"` // its confinement: none, namespace, container or remote
	Status    int              `json:"status"`    // that exec exits with
	ExitCode  int              `json:"exit_code"` // -1 when it did not run
	Signal    string           `json:"signal"`
	TimedOut  bool             `json:"timed_out"`
	Seconds   float64          `json:"seconds"`
	CPUTime   float64          `json:"cpu_time"`   // seconds, of all its processes
	MaxMemory int64            `json:"max_memory"` // bytes, of its largest process; 0 when not known
	Stdout    stream           `json:"stdout"`
	Stderr    stream           `json:"stderr"`
	Survivors int              `json:"survivors"`
	OOMKills  int              `json:"oom_kills"`
	Held      []engine.Held    `json:"held"` // files that it left and that were moved aside
	Changes   *engine.Changes  `json:"changes,omitempty"`
	Programs  *engine.Programs `json:"programs,omitempty"` // that it started, where they are judged
	Trial     *trialResult     `json:"trial,omitempty"`
	Error     string           `json:"error"`
}

type stream struct {
	Text    string `json:"text"`
	Bytes   int64  `json:"bytes"`
	Dropped int64  `json:"dropped"`
	SHA256  string `json:"sha256"`
}

func executed(out engine.Outcome, code int, redact func(string) string) execution {
	e := execution{
		Decision: out.Decision, Approval: out.Approval, Ran: out.Ran, Command: show.JudgedText(out),
		WorkDir: out.WorkDir,
		Status:  code, ExitCode: -1, Held: append([]engine.Held{}, out.Held...), Changes: out.Changes,
		Programs: out.Programs,
	}
	if out.Input != nil {
		e.Runner, e.Isolation = out.Input.Runner.Name, out.Input.Runner.Isolation
	}
	if out.Fault != nil {
		e.Error = out.Fault.Error()
	}
	e.Trial = triedOf(out.Trial, redact)
	if !out.Ran {
		return e
	}
	x := out.Exit
	e.ExitCode, e.Signal, e.TimedOut, e.Seconds = x.Code, x.Signal, x.TimedOut, x.Duration.Seconds()
	e.Survivors, e.OOMKills = x.Survivors, x.OOMKills
	e.CPUTime, e.MaxMemory = (x.UserTime + x.SystemTime).Seconds(), x.MaxRSS
	e.Stdout = stream{x.Stdout.Text, x.Stdout.Bytes, x.Stdout.Dropped, x.Stdout.SHA256}
	e.Stderr = stream{x.Stderr.Text, x.Stderr.Bytes, x.Stderr.Dropped, x.Stderr.SHA256}
	if x.Error != nil && e.Error == "" {
		e.Error = x.Error.Error()
	}
	return e
}

// trialResult is the JSON form of the result of a trial.
type trialResult struct {
	Changes  engine.Changes   `json:"changes"`
	Diff     []string         `json:"diff"`     // of the contents of changed text files: lines, redacted
	Lost     []string         `json:"lost"`     // files in places of the trial itself, such as /tmp: they are gone
	Decision *engine.Decision `json:"decision"` // about the changes; null if there were none
	Approval *engine.Approval `json:"approval"`
	Paths    []facts.Path     `json:"paths"` // as they were judged
	Applied  bool             `json:"applied"`
	Error    string           `json:"error"`
}

func triedOf(t *engine.Tried, redact func(string) string) *trialResult {
	if t == nil {
		return nil
	}
	out := &trialResult{
		Changes: t.Changes, Diff: append([]string{}, show.Diff(t.Changes, redact)...),
		Lost: append([]string{}, t.Lost...), Decision: t.Decision, Approval: t.Approval,
		Paths: []facts.Path{}, Applied: t.Applied,
	}
	if t.Input != nil {
		out.Paths = t.Input.Paths
	}
	if t.Error != nil {
		out.Error = t.Error.Error()
	}
	return out
}

// maxShown bounds the changes that are shown to people.
const maxShown = 100

// explainTrial shows the changes of a trial and their fate.
func (a *app) explainTrial(t *engine.Tried, redact func(string) string) {
	count := len(t.Changes.List)
	fate := "not applied"
	switch {
	case t.Applied:
		fate = "applied"
	case count == 0:
		fate = "nothing to apply"
	}
	a.say("trial: %d changes, %s", count, fate)
	for _, line := range t.Changes.Lines(maxShown) {
		fmt.Fprintf(a.err, "  %s\n", printable(line))
	}
	for _, line := range show.Diff(t.Changes, redact) {
		fmt.Fprintf(a.err, "    %s\n", line)
	}
	if len(t.Lost) > 0 {
		a.say("files in places of the trial itself are gone: %s", printable(strings.Join(t.Lost, ", ")))
	}
	if d := t.Decision; d != nil {
		if t.Rehearsed {
			a.say("the policies would %s these changes", d.Effect)
		}
		writeReasons(a.err, "sallyport: ", "", *d)
		a.say("decision %s", d.ID)
	}
	if t.Error != nil {
		a.say("%s", printable(t.Error.Error()))
	}
}
