package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/places"
)

// Trier is a Runner that can run a command without its consequences.
type Trier interface {
	Runner
	// Try opens an environment for one command of a trial. An error says why there can be none here, and
	// the fix.
	Try(ctx context.Context, spec EnvironmentSpec) (Trial, error)
}

// Trial is an environment without a network, for one command. Its places are views: changes stay apart, and
// no other process sees them. Close discards them.
type Trial interface {
	Environment
	// End ends everything in the environment and lists every change: an outer name before those in it, and
	// a removed one before its replacement. A removed directory is one change. lost are names in places of
	// the environment itself, such as /tmp, which are gone afterwards.
	End() (c Changes, lost []string, err error)
	// Conflicts lists the changed names that others have changed, too, since the trial began. It is called
	// after End, as are Lstat and Open.
	Conflicts(c Changes) []string
	// Lstat and Open reach a changed file as the trial left it. Neither follows a symbolic link.
	Lstat(path string) (fs.FileInfo, error)
	Open(path string) (io.ReadCloser, error)
}

// TrialMode says whether a command runs in a trial, and the fate of its changes. The zero value is no trial.
type TrialMode string

const (
	DryRun TrialMode = "dry_run" // they are judged and discarded
	Apply  TrialMode = "apply"   // they are judged, and applied if that is allowed
)

// Tried is the result of a trial.
type Tried struct {
	Changes   Changes
	Lost      []string     // names in places of the trial itself, which are gone
	Decision  *Decision    // about the changes; nil if there were none
	Input     *facts.Input // the facts about them
	Approval  *Approval    // nil unless somebody was asked about them
	Rehearsed bool         // the changes were to be judged only
	Applied   bool
	Error     error // why not all changes were applied although they might be
}

// Refused reports changes that were to be applied and were not, by a decision or by a person.
func (t *Tried) Refused() bool {
	if t.Rehearsed || t.Applied || t.Decision == nil || t.Error != nil {
		return false
	}
	return t.Decision.Effect != Allow
}

// Fate says, to the agent too, why changes were not applied; "" if they were, if there are none, and for a
// dry run.
func (t *Tried) Fate() string {
	switch {
	case t == nil || t.Rehearsed || t.Applied || t.Decision == nil && t.Error == nil:
		return ""
	case t.Decision == nil || t.Decision.Fault != "":
		return "its changes were discarded: they could not be judged"
	case t.Error != nil:
		return t.Error.Error()
	}
	for _, r := range t.Decision.Reasons {
		if r.Effect == t.Decision.Effect {
			return fmt.Sprintf("its changes were discarded: %s %s: %s", r.Effect, r.Rule, r.Message)
		}
	}
	return "its changes were discarded"
}

func (r Request) checkTrial() error {
	switch {
	case r.Trial == "":
		return nil
	case r.Trial != DryRun && r.Trial != Apply:
		return fmt.Errorf("%w: trial %q: use dry_run or apply", ErrRequest, r.Trial)
	case r.Operation != nil:
		return fmt.Errorf("%w: a trial of a file tool: it has a dry run of its own", ErrRequest)
	}
	return nil
}

// view opens the environment of a trial.
func (g *Gate) view(ctx context.Context, hidden func(string) bool) (_ Trial, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	t, ok := g.o.Runner.(Trier)
	if !ok {
		return nil, errNoTrials
	}
	s := g.o.Subject
	return t.Try(ctx, EnvironmentSpec{Agent: s.Agent, Session: s.Session, Layout: g.o.Layout, Hidden: hidden})
}

// errNoTrials is why a runner runs no trials.
var errNoTrials = errors.New("this runner has none: use the local one with its sandbox")

