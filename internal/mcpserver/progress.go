package mcpserver

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"
)

const (
	progressEvery  = time.Second
	progressWidth  = 200 // characters of the last line that are shown
	progressMethod = "notifications/progress"
)

// progress reports to a client that its call goes on. Only a client that asked gets reports, and none comes
// after the reply.
type progress struct {
	*tails
	stop func()
}

// tails are those of the output of a command.
type tails struct{ stdout, stderr tail }

// followed reports a client that wants to hear about its call.
func (c *call) followed() bool {
	return c.request.Params.Meta != nil && c.request.Params.Meta.ProgressToken != nil
}

// follow starts telling the client about a call, if the client gave a token for it. The returned progress
// must be stopped before the reply is sent.
func (c *call) follow(ctx context.Context, output *tails) *progress {
	p := &progress{tails: output, stop: func() {}}
	if !c.followed() {
		return p
	}
	token := c.request.Params.Meta.ProgressToken
	done := make(chan struct{})
	var told sync.WaitGroup
	var sent time.Time // of the last notification
	told.Go(func() {
		started := time.Now()
		tick := time.NewTicker(c.server.o.Progress)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-ctx.Done():
				return
			case <-tick.C:
				c.notify(ctx, p.report(token, time.Since(started)))
				sent = time.Now()
			}
		}
	})
	p.stop = func() {
		close(done)
		told.Wait()
		c.settle(ctx, sent)
	}
	return p
}

// report tells how a call is doing.
func (p *progress) report(token any, elapsed time.Duration) mcp.JSONRPCNotification {
	out, outLine := p.stdout.seen()
	errs, errLine := p.stderr.seen()
	last := outLine
	if p.stderr.later(&p.stdout) {
		last = errLine
	}
	message := fmt.Sprintf("%.0f s, %d bytes of output", elapsed.Seconds(), out+errs)
	if last != "" {
		message += ": " + last
	}
	return mcp.JSONRPCNotification{
		JSONRPC: mcp.JSONRPC_VERSION,
		Notification: mcp.Notification{Method: progressMethod,
			Params: mcp.NotificationParams{AdditionalFields: map[string]any{
				"progressToken": token,
				"progress":      elapsed.Seconds(),
				"message":       message,
			}}},
	}
}

// settleTime is how long a notification may take through mcp-go's queue.
const settleTime = 50 * time.Millisecond

// settle gives the last notification time to leave before the reply does. On stdio it has left already.
func (c *call) settle(ctx context.Context, sent time.Time) {
	if _, ordered := server.ClientSessionFromContext(ctx).(*session); ordered || sent.IsZero() {
		return
	}
	time.Sleep(time.Until(sent.Add(settleTime)))
}

// notify sends a notification to the client of a call.
func (c *call) notify(ctx context.Context, n mcp.JSONRPCNotification) {
	switch client := server.ClientSessionFromContext(ctx).(type) {
	case nil:
	case *session:
		client.notify(n)
	default:
		// It only fills a queue, and one that is full loses nothing but a sign of life.
		if err := c.server.mcp.SendNotificationToClient(ctx, n.Method, n.Params.AdditionalFields); err != nil {
			c.server.o.Log.Debug("progress was not sent", "error", err)
		}
	}
}

// tail counts the bytes written to it and keeps the last line.
type tail struct {
	mu    sync.Mutex
	bytes int64
	line  []byte // the line that is being written
	last  []byte // the last whole one that was not empty
	at    time.Time
}

// tailBytes bounds the line that is kept: a command may write one that never ends.
const tailBytes = 4 * progressWidth

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += int64(len(p))
	t.at = time.Now()
	n := len(p)
	for {
		i := bytes.IndexByte(p, '\n')
		if i < 0 {
			t.keep(p)
			return n, nil
		}
		t.keep(p[:i])
		if len(bytes.TrimSpace(t.line)) > 0 {
			t.last = append(t.last[:0], t.line...)
		}
		t.line, p = t.line[:0], p[i+1:]
	}
}

// keep adds to the line that is being written, up to its bound.
func (t *tail) keep(p []byte) {
	t.line = append(t.line, p[:min(len(p), tailBytes-min(len(t.line), tailBytes))]...)
}

// seen returns how much was written, and the last line in a form that is safe to show.
func (t *tail) seen() (written int64, last string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	line := t.line
	if len(bytes.TrimSpace(line)) == 0 {
		line = t.last
	}
	return t.bytes, shortened(visible(string(bytes.TrimSpace(bytes.ToValidUTF8(line, []byte("\ufffd"))))),
		progressWidth)
}

// later reports whether t was written to after o.
func (t *tail) later(o *tail) bool {
	t.mu.Lock()
	at := t.at
	t.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	return at.After(o.at)
}
