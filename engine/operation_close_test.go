package engine_test

import (
	"context"
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/await"
)

func TestCloseEndsOperations(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := w.gate(t)
	running := make(chan struct{})
	job := w.start(t, t.Context(), g, engine.Request{Tool: "list_files", Timeout: 2 * await.Guard, Operation: work{
		touches: []facts.Touch{{Path: "a", Access: "read"}},
		run: func(ctx context.Context, _ engine.Files, _ []facts.Path) error {
			close(running)
			<-ctx.Done()
			return ctx.Err()
		},
	}})
	await.Receive(t, "running operation", running)
	closed := make(chan error, 1)
	go func() { closed <- g.Close() }()
	if err := await.Receive(t, "end of Close", closed); err != nil {
		t.Fatal(err)
	}
	if out := job.Outcome(); !isDone(job) || out.Exit.Killed == "" {
		t.Errorf("outcome %+v: want the operation killed", out)
	}
}