// launchTrial starts the judged command in a trial. It is a job as that of launch.
func (g *Gate) launchTrial(ctx context.Context, j *judged, out Outcome, leave func()) *Job {
	out.Ran = true
	started := g.o.Now()
	fail := func(err error) *Job {
		defer leave()
		out.Exit, out.Trial = Exit{Code: -1, Started: started, Error: err}, &Tried{}
		return over(g.recordOutcome(j, out))
	}
	var hidden func(string) bool
	if j.unknown() { // and nobody was asked
		hidden = places.Secret
	}
	view, err := g.view(ctx, hidden)
	if err != nil {
		j.entry.refused()
		return fail(fmt.Errorf("no trial is possible here, and nothing ran: %w", err))
	}
	j.entry.runs()
	cmd := j.command.inTrial()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = j.request.Stdin, j.request.Stdout, j.request.Stderr
	cmd.Joined = j.request.Joined
	p, err := view.Start(context.WithoutCancel(ctx), cmd)
	if err != nil {
		j.entry.ended(-1)
		return fail(errors.Join(err, view.Close()))
	}
	job := &Job{out: out, done: make(chan struct{}), pid: p.PID(), kill: p.Kill, sent: p, peek: p.Output}
	g.jobs.add(job)
	go func() {
		defer leave()
		out := g.concludeTrial(j, view, out, p.Wait())
		if err := view.Close(); err != nil && out.Fault == nil {
			out.Fault = newFault("trial", err)
		}
		g.jobs.finish(job, out)
	}()
	return job
}

// inTrial is the command with variables by which git changes its index only where it must: else "git status"
// and "git diff" had changes.
func (c Command) inTrial() Command {
	c.Env = append(slices.Clone(c.Env), "GIT_OPTIONAL_LOCKS=0")
	own := func(v string) bool { return strings.HasPrefix(v, "GIT_CONFIG_COUNT=") }
	if !slices.ContainsFunc(c.Env, own) {
		c.Env = append(c.Env, "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=diff.autoRefreshIndex",
			"GIT_CONFIG_VALUE_0=false")
	}
	return c
}

// maxRecorded bounds the changes of a trial that its outcome lists on record: the facts about all of them
// follow.
const maxRecorded = 200

// concludeTrial lists the changes of a trial after its end.
func (g *Gate) concludeTrial(j *judged, view Trial, out Outcome, e Exit) Outcome {
	changes, lost, err := view.End()
	if err != nil {
		out.Fault = newFault("trial", err)
	}
	return g.tried(j, view, out, e, changes, lost)
}

// tried puts the outcome of a trial on record, and has its changes judged.
func (g *Gate) tried(j *judged, view Trial, out Outcome, e Exit, changes Changes, lost []string) Outcome {
	out.Exit, out.Trial = e, &Tried{Rehearsed: j.request.Trial == DryRun}
	for i, c := range changes.List {
		if places.Secret(c.Path) {
			changes.List[i].Texts = nil // a form of secrets that no redactor knows
		}
	}
	recorded := changes
	recorded.List = recorded.List[:min(len(recorded.List), maxRecorded)]
	out.Changes, out.Trial.Lost = &recorded, lost
	j.entry.ended(e.Code)
	out = g.recordOutcome(j, out)
	out.Changes, out.Trial.Changes = nil, changes
	if out.Fault != nil || len(changes.List) == 0 {
		return out
	}
	whole := e.Error == nil && e.Killed == "" && !e.TimedOut
	a := &application{view: view, changes: changes, rehearsal: j.request.Trial == DryRun || !whole}
	r := Request{Tool: toolChanges, Operation: a, Subject: j.request.Subject, changesOf: j.decision.ID}
	if a.rehearsal {
		g.judgeChanges(r, out.Trial)
		if j.request.Trial != DryRun && out.Trial.Error == nil {
			out.Trial.Error = errEndedEarly
		}
	} else {
		g.apply(r, out.Trial)
	}
	return out
}

var errEndedEarly = errors.New("the command was ended in the middle: none of its changes is applied")

// judgeChanges has the changes of a dry run judged, and the decision put on record.
func (g *Gate) judgeChanges(r Request, to *Tried) {
	ctx := context.Background()
	j, err := g.judge(ctx, r, false)
	if err != nil {
		to.Error = err
		return
	}
	if err := g.recordDecision(ctx, j); err != nil {
		to.Error = err
		return
	}
	if j.fault != nil {
		to.Error = j.fault
	}
	to.Decision, to.Input = &j.decision, j.input
	if j.decision.Effect == Allow { // else the record says that it did not happen
		now := g.o.Now()
		body := g.outcomeBody(Outcome{Exit: Exit{Started: now}, Trial: to})
		to.Error = g.o.Recorder.Record(ctx, g.newRecord(KindOutcome, j.decision.ID, body))
	}
}

