package engine_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// policyFunc is an evaluator of one function.
type policyFunc func(in *facts.Input) engine.Effect

func (policyFunc) Policy() engine.PolicyInfo { return engine.PolicyInfo{Revision: "r1"} }

func (f policyFunc) Evaluate(_ context.Context, in *facts.Input) (engine.Judgement, error) {
	return judgement(f(in)), nil
}

// clock is a clock that a test sets.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// sessions is a gate that keeps its inputs.
type sessions struct {
	*engine.Gate
	clock  *clock
	inputs []*facts.Input
}

// remembering makes a gate that judges by f.
func remembering(t *testing.T, w *world, f policyFunc) *sessions {
	t.Helper()
	s := &sessions{clock: &clock{now: time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)}}
	var mu sync.Mutex
	w.options.Now = s.clock.read
	w.options.Evaluators = []engine.Evaluator{policyFunc(func(in *facts.Input) engine.Effect {
		mu.Lock()
		s.inputs = append(s.inputs, in)
		mu.Unlock()
		return f(in)
	})}
	s.Gate = w.gate(t)
	t.Cleanup(func() { s.Close() })
	return s
}

func (s *sessions) do(t *testing.T, command string, subject facts.Subject) engine.Outcome {
	t.Helper()
	out, err := s.Do(t.Context(), engine.Request{Tool: "execute_command", Command: command, Subject: subject})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (s *sessions) last() facts.Session { return s.inputs[len(s.inputs)-1].Session }

// byName denies rm, asks about cp and allows the rest.
func byName(in *facts.Input) engine.Effect {
	switch in.Commands[0].Name {
	case "rm":
		return engine.Deny
	case "cp":
		return engine.Ask
	}
	return engine.Allow
}

func TestSessionTellsWhatWasAsked(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	granted := false
	w.options.Approver = approver(func(context.Context) (engine.Approval, error) {
		granted = !granted
		return engine.Approval{Granted: granted}, nil
	})
	s := remembering(t, w, byName)
	subject := facts.Subject{Agent: "a", Session: "s"}
	for _, command := range []string{"cat .env", "rm x", "cp a b", "cp a b", "curl https://example.com/x"} {
		s.do(t, command, subject)
		s.clock.pass(10 * time.Second)
	}
	s.do(t, "true", subject)
	got := s.last()
	type brief struct {
		Age                     float64
		Effect, State, Approval string
		Exit                    int
		Commands                []string
	}
	var events []brief
	for _, e := range got.Recent {
		events = append(events, brief{e.AgeSeconds, e.Effect, e.State, e.Approval, e.Exit, e.Commands})
	}
	if diff := cmp.Diff([]brief{
		{50, "allow", "ended", "", 7, []string{"cat"}},
		{40, "deny", "refused", "", -1, []string{"rm"}},
		{30, "ask", "ended", "granted", 7, []string{"cp"}},
		{20, "ask", "refused", "refused", -1, []string{"cp"}},
		{10, "allow", "ended", "", 7, []string{"curl"}},
	}, events); diff != "" {
		t.Errorf("recent requests (-want +got):\n%s", diff)
	}
	if want := (facts.Counts{Allow: 2, Deny: 1, Ask: 2}); got.Counts != want {
		t.Errorf("counts %+v, want %+v", got.Counts, want)
	}
	if got.First != "2026-01-05T09:00:00Z" || got.Last != "2026-01-05T09:00:40Z" {
		t.Errorf("first %s, last %s: want 9:00:00 and 9:00:40", got.First, got.Last)
	}
	if want := []string{"critical_name", "downloaded", "env_file"}; !slices.Equal(got.Labels, want) {
		t.Errorf("labels %q, want %q", got.Labels, want)
	}
	if want := []string{"example.com"}; !slices.Equal(got.Recent[4].Hosts, want) {
		t.Errorf("hosts %q, want %q", got.Recent[4].Hosts, want)
	}
}

// A denied read taints nothing; the same read, let through, does.
func TestDeniedReadLeavesNoLabel(t *testing.T) {
	t.Parallel()
	for _, effect := range []engine.Effect{engine.Deny, engine.Allow} {
		s := remembering(t, newWorld(t), func(*facts.Input) engine.Effect { return effect })
		s.do(t, "cat .env", facts.Subject{Agent: "a"})
		s.do(t, "true", facts.Subject{Agent: "a"})
		if got, want := slices.Contains(s.last().Labels, "env_file"), effect == engine.Allow; got != want {
			t.Errorf("%s: label %v, want %v", effect, got, want)
		}
	}
}

func TestSessionsKnowNothingOfEachOther(t *testing.T) {
	t.Parallel()
	s := remembering(t, newWorld(t), byName)
	s.do(t, "rm x", facts.Subject{Agent: "a", Session: "1"})
	for _, c := range []struct {
		subject facts.Subject
		denials int
	}{
		{facts.Subject{Agent: "a", Session: "2"}, 0},
		{facts.Subject{Agent: "b", Session: "1"}, 0},
		{facts.Subject{Agent: "a", Session: "1", Client: facts.Client{Name: "another name"}}, 1},
	} {
		s.do(t, "true", c.subject)
		if got := s.last().Counts.Deny; got != c.denials {
			t.Errorf("%+v: %d denials, want %d", c.subject, got, c.denials)
		}
	}
}

func TestCheckSeesTheSessionAndIsNoPartOfIt(t *testing.T) {
	t.Parallel()
	s := remembering(t, newWorld(t), byName)
	subject := facts.Subject{Agent: "a"}
	s.do(t, "rm x", subject)
	for range 2 {
		if _, err := s.Check(t.Context(), engine.Request{Command: "rm y", Subject: subject}); err != nil {
			t.Fatal(err)
		}
		if got := s.last(); got.Counts.Deny != 1 || len(got.Recent) != 1 {
			t.Errorf("session %+v: want one denial", got)
		}
	}
}

func TestSessionIsBounded(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := remembering(t, w, byName)
	for i := range 300 { // more sessions than a gate remembers
		s.do(t, "rm x", facts.Subject{Agent: "a", Session: fmt.Sprint(i)})
	}
	s.do(t, "true", facts.Subject{Agent: "a", Session: "299"})
	if got := s.last().Counts.Deny; got != 1 {
		t.Errorf("the newest session has %d denials, want 1", got)
	}
	s.do(t, "true", facts.Subject{Agent: "a", Session: "0"})
	if got := s.last().Counts.Deny; got != 0 {
		t.Errorf("the oldest session has %d denials, want none", got)
	}
	subject := facts.Subject{Agent: "b"}
	for range 20 {
		s.do(t, "rm x", subject)
		s.clock.pass(time.Second)
	}
	s.do(t, "true", subject)
	got := s.last()
	if len(got.Recent) != 16 || got.Counts.Deny != 20 || got.Recent[15].AgeSeconds != 1 {
		t.Errorf("%d requests, %+v, newest %v s ago", len(got.Recent), got.Counts, got.Recent[15].AgeSeconds)
	}
	if want := (facts.Dropped{Count: 4, AgeSeconds: 17}); got.Dropped != want {
		t.Errorf("dropped %+v, want %+v", got.Dropped, want)
	}
}

// Requests at once are in each other's session before any of them is decided: exactly as many pass as a limit
// allows. Without the session all would.
func TestRequestsAtOnceCannotPassOneLimit(t *testing.T) {
	t.Parallel()
	const requests, limit = 3, 1
	for _, limited := range []bool{true, false} {
		w := newWorld(t)
		w.runner.block = true // the first request runs while the others are judged
		var all, decided sync.WaitGroup
		all.Add(requests)
		decided.Add(requests)
		s := remembering(t, w, func(in *facts.Input) engine.Effect {
			all.Done()
			all.Wait() // all are being judged now
			before := 0
			for _, e := range in.Session.Recent {
				if slices.Contains(e.Commands, "deploy") && e.State != "refused" {
					before++
				}
			}
			if limited && before >= limit {
				return engine.Deny
			}
			return engine.Allow
		})
		var mu sync.Mutex
		passed := 0
		var jobs []*engine.Job
		for range requests {
			go func() {
				defer decided.Done()
				job, err := s.Start(t.Context(), engine.Request{Command: "deploy", Subject: facts.Subject{Agent: "a"}})
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				defer mu.Unlock()
				jobs = append(jobs, job)
				if job.Outcome().Ran {
					passed++
				}
			}()
		}
		decided.Wait()
		want := requests
		if limited {
			want = limit
		}
		if passed != want {
			t.Errorf("limited %v: %d of %d passed, want %d", limited, passed, requests, want)
		}
		for _, job := range jobs {
			job.Kill("over")
			job.Wait()
		}
	}
}

// A request that is being decided stays in the session, however many come behind it.
func TestRequestInFlightIsNotPushedOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	w.options.Approver = approver(func(context.Context) (engine.Approval, error) {
		close(asked)
		<-answer
		return engine.Approval{}, errors.New("nobody answers")
	})
	s := remembering(t, w, byName)
	subject := facts.Subject{Agent: "a"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = s.Do(context.Background(), engine.Request{Command: "cp .env b", Subject: subject})
	}()
	<-asked
	for range 20 {
		s.do(t, "true", subject)
	}
	got := s.last()
	if e := got.Recent[0]; e.Effect != "ask" || e.State != "deciding" || len(got.Recent) != 16 {
		t.Errorf("the first of %d is %+v: want the request that is in flight", len(got.Recent), e)
	}
	if !slices.Contains(got.Labels, "env_file") {
		t.Errorf("labels %q have nothing of a read in flight", got.Labels)
	}
	close(answer)
	<-done
	s.do(t, "true", subject)
	if got := s.last(); slices.Contains(got.Labels, "env_file") {
		t.Errorf("labels %q: the read was refused", got.Labels)
	}
}

