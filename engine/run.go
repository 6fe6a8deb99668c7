package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// errNoRecorder is why a gate that was made for checking only runs nothing.
var errNoRecorder = errors.New("no audit log: without a record nothing runs")

// recordDecision makes the decision durable. It does not end with ctx: a request that is cancelled now was
// judged all the same.
func (g *Gate) recordDecision(ctx context.Context, j *judged) error {
	body := DecisionBody{
		Trial: j.request.changesOf, Hook: j.hook, Decision: j.decision, Exempted: j.exempted, Input: j.input,
	}
	if j.fault != nil {
		body.Fault = &FaultBody{ID: j.fault.ID, Part: j.fault.Part, Error: j.fault.Err.Error()}
	}
	return g.recordBefore(ctx, KindDecision, j.decision.ID, body, j.decision.Effect != Deny ||
		j.decision.Mode == Monitor)
}

// recordBefore makes a record durable on which a command may run, signed if the command is not confined.
func (g *Gate) recordBefore(ctx context.Context, k Kind, decision string, body any, runs bool) error {
	r := g.newRecord(k, decision, body)
	r.Sign = runs && g.o.Runner.Describe().Isolation == "none"
	return g.recordBehindStart(ctx, r)
}

// recordBehindStart makes records durable, together with the start record if they are the first.
func (g *Gate) recordBehindStart(ctx context.Context, r ...Record) error {
	if g.o.Recorder == nil {
		return errNoRecorder
	}
	g.mu.Lock()
	if g.started {
		g.mu.Unlock()
		return g.o.Recorder.Record(context.WithoutCancel(ctx), r...)
	}
	defer g.mu.Unlock()
	body := g.o.Start
	body.Mode, body.Policy, body.Runner = g.o.Mode, policyOf(g.evaluators()), g.o.Runner.Describe()
	r = append([]Record{g.newRecord(KindStart, "", body)}, r...)
	if err := g.o.Recorder.Record(context.WithoutCancel(ctx), r...); err != nil {
		return err
	}
	g.started = true
	return nil
}

// RecordPolicy puts on record that other policies judge from now on, or that new ones could not be taken.
func (g *Gate) RecordPolicy(ctx context.Context, body PolicyBody) error {
	return g.recordBehindStart(ctx, g.newRecord(KindPolicy, "", body))
}

func (g *Gate) newRecord(k Kind, decision string, body any) Record {
	return Record{Kind: k, Time: g.o.Now().UTC(), Decision: decision, Body: body}
}

func (g *Gate) stopRecord() Record { return g.newRecord(KindStop, "", StopBody{PID: g.o.Start.PID}) }

// approve asks a person, if there is one, and records the answer. The error is about the record.
func (g *Gate) approve(ctx context.Context, j *judged) (Approval, error) {
	a, stands := Approval{}, false
	if j.request.changesOf == "" { // the same names may have other contents
		a, stands = g.stands.of(j, g.o.Now())
	}
	var err error
	if !stands {
		a, err = g.askPerson(ctx, j)
	}
	if err != nil {
		a = Approval{Comment: a.Comment}
	}
	body := ApprovalBody{Granted: a.Granted, By: a.By, Comment: a.Comment, Trial: j.untried, Until: a.Until}
	if err != nil {
		body.Error = err.Error()
	}
	if err := g.recordBefore(ctx, KindApproval, j.decision.ID, body, a.Granted); err != nil {
		return a, err
	}
	if j.request.changesOf == "" {
		g.stands.keep(j, a, g.o.Now())
	}
	return a, nil
}

func (g *Gate) askPerson(ctx context.Context, j *judged) (a Approval, err error) {
	if g.o.Approver == nil {
		return Approval{}, errors.New("nobody can be asked here")
	}
	defer func() {
		if p := recover(); p != nil {
			a, err = Approval{}, fmt.Errorf("panic in approver: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(ctx, g.o.Limits.Approve)
	defer cancel()
	a, err = g.o.Approver.Approve(ctx, ApprovalRequest{
		Decision: j.decision, Request: j.request, Command: j.command.Text, WorkDir: j.command.WorkDir,
		Paths: pathsOf(j.input), Way: j.way, Changes: appliedBy(j.request.Operation),
		Expires: g.o.Now().Add(g.o.Limits.Approve),
	})
	if err == nil {
		err = ctx.Err() // an answer that came too late is none
	}
	return a, err
}

func pathsOf(in *facts.Input) []facts.Path {
	if in == nil {
		return nil
	}
	return in.Paths
}

func (g *Gate) outcomeBody(out Outcome) OutcomeBody {
	e, d := out.Exit, g.o.Runner.Describe()
	b := OutcomeBody{
		Started: e.Started.UTC(), DurationUS: e.Duration.Microseconds(), ExitCode: e.Code, Signal: e.Signal,
		TimedOut: e.TimedOut, Killed: e.Killed, Survivors: e.Survivors, Runner: d.Name, Isolation: d.Isolation,
		UserUS: e.UserTime.Microseconds(), SystemUS: e.SystemTime.Microseconds(), MaxRSS: e.MaxRSS,
		OOMKills: e.OOMKills,
		Stdout:   StreamBody{Bytes: e.Stdout.Bytes, SHA256: e.Stdout.SHA256},
		Stderr:   StreamBody{Bytes: e.Stderr.Bytes, SHA256: e.Stderr.SHA256}, Held: out.Held,
		Changes: out.Changes, Programs: out.Programs, Trial: out.Trial != nil,
	}
	if e.Error != nil {
		b.Error = e.Error.Error()
	}
	return b
}

// in adds the facts of the place of the command, which may be gone by now.
func (b OutcomeBody) in(r facts.Runner) OutcomeBody {
	if r.Place.Seen {
		b.Isolation, b.Network, b.Place = r.Isolation, r.Network, &r.Place
	}
	return b
}

// faulted adds a fault to an outcome. A decision that had not been acted on becomes a denial.
func (g *Gate) faulted(out Outcome, part string, err error) Outcome {
	out.Fault = newFault(part, err)
	if part == "audit" && g.o.Faulted != nil {
		g.o.Faulted(out.Fault)
	}
	out.Decision.Fault = out.Fault.ID
	if !out.Ran {
		out.Decision.Effect = Deny
	}
	return out
}