// apply takes the changes all the way that every request takes.
func (g *Gate) apply(r Request, to *Tried) {
	job, err := g.Start(context.Background(), r)
	if err != nil {
		to.Error = err
		return
	}
	out := job.Wait()
	to.Decision, to.Input, to.Approval = &out.Decision, out.Input, out.Approval
	to.Applied = out.Ran && out.Exit.Error == nil
	switch {
	case out.Exit.Error != nil:
		to.Error = out.Exit.Error
	case out.Fault != nil:
		to.Error = out.Fault
	}
}

// unknown reports a question that is about missing knowledge only.
func (j *judged) unknown() bool {
	asked := false
	for _, r := range j.decision.Reasons {
		if r.Effect != Ask {
			continue
		}
		if !r.Trial {
			return false
		}
		asked = true
	}
	return asked && j.decision.Effect == Ask && j.fault == nil
}

// triable reports a question that a trial can answer in place of a person. It answers none about a program:
// after a trial that program would still have to start.
func (j *judged) triable() bool {
	r := j.request
	return j.unknown() && r.Tool != ToolProgram && r.Trial == "" && r.Operation == nil && r.Stdin == nil &&
		r.Terminal == nil && !r.Background
}

// answer runs a trial in place of a question. It is the answer if the command ends well and leaves nothing
// but changes of files: they are applied if the policies allow them, asked about where they ask, and
// discarded where they deny. Else nothing has happened.
func (g *Gate) answer(ctx context.Context, j *judged, out Outcome) (tried Outcome, answered bool) {
	view, err := g.view(ctx, places.Secret)
	if err != nil {
		j.untried = err.Error()
		return out, false
	}
	defer func() {
		if err := view.Close(); err != nil && tried.Fault == nil {
			tried.Fault = newFault("trial", err)
		}
	}()
	p, err := view.Start(context.WithoutCancel(ctx), j.command.inTrial())
	if err != nil {
		j.untried = err.Error()
		return out, false
	}
	stop := context.AfterFunc(ctx, func() { p.Kill("cancelled") })
	e := p.Wait()
	stop()
	changes, lost, err := view.End()
	if j.untried = inconclusive(e, lost, err); j.untried != "" {
		return out, false
	}
	if err := g.approvedByTrial(ctx, j, &out); err != nil {
		return g.faulted(out, "audit", err), true
	}
	out.Ran = true
	j.entry.runs()
	out = g.tried(j, view, out, e, changes, lost)
	show(j.request.Stdout, out.Exit.Stdout)
	show(j.request.Stderr, out.Exit.Stderr)
	return out, true
}

// approvedByTrial puts on record that a trial gives the missing knowledge for which a person would be asked.
func (g *Gate) approvedByTrial(ctx context.Context, j *judged, out *Outcome) error {
	out.Approval = &Approval{Granted: true, By: "trial"}
	j.entry.approved(true)
	body := ApprovalBody{Granted: true, By: out.Approval.By}
	return g.recordBefore(ctx, KindApproval, j.decision.ID, body, true)
}

// inconclusive says why a trial is no answer; "" if it is one.
func inconclusive(e Exit, lost []string, err error) string {
	switch {
	case err != nil:
		return err.Error()
	case e.Error != nil:
		return e.Error.Error()
	case e.TimedOut:
		return "it timed out"
	case e.Killed != "":
		return "it was ended: " + e.Killed
	case e.Code != 0:
		return fmt.Sprintf("it ended with status %d", e.Code)
	case len(lost) > 0:
		return fmt.Sprintf("it left %s, which a trial does not keep", listed(lost))
	}
	return ""
}

func show(to io.Writer, s Stream) {
	if to != nil {
		_, _ = io.WriteString(to, s.Text) // a reader that is gone changes nothing
	}
}
