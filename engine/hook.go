package engine

import (
	"context"
	"errors"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Decide judges a request that a host runs by itself, as its hook reports it, and makes the decision durable.
// Nothing starts here and nobody is asked: an Outcome with the effect Ask is a question for the host's own
// user. A record that cannot be made is a fault and denies. The error is as that of Do.
func (g *Gate) Decide(ctx context.Context, host string, r Request) (Outcome, error) {
	defer g.jobs.enter()()
	j, err := g.judge(ctx, r, true)
	if err != nil {
		return Outcome{}, err
	}
	j.hook = host
	out := j.outcome()
	if err := g.recordDecision(ctx, j); err != nil {
		out = g.faulted(out, "audit", err)
	}
	if out.Decision.Effect == Deny && out.Decision.Mode == Enforce || out.Fault != nil {
		j.entry.refused()
	} else {
		j.entry.runs()
	}
	return out, nil
}

// Reported is the end of a request that a host ran by itself, as the host tells it.
type Reported struct {
	Decision string       // the id that Decide gave it
	Effect   Effect       // of that decision
	Input    *facts.Input // the facts that were judged; nil: the session notes nothing
	Host     string
	Exit     Exit
}

// Report notes the effects of a request that a host ran, and records its end. That a host ran a request with
// the effect Ask says that its user approved, and is recorded as an approval.
func (g *Gate) Report(ctx context.Context, r Reported) error {
	defer g.jobs.enter()()
	g.past.reported(r.Decision, r.Exit.Code)
	var errs []error
	if env, _, f := g.ready(ctx); f != nil {
		errs = append(errs, f)
	} else if g.o.Ledger != nil && r.Input != nil {
		// The facts were made before the run: they tell the files that were there.
		errs = append(errs, g.o.Ledger.Begin(r.Input, nil)(env.FS(), r.Exit.Code))
		g.past.moved()
	}
	var records []Record
	if r.Effect == Ask {
		records = append(records, g.newRecord(KindApproval, r.Decision,
			ApprovalBody{Granted: true, By: "host:" + r.Host, Comment: "the host ran it"}))
	}
	records = append(records, g.newRecord(KindOutcome, r.Decision, g.outcomeBody(Outcome{Exit: r.Exit})))
	return errors.Join(append(errs, g.recordBehindStart(ctx, records...))...)
}
