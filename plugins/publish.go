package plugins

import (
	"context"
	"errors"
	"io"
	"os"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit/publish"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/supervisor"
)

// lastCheckpoint bounds how long the end of sallyport waits for places that take the last checkpoint. One
// that is late gets it from the next process.
const lastCheckpoint = 2 * time.Second

func newPublisher(l *config.Loaded, warn func(error)) (*publish.Publisher, error) {
	if warn == nil {
		warn = func(error) {}
	}
	return publish.New(publish.Options{
		Dir: string(l.Audit.Dir), Targets: l.Audit.Checkpoint.Publish, Warn: warn, Run: runOnce,
	})
}

func (s *Sallyport) unpublish() {
	ctx, cancel := context.WithTimeout(context.Background(), lastCheckpoint)
	defer cancel()
	_ = s.published.Close(ctx) // a place that failed was warned of, and its note is in the state file
}

// runOnce runs a program of the operator's with a text on its standard input.
func runOnce(ctx context.Context, program string, in []byte) error {
	p, err := supervisor.OpenProgram([]string{program}, []string{"PATH=" + os.Getenv("PATH")}, "")
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = p.Close() })()
	defer func() { _ = p.Close() }()
	_, err = p.Write(in)
	err = errors.Join(err, p.CloseInput())
	_, _ = io.Copy(io.Discard, p) // it ends with the program
	return errors.Join(p.Wait(), err, ctx.Err())
}

// tellFault tells of a fault of the audit log, on which no record may say so.
func tellFault(l *config.Loaded, f *engine.Fault, told func(error)) {
	ctx, cancel := context.WithTimeout(context.Background(), lastCheckpoint)
	defer cancel()
	_ = publish.Alert(ctx, l.Audit.Checkpoint.Publish, f.Error()) // not every machine has a syslog
	if told != nil {
		told(f)
	}
}
