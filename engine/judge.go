package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
)

// judged is a request with everything that was found out and decided about it.
type judged struct {
	request  Request
	env      Environment
	command  Command // the command to run; complete but for its id
	input    *facts.Input
	decision Decision
	fault    *Fault
	by       []Evaluator // its evaluators
	exempted []Exempted
	spent    []Spent
	entry    *entry   // its place in the session; nil where nothing remembers it
	excuse   []string // files that it may leave, by real path
	hook     string   // the host that runs it by itself; "" where the gate does
	refusals refusals // files that it could not make
	starts   starts   // programs that it started
	way      []string // to a program
	builder  *build.Builder
	untried  string // why no trial answered the question; "" where none was to
}

func (j *judged) outcome() Outcome {
	return Outcome{Decision: j.decision, Input: j.input, Fault: j.fault, Exempted: j.exempted, Spent: j.spent,
		WorkDir: j.command.WorkDir}
}

// judge reads a request and lets every evaluator judge it. The session remembers it if it may run. The
// error is about the request itself.
func (g *Gate) judge(ctx context.Context, r Request, mayRun bool) (*judged, error) {
	if r.Timeout < 0 {
		return nil, fmt.Errorf("%w: timeout %v: use a positive duration, or none for the default", ErrRequest,
			r.Timeout)
	}
	start := g.o.Now()
	if r.Subject == (facts.Subject{}) {
		r.Subject = g.o.Subject
	}
	if r.Operation != nil && (r.Command != "" || r.Stdin != nil || r.Terminal != nil) {
		return nil, fmt.Errorf("%w: a command and an operation on files in one: send one of them", ErrRequest)
	}
	if err := r.checkTrial(); err != nil {
		return nil, err
	}
	if err := r.checkTerminal(); err != nil {
		return nil, err
	}
	j := g.unjudged(r)
	// To open an environment is not to judge: one that is far away takes its time, once.
	opening := time.Now()
	env, builder, f := g.ready(ctx)
	j.builder = builder
	j.spent = []Spent{{By: "environment", Time: time.Since(opening)}}
	ctx, cancel := context.WithTimeout(ctx, g.o.Limits.Judge)
	defer cancel()
	begin := time.Now()
	if f != nil {
		j.fault = f
	} else if f, err := g.read(ctx, env, builder, j, start); err != nil {
		return nil, err
	} else if f != nil {
		j.fault = f
	} else {
		if mayRun {
			j.entry = g.past.enter(j.input)
		} else {
			g.past.look(j.input)
		}
		j.spent = append(j.spent, Spent{By: "facts", Time: time.Since(begin)})
		j.fault = g.decide(ctx, j)
	}
	if j.fault != nil {
		j.decision.Effect, j.decision.Fault = Deny, j.fault.ID
	}
	j.entry.decided(j.decision.Effect)
	j.decision.ElapsedUS = g.o.Now().Sub(start).Microseconds()
	return j, nil
}

// unjudged is a request with its evaluators, before they judge it: it is denied.
func (g *Gate) unjudged(r Request) *judged {
	by := g.evaluators()
	return &judged{request: r, by: by, decision: Decision{
		ID: g.o.NewID(), Effect: Deny, Mode: g.o.Mode, Reasons: []Reason{}, Policy: policyOf(by),
	}}
}

// ready returns the environment and the builder of facts about it.
func (g *Gate) ready(ctx context.Context) (env Environment, builder *build.Builder, f *Fault) {
	defer catch(&f, "environment")
	env, builder, err := g.open(ctx)
	if err != nil {
		return nil, nil, newFault("environment", err)
	}
	return env, builder, nil
}

