package wire_test

import (
	"context"
	"fmt"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/internal/await"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// early is an environment whose commands ask about names at once, before their start is reported.
type early struct {
	engine.Environment
	answers chan bool
}

const manyQuestions = 20

func (e early) Start(ctx context.Context, c engine.Command) (engine.Process, error) {
	for i := range manyQuestions {
		go func() { e.answers <- c.MayMake(fmt.Sprint("/ws/", i)) }()
	}
	for range 1000 {
		runtime.Gosched() // let them ask
	}
	return e.Environment.Start(ctx, c)
}

// TestEarlyQuestions: questions that come before the start is reported, and many at once, are answered.
func TestEarlyQuestions(t *testing.T) {
	t.Parallel()
	near, far := net.Pipe()
	served, answers := make(chan error, 1), make(chan bool, manyQuestions)
	go func() {
		open := func(s wire.Settings) (engine.Environment, wire.Place, error) {
			env, place, err := here(s)
			return early{env, answers}, place, err
		}
		served <- wire.Serve(context.Background(), far, open)
	}()
	env, err := wire.Connect(context.Background(), near, wire.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := env.Start(t.Context(), engine.Command{
		ID: "D", Text: "sleep 600", WorkDir: "/", Timeout: time.Hour, Output: 10,
		MayMake: func(path string) bool { return path != "/ws/0" },
	})
	if err != nil {
		t.Fatal(err)
	}
	refused := 0
	for range manyQuestions {
		if !await.Receive(t, "an answer", answers) {
			refused++
		}
	}
	if refused != 1 {
		t.Errorf("%d of %d names are refused, want 1", refused, manyQuestions)
	}
	p.Kill("enough")
	if x := p.Wait(); x.Error != nil || x.Killed == "" {
		t.Errorf("exit %+v", x)
	}
	if err := env.Close(); err != nil {
		t.Error(err)
	}
	if err := await.Receive(t, "the end of the server", served); err != nil {
		t.Error(err)
	}
}
