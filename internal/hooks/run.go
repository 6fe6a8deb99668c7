package hooks

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/internal/show"
)

// Longest is the time limit of a hook before its configuration is read, and the largest that this may set. It
// is below the limits of all hosts.
const Longest = 20 * time.Second

// Gate is the part of a gate that a hook needs: see engine.Gate.
type Gate interface {
	Check(ctx context.Context, r engine.Request) (engine.Outcome, error)
	Decide(ctx context.Context, host string, r engine.Request) (engine.Outcome, error)
	Report(ctx context.Context, r engine.Reported) error
}

// Opened is a gate for one event.
type Opened struct {
	Gate    Gate
	Close   func() error
	Subject facts.Subject
	Dir     string // where allowed calls are kept until the host reports their end
	Approve bool   // an allowed call needs no approval of the host's own
	Now     time.Time
	// Rewrite returns the command line by which sallyport exec runs a command; nil where the host runs it by
	// itself.
	Rewrite func(Rewriting) string
}

// Options are those of one hook.
type Options struct {
	Host *Host
	In   io.Reader
	Out  io.Writer // gets one JSON object, or nothing
	Err  io.Writer
	Home string // the home directory; "" for none
	Dir  string // the workspace; events without a directory take place there
	// Attended says that the user of a host with this condition can answer.
	Attended bool
	// Open makes the gate for an event that is judged. It calls limit with the time limit of the whole hook as
	// soon as it knows it.
	Open  func(ctx context.Context, e Event, limit func(time.Duration)) (Opened, error)
	Limit time.Duration // until then; 0 for Longest
}

// Run answers one event and returns the exit code. Every failure refuses the call.
func Run(ctx context.Context, o Options) int {
	if o.Limit == 0 {
		o.Limit = Longest
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	begin := time.Now()
	var limit atomic.Int64
	limit.Store(int64(o.Limit))
	over := time.NewTimer(o.Limit)
	defer over.Stop()
	done := make(chan reply, 1)
	go func() {
		defer func() {
			if p := recover(); p != nil {
				done <- o.Host.broken(Event{}, fmt.Errorf("panic: %v", p))
			}
		}()
		done <- o.event(ctx, func(d time.Duration) {
			limit.Store(int64(d))
			over.Reset(d - time.Since(begin))
		})
	}()
	var r reply
	select {
	case r = <-done:
	case <-over.C:
		r = o.Host.broken(Event{}, fmt.Errorf("the time limit of %s has passed (hooks.timeout)",
			time.Duration(limit.Load())))
	}
	return o.write(r)
}

func (o Options) write(r reply) int {
	if r.exit == 0 {
		_, err := o.Out.Write(r.json)
		if err == nil {
			return 0
		}
		r = broken(fmt.Errorf("write answer: %w", err))
	}
	fmt.Fprintf(o.Err, "%s\n", r.text)
	return r.exit
}

// Break refuses a call whose event nobody has read, and returns the exit code.
func (h *Host) Break(out, errs io.Writer, err error) int {
	return Options{Host: h, Out: out, Err: errs}.write(h.broken(Event{}, err))
}

// event answers one event. limit sets the time limit of the hook.
func (o Options) event(ctx context.Context, limit func(time.Duration)) reply {
	h := o.Host
	e, err := h.Read(o.In)
	if err != nil {
		return h.broken(e, err)
	}
	if e.home, e.attended = o.Home, o.Attended; e.Dir == "" {
		e.Dir = o.Dir
	}
	request, judged, err := h.Request(e)
	switch {
	case err != nil && !e.After:
		return h.broken(e, err)
	case err != nil, !judged && e.After:
		return h.answer("after", e, "", nil)
	case !judged:
		return h.answer("allow", e, "", nil)
	}
	opened, err := o.Open(ctx, e, limit)
	if err != nil {
		return h.broken(e, err)
	}
	var r reply
	if e.After {
		r = o.after(ctx, opened, e)
	} else {
		r = o.before(ctx, opened, e, request)
	}
	if err := opened.Close(); err != nil && r.exit == 0 {
		return h.broken(e, err)
	}
	return r
}

// before judges a call.
func (o Options) before(ctx context.Context, opened Opened, e Event, r engine.Request) reply {
	r.Subject = opened.Subject
	rewrites := opened.Rewrite != nil && o.Host.Rewrites(e)
	if rewrites {
		if answer, done := o.rewritten(ctx, opened, e, r); done {
			return answer
		}
	}
	out, err := opened.Gate.Decide(ctx, o.Host.Name, r)
	if err != nil {
		return o.Host.broken(e, err)
	}
	if rewrites && out.Fault == nil && out.Decision.Effect == engine.Ask && o.Host.asks(e) {
		return o.asked(opened, e, r, out)
	}
	answer, allowed := o.Host.decided(e, out, opened.Approve)
	if !allowed {
		return answer
	}
	k := kept{
		Version: keptVersion, Decision: out.Decision.ID, Effect: out.Decision.Effect, Input: out.Input,
		Background: r.Background,
	}
	if err := keep(opened.Dir, o.Host.keyOf(e), k, opened.Now); err != nil {
		return o.Host.broken(e, err)
	}
	return answer
}

// after records the end of a call that was judged.
func (o Options) after(ctx context.Context, opened Opened, e Event) reply {
	h := o.Host
	if opened.Rewrite != nil && h.Rewrites(e) { // sallyport exec has recorded it
		return h.answer("after", e, "", nil)
	}
	k, err := take(opened.Dir, h.keyOf(e))
	if err != nil {
		text := fmt.Sprintf("sallyport has no decision about this call of %s: the host ran it without its "+
			"hook, or it began before the hook was there: %s", show.Printable(e.Tool), err)
		return reply{exit: Refused, text: text}
	}
	if k.Background { // it has only begun
		return h.answer("after", e, "", nil)
	}
	err = opened.Gate.Report(ctx, engine.Reported{
		Decision: k.Decision, Effect: k.Effect, Input: k.Input, Host: h.Name, Exit: h.exitOf(e, opened.Now),
	})
	if err != nil {
		text := fmt.Sprintf("sallyport could not record the end of this call: %s", err)
		return reply{exit: Refused, text: text}
	}
	return h.answer("after", e, "", nil)
}

// Workspace is the directory in which a host works: that of its project or else that of its hook's process.
// The directory of an event is none: some hosts let the agent choose it.
func (h *Host) Workspace(env func(string) string, dir string) (string, error) {
	if project := env(h.Project); h.Project != "" && project != "" {
		dir = project
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("the directory of the project, %q, is not an absolute path", dir)
	}
	return filepath.Clean(dir), nil
}