func TestRecall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	if err := w.gate(t).Recall(t.Context(), engine.Earlier{}); err == nil {
		t.Error("a gate that records recalled a request")
	}
	w.options.Recorder = nil
	s := remembering(t, w, byName)
	for _, e := range []engine.Earlier{
		{Effect: engine.Deny, State: "refused", Ago: time.Minute},
		{Effect: engine.Ask, State: "ended", Approval: "granted", Exit: 3, Ago: time.Second},
		{State: "deciding"},
		{Effect: engine.Allow, State: "running"},
	} {
		e.Request = engine.Request{Command: "cat .env"}
		if err := s.Recall(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Recall(t.Context(), engine.Earlier{State: "over"}); err == nil {
		t.Error("an unknown state was recalled")
	}
	if _, err := s.Check(t.Context(), engine.Request{Command: "true"}); err != nil {
		t.Fatal(err)
	}
	got := s.last()
	if want := (facts.Counts{Allow: 1, Deny: 1, Ask: 1, Pending: 2, Running: 1}); got.Counts != want {
		t.Errorf("counts %+v, want %+v", got.Counts, want)
	}
	e := got.Recent[1]
	if e.Exit != 3 || e.Approval != "granted" || e.AgeSeconds != 1 || got.Recent[0].AgeSeconds != 60 {
		t.Errorf("recalled %+v", got.Recent)
	}
}

// A session remembers the programs that a person approved, each once, sorted and up to a bound.
func TestSessionRemembersApprovedPrograms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	granted := false
	w.options.Approver = approver(func(context.Context) (engine.Approval, error) {
		return engine.Approval{Granted: granted}, nil
	})
	s := remembering(t, w, func(*facts.Input) engine.Effect { return engine.Ask })
	subject := facts.Subject{Agent: "a", Session: "s"}
	s.do(t, "refused-program", subject)
	granted = true
	for _, command := range []string{
		"zz-program | ls", "./x y", "zz-program", "python3 made-later.py", "$(cat name) x", `bash -c "aa-program"`,
	} {
		s.do(t, command, subject)
	}
	s.do(t, "true", subject)
	dir := s.last().Approved[0].Dir
	want := []facts.Approved{
		{Program: "./x", Dir: dir},
		{Program: "aa-program"},
		{Program: "python3", Unread: true},
		{Program: "zz-program"},
	}
	if diff := cmp.Diff(want, s.last().Approved); diff != "" || dir == "" {
		t.Errorf("approved programs (-want +got):\n%s", diff)
	}
	for i := range 70 {
		s.do(t, fmt.Sprintf("aa-program-%d", i), subject)
	}
	if got := len(s.last().Approved); got != 64 {
		t.Errorf("%d approved programs, want 64", got)
	}
	s.do(t, "true", facts.Subject{Agent: "a", Session: "other"})
	if got := s.last().Approved; len(got) != 0 {
		t.Errorf("another session has %v", got)
	}
}
