package approvals_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/approvals"
	"github.com/sallyport-dev/sallyport/internal/await"
)

// person is an approver of the tests.
type person func(ctx context.Context) (engine.Approval, error)

func (p person) Approve(ctx context.Context, _ engine.ApprovalRequest) (engine.Approval, error) {
	return p(ctx)
}

var nobody = person(func(context.Context) (engine.Approval, error) {
	return engine.Approval{}, fmt.Errorf("%w: no client", engine.ErrNobody)
})

var silent = person(func(ctx context.Context) (engine.Approval, error) {
	<-ctx.Done()
	return engine.Approval{}, ctx.Err()
})

func request(id string) engine.ApprovalRequest {
	return engine.ApprovalRequest{
		Decision: engine.Decision{ID: id, Reasons: []engine.Reason{{Rule: "a/b", Message: "why"}}},
		Request:  engine.Request{Tool: "execute_command", Subject: facts.Subject{Agent: "claude"}},
		Command:  "npm install", WorkDir: "/w", Expires: time.Now().Add(await.Guard),
	}
}

type result struct {
	engine.Approval
	err error
}

// ask asks in the background, and returns when the question waits.
func ask(t *testing.T, q approvals.Queue, a engine.Approver, id string) <-chan result {
	t.Helper()
	done := make(chan result, 1)
	go func() {
		got, err := a.Approve(t.Context(), request(id))
		done <- result{got, err}
	}()
	await.True(t, "the question waits", func() bool {
		all, err := q.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all {
			if one.ID == id {
				return one.Command == "npm install" && one.Agent == "claude" && one.Reasons[0].Rule == "a/b"
			}
		}
		return false
	})
	return done
}

func TestAnswers(t *testing.T) {
	t.Parallel()
	q := approvals.Queue{Dir: filepath.Join(t.TempDir(), strings.Repeat("long", 30)), User: "ann"}
	for i, c := range []struct {
		first  engine.Approver
		answer approvals.Answer
	}{
		{nobody, approvals.Answer{Granted: true, Comment: "ok"}},
		{nil, approvals.Answer{Granted: true, Until: time.Now().Add(time.Hour)}},
		{silent, approvals.Answer{Comment: "no"}},
	} {
		id := fmt.Sprintf("id-%d-x", i)
		done := ask(t, q, q.Beside(c.first, true), id)
		if _, err := q.Reply(t.Context(), "id-none", c.answer); err == nil {
			t.Error("an answer to no question counts")
		}
		if _, err := q.Reply(t.Context(), id[:4], c.answer); err != nil {
			t.Error(err)
		}
		got := <-done
		if got.err != nil || got.Granted != c.answer.Granted || got.By != "approvals:ann" ||
			got.Comment != c.answer.Comment ||
			got.Until.Unix() != c.answer.Until.Unix() {
			t.Errorf("%d: %+v", i, got)
		}
		if _, err := q.Reply(t.Context(), id, c.answer); err == nil {
			t.Errorf("%d: a second answer counts", i)
		}
	}
}

// TestFirstAnswerCounts: the answer of the host ends the question elsewhere.
func TestFirstAnswerCounts(t *testing.T) {
	t.Parallel()
	q := approvals.Queue{Dir: filepath.Join(t.TempDir(), "q"), User: "ann"}
	answered := make(chan struct{})
	first := person(func(context.Context) (engine.Approval, error) {
		<-answered
		return engine.Approval{Granted: true, By: "host"}, nil
	})
	done := ask(t, q, q.Beside(first, false), "one")
	close(answered)
	if got := <-done; got.err != nil || got.By != "host" || !got.Granted {
		t.Errorf("%+v", got)
	}
	if all, err := q.List(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%v, %v", all, err)
	}
}

// TestAnswersAtOnce: the answer that another process gave counts, as that process was told, although the host
// answers before the wait has ended.
func TestAnswersAtOnce(t *testing.T) {
	t.Parallel()
	q := approvals.Queue{Dir: filepath.Join(t.TempDir(), "q"), User: "ann"}
	for i := range 50 {
		first := person(func(ctx context.Context) (engine.Approval, error) {
			await.True(t, "the question waits", func() bool {
				all, err := q.List(ctx)
				return err == nil && len(all) == 1
			})
			_, err := q.Reply(ctx, "one", approvals.Answer{Comment: "no"})
			return engine.Approval{Granted: true, By: "host"}, err
		})
		got, err := q.Beside(first, false).Approve(t.Context(), request("one"))
		if err != nil || got.Granted || got.By != "approvals:ann" {
			t.Fatalf("%d: %+v, %v", i, got, err)
		}
	}
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	q := approvals.Queue{Dir: filepath.Join(t.TempDir(), "q")}
	for name, a := range map[string]engine.Approver{
		"no one here": q.Beside(nil, false), "a client that cannot ask": q.Beside(nobody, false),
	} {
		if got, err := a.Approve(t.Context(), request("x")); err == nil || got.Granted ||
			!strings.Contains(err.Error(), "nobody can be asked") {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan result, 1)
	go func() {
		got, err := q.Beside(nobody, true).Approve(ctx, request("y"))
		done <- result{got, err}
	}()
	await.True(t, "the question waits", func() bool {
		all, err := q.List(t.Context())
		return err == nil && len(all) == 1
	})
	cancel()
	if got := <-done; !errors.Is(got.err, context.Canceled) || got.Granted {
		t.Errorf("%+v", got)
	}
	if got, err := (approvals.Queue{}).Beside(nobody, true).Approve(t.Context(), request("z")); err == nil ||
		got.Granted {
		t.Errorf("without a directory: %+v, %v", got, err)
	}
}
