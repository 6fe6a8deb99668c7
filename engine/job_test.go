package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
)

func (w *world) start(t *testing.T, ctx context.Context, g *engine.Gate, r engine.Request) *engine.Job {
	t.Helper()
	job, err := g.Start(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	return job
}

func isDone(j *engine.Job) bool {
	select {
	case <-j.Done():
		return true
	default:
		return false
	}
}

func TestJobOutlivesItsRequest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner.block = true
	ctx, cancel := context.WithCancel(t.Context())
	job := w.start(t, ctx, w.gate(t), engine.Request{Command: "sleep", Background: true})
	cancel()
	if out := job.Outcome(); isDone(job) || !out.Ran || out.Decision.Effect != engine.Allow || job.PID() != 1 {
		t.Errorf("done %v, outcome %+v, pid %d: want it running", isDone(job), out, job.PID())
	}
	if got := w.runner.last.Timeout; got != time.Hour {
		t.Errorf("timeout %v: want the maximum, since it runs in the background", got)
	}
	if stdout, _ := job.Output(); stdout.Text != "out" {
		t.Errorf("output so far %+v", stdout)
	}
	job.Kill("enough")
	if out := job.Wait(); out.Exit.Killed != "enough" || job.Outcome().Exit.Killed != "enough" {
		t.Errorf("exit %+v: want it killed", out.Exit)
	}
	want := []string{"record start", "record decision", "start sleep", "record outcome"}
	if diff := cmp.Diff(want, w.log.lines()); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}

func TestRefusedJobIsOverAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy.answer = judgement(engine.Deny)
	job := w.start(t, t.Context(), w.gate(t), engine.Request{Command: "sleep"})
	job.Kill("nothing to kill")
	if out := job.Wait(); !isDone(job) || out.Ran || job.PID() != 0 {
		t.Errorf("outcome %+v, pid %d: want nothing", out, job.PID())
	}
	if stdout, stderr := job.Output(); stdout.Bytes+stderr.Bytes != 0 {
		t.Errorf("output %+v %+v: want none", stdout, stderr)
	}
}

func TestCloseEndsJobsBeforeItsLastRecord(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runner.block = true
	g := w.gate(t)
	jobs := []*engine.Job{
		w.start(t, t.Context(), g, engine.Request{Command: "a", Background: true}),
		w.start(t, t.Context(), g, engine.Request{Command: "b", Background: true}),
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	for _, j := range jobs {
		if !isDone(j) || j.Outcome().Exit.Killed == "" {
			t.Errorf("outcome %+v: want it killed", j.Outcome())
		}
	}
	want := []string{"record outcome", "record outcome", "record stop"}
	lines := w.log.lines()
	if diff := cmp.Diff(want, lines[len(lines)-3:]); diff != "" {
		t.Errorf("last events (-want +got):\n%s", diff)
	}
}

func TestCloseEndsTheWaitForAPerson(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.policy.answer = judgement(engine.Ask)
	asked := make(chan struct{})
	w.options.Approver = approver(func(ctx context.Context) (engine.Approval, error) {
		close(asked)
		<-ctx.Done()
		return engine.Approval{Granted: true}, nil
	})
	g := w.gate(t)
	answer := make(chan engine.Outcome)
	go func() {
		out, _ := g.Do(context.Background(), engine.Request{Command: "touch x"})
		answer <- out
	}()
	<-asked
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if out := <-answer; out.Ran || out.Approval == nil || out.Approval.Granted {
		t.Errorf("outcome %+v: want a refusal", out)
	}
	if lines := w.log.lines(); lines[len(lines)-1] != "record stop" || !slices.Contains(lines, "record approval") {
		t.Errorf("events %v: want the refusal on record before the stop", lines)
	}
}

func TestMonitorCannotRunWithoutAnEnvironment(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Mode = engine.Monitor
	w.options.Ledger = &fakeLedger{log: w.log}
	w.runner.openErr = errors.New("no such place")
	if out := w.do(t, engine.Request{Command: "true"}); out.Ran || out.Fault == nil || !strings.Contains(out.Fault.Error(), "no such place") {
		t.Errorf("outcome %+v: want a fault", out)
	}
}