// read turns the request into facts. The error is about the request itself.
func (g *Gate) read(ctx context.Context, env Environment, builder *build.Builder, j *judged,
	now time.Time) (f *Fault, err error) {
	defer catch(&f, "facts")
	until, limited := ctx.Deadline()
	if limited {
		builder = builder.Until(until)
	}
	dir := j.request.WorkDir
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(g.o.Layout.Workspace, dir)
	}
	cmd := Command{WorkDir: filepath.Clean(dir)}
	touches := j.request.Touches
	if op := j.request.Operation; op != nil {
		if touches, err = op.Plan(builder.Granted()); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRequest, err)
		}
		if len(touches) == 0 {
			return nil, fmt.Errorf("%w: it touches no file", ErrRequest)
		}
	} else if cmd, err = env.Prepare(j.request.Command, cmd.WorkDir); err != nil {
		return newFault("environment", err), nil
	} else {
		cmd.WorkDir = filepath.Clean(dir)
		j.request.Terminal.attach(&cmd)
	}
	cmd.ID, cmd.Timeout = j.decision.ID, g.o.Limits.timeoutOf(j.request)
	cmd.Grace, cmd.Output = g.o.Limits.Grace, g.o.Limits.Output
	j.env, j.command = env, cmd
	j.input = builder.Build(facts.Ask{
		Request: facts.Request{
			ID: j.decision.ID, Time: now.UTC(), Tool: j.request.Tool, Command: cmd.Text, WorkDir: cmd.WorkDir,
			TimeoutSeconds: cmd.Timeout.Seconds(), Background: j.request.Background, Stdin: j.request.Stdin != nil,
			Trial: j.request.changesOf != "",
		},
		Subject: j.request.Subject,
		Runner:  g.runnerOf(env),
		Env:     environ(cmd.Env),
		Touches: touches,
		Seen:    facts.Ways{Nodes: cmd.Seen},
	})
	// Some of the facts may be missing, which is not to say that they are false.
	if err := lost(env); err != nil {
		return newFault("environment", err), nil
	}
	if limited && !time.Now().Before(until) { // the file reader uses this deadline; ctx may fire later
		return newFault("facts", context.DeadlineExceeded), nil
	}
	if len(j.input.Paths) < len(touches) {
		return newFault("facts", fmt.Errorf("have facts for %d of %d paths", len(j.input.Paths), len(touches))), nil
	}
	return nil, nil
}

// decide combines the results of the evaluators: deny beats ask beats allow, and allow needs all of them.
func (g *Gate) decide(ctx context.Context, j *judged) (f *Fault) {
	defer catch(&f, "policy")
	effect := Allow
	for _, e := range j.by {
		begin := time.Now()
		v, err := e.Evaluate(ctx, j.input)
		if v.Spent == nil {
			v.Spent = []Spent{{By: e.Policy().Revision, Time: time.Since(begin)}}
		}
		j.spent = append(j.spent, v.Spent...)
		if err != nil {
			return newFault("policy", err)
		}
		j.decision.Reasons = append(j.decision.Reasons, v.Reasons...)
		j.exempted = append(j.exempted, g.exempted(j.input, v.Exempted)...)
		if effect, err = stricter(effect, v); err != nil {
			return newFault("policy", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return newFault("policy", err)
	}
	j.decision.Effect = effect
	return nil
}

// stricter returns the stricter of effect and v's, after checking that v does not contradict itself.
func stricter(effect Effect, v Judgement) (Effect, error) {
	worst := Allow
	for _, r := range v.Reasons {
		switch r.Effect {
		case Deny:
			worst = Deny
		case Ask:
			if worst == Allow {
				worst = Ask
			}
		case Warn:
		default:
			return Deny, fmt.Errorf("rule %s: unknown effect %q", r.Rule, r.Effect)
		}
	}
	if v.Effect != worst {
		return Deny, fmt.Errorf("effect %q contradicts its reasons, which say %q", v.Effect, worst)
	}
	if effect == Deny || worst == Deny {
		return Deny, nil
	}
	if effect == Ask || worst == Ask {
		return Ask, nil
	}
	return Allow, nil
}

// catch turns a panic into a fault: nothing that breaks may let a request through.
func catch(f **Fault, part string) {
	if p := recover(); p != nil {
		*f = newFault(part, fmt.Errorf("panic: %v\n%s", p, debug.Stack()))
	}
}

// evaluators are those that judge a request which comes now.
func (g *Gate) evaluators() []Evaluator {
	all := make([]Evaluator, len(g.o.Evaluators))
	for i, e := range g.o.Evaluators {
		all[i] = e
		if c, ok := e.(Changing); ok {
			if now := c.Current(); now != nil {
				all[i] = now
			}
		}
	}
	return all
}

// policyOf names the policies of evaluators. Its revision is theirs, joined.
func policyOf(all []Evaluator) PolicyInfo {
	info := PolicyInfo{Bundles: map[string]string{}}
	var revisions []string
	for _, e := range all {
		p := e.Policy()
		revisions = append(revisions, p.Revision)
		for name, rev := range p.Bundles {
			info.Bundles[name] = rev
		}
	}
	info.Revision = strings.Join(revisions, "+")
	return info
}

// environ turns NAME=value lines into a map.
func environ(env []string) map[string]string {
	m := make(map[string]string, len(env))
	for _, e := range env {
		if name, value, ok := strings.Cut(e, "="); ok {
			m[name] = value
		}
	}
	return m
}
