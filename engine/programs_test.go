package engine_test

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// seeing is a runner with an environment that asks about programs.
type seeing struct{ *fakeRunner }

func (r seeing) Open(context.Context, engine.EnvironmentSpec) (engine.Environment, error) {
	return r, nil
}
func (seeing) SeesPrograms() bool { return true }

// byTool answers requests about programs apart from others, and keeps their inputs.
type byTool struct {
	*fakePolicy
	program engine.Judgement
	broken  error

	mu   sync.Mutex
	seen []*facts.Input
}

func (p *byTool) Evaluate(ctx context.Context, in *facts.Input) (engine.Judgement, error) {
	if in.Request.Tool != engine.ToolProgram {
		return p.fakePolicy.Evaluate(ctx, in)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, in)
	return p.program, p.broken
}

// A program is judged as a request of its own before it starts, and the outcome names the refused ones.
func TestMayStart(t *testing.T) {
	t.Parallel()
	type call struct{} // by which a server finds the client to ask
	yes := approver(func(ctx context.Context) (engine.Approval, error) {
		return engine.Approval{Granted: ctx.Value(call{}) != nil, By: "x"}, nil
	})
	for _, tc := range []struct {
		name     string
		program  engine.Judgement
		broken   error
		starts   engine.Starts
		approver engine.Approver
		mode     engine.Mode
		want     bool
		events   string // between the start of the command and its end, apart by ", "
	}{
		{name: "allowed", program: judgement(engine.Allow), want: true},
		{name: "denied", program: judgement(engine.Deny), events: "record decision"},
		{name: "asked, and nobody waits", program: judgement(engine.Ask), approver: yes, events: "record decision"},
		{
			name: "approved", program: judgement(engine.Ask), approver: yes, starts: engine.Starts{Wait: true},
			want:   true,
			events: "record decision, record approval",
		},
		{
			name: "asked, and nobody is there", program: judgement(engine.Ask), starts: engine.Starts{Wait: true},
			events: "record decision, record approval",
		},
		{name: "not judged", broken: errors.New("broken"), events: "record decision"},
		{name: "monitored", program: judgement(engine.Deny), mode: engine.Monitor, want: true,
			events: "record decision"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := &byTool{fakePolicy: w.policy, program: tc.program, broken: tc.broken}
			w.options.Evaluators, w.options.Runner = []engine.Evaluator{p}, seeing{w.runner}
			w.options.Programs, w.options.Approver, w.options.Mode = tc.starts, tc.approver, tc.mode
			w.options.Programs.Judged = true
			program := engine.Program{
				Path: "/usr/bin/rm", File: "/usr/bin/rm", Dir: "/", Argv: []string{"rm", "-rf", "a b", "it's"},
				Set: []string{"X=1"}, Way: func() []string { return []string{"make all", "sh -c x"} },
			}
			w.runner.started = func() {
				for range 2 { // along PATH
					if got := w.runner.last.MayStart(program).May; got != tc.want {
						t.Errorf("may start: %v", got)
					}
				}
			}
			ctx := context.WithValue(t.Context(), call{}, "x")
			out, err := w.gate(t).Do(ctx, engine.Request{Tool: "execute_command", Command: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if got := p.seen[0]; got.Request.Command != `/usr/bin/rm -rf 'a b' 'it'\''s'` ||
				got.Request.WorkDir != "/" ||
				got.Request.Parent != out.Decision.ID || got.Runner.Programs != facts.Judged ||
				!slices.Contains(got.Request.Env, "X") || !slices.Contains(got.Request.Env, "PATH") {
				t.Errorf("input %+v of %+v", got.Request, got.Runner)
			}
			programs := out.Programs
			switch {
			case tc.want:
				if programs.Started != 2 || len(programs.List) != 1 || programs.List[0].Times != 2 || !programs.Whole {
					t.Errorf("programs %+v", programs)
				}
			case len(programs.Refused) != 1 || programs.Started != 0 || len(p.seen) != 1:
				t.Errorf("programs %+v, judged %d times", programs, len(p.seen))
			default:
				line := programs.Refused[0].String()
				if !strings.HasPrefix(line, "refused to start: rm -rf 'a b' 'it'\\''s' (by make all -> sh -c x): ") {
					t.Errorf("says %q", line)
				}
			}
			if (out.Fault != nil) != (tc.broken != nil) {
				t.Errorf("fault %v", out.Fault)
			}
			lines := w.log.lines()
			from, to := slices.Index(lines, "start x")+1, len(lines)-1
			got := lines[from:to]
			if tc.mode == engine.Monitor || tc.approver != nil && tc.want {
				got = got[:len(got)/2] // twice the same: only refusals are remembered
			}
			if got := strings.Join(got, ", "); got != tc.events {
				t.Errorf("events %q, want %q", got, tc.events)
			}
		})
	}
}

// A question about a program that nobody answers in time refuses its start. The command goes on, and the next
// program starts.
func TestAskedInVain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		p := &byTool{fakePolicy: w.policy, program: judgement(engine.Ask)}
		w.options.Evaluators, w.options.Runner = []engine.Evaluator{p}, seeing{w.runner}
		w.options.Programs = engine.Starts{Judged: true, Wait: true}
		w.options.Limits.Approve = time.Minute
		w.options.Approver = approver(func(ctx context.Context) (engine.Approval, error) {
			<-ctx.Done()
			if !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				t.Error(ctx.Err())
			}
			return engine.Approval{Granted: true}, nil // too late
		})
		start := func(name string) engine.Verdict {
			file := "/usr/bin/" + name
			return w.runner.last.MayStart(engine.Program{Path: file, File: file, Dir: "/", Argv: []string{name}})
		}
		w.runner.started = func() {
			if start("rm").May {
				t.Error("the program may start")
			}
			p.program = judgement(engine.Allow)
			if !start("touch").May {
				t.Error("the next program may not start")
			}
		}
		out, err := w.gate(t).Do(t.Context(), engine.Request{Tool: "execute_command", Command: "x"})
		if err != nil || out.Programs.Started != 1 || len(out.Programs.Refused) != 1 ||
			out.Programs.Refused[0].Effect != engine.Ask {
			t.Errorf("%v, programs %+v", err, out.Programs)
		}
	})
}

// The environment hears of each answer that a person, or the end of the command, is waited for, before the
// wait: the calls of other processes come to it meanwhile.
func TestWaitsForAnswers(t *testing.T) {
	t.Parallel()
	for name, starts := range map[string]engine.Starts{
		"a person": {Judged: true, Wait: true}, "the end": {Judged: true, End: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.options.Evaluators = []engine.Evaluator{&byTool{fakePolicy: w.policy, program: judgement(engine.Ask)}}
			w.options.Runner, w.options.Programs = seeing{w.runner}, starts
			var told atomic.Int64
			asked := int64(0)
			w.options.Approver = approver(func(context.Context) (engine.Approval, error) {
				asked = told.Load()
				return engine.Approval{Granted: true, By: "x"}, nil
			})
			program := engine.Program{Path: "/a", File: "/a", Dir: "/", Argv: []string{"a"},
				Waits: func() { told.Add(1) }}
			ended := make(chan engine.Verdict, 1)
			w.runner.block = starts.End
			w.runner.started = func() {
				if starts.End {
					go func() { ended <- w.runner.last.MayStart(program) }()
				} else {
					ended <- w.runner.last.MayStart(program)
				}
			}
			w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
			<-ended
			if starts.Wait && asked != 1 || told.Load() != 1 {
				t.Errorf("told %d times, and %d times before the question", told.Load(), asked)
			}
		})
	}
}

// Programs are unseen unless the configuration wants them judged and the environment can ask. Policies see
// where it cannot.
func TestUnseenPrograms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		starts engine.Starts
		sees   bool
		want   string
	}{
		{"not wanted", engine.Starts{}, true, facts.Unseen},
		{"not possible", engine.Starts{Judged: true}, false, facts.Unseen},
		{"required", engine.Starts{Judged: true, Required: true}, false, facts.Absent},
		{"judged", engine.Starts{Judged: true, Required: true}, true, facts.Judged},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			if tc.sees {
				w.options.Runner = seeing{w.runner}
			}
			w.options.Programs = tc.starts
			out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
			if got := out.Input.Runner.Programs; got != tc.want {
				t.Errorf("programs are %q, want %q", got, tc.want)
			}
			if judged := w.runner.last.MayStart != nil; judged != (tc.want == facts.Judged) ||
				judged != (out.Programs != nil) {
				t.Errorf("asks %v: %+v", judged, out.Programs)
			}
		})
	}
}

// A program is judged by each name that it can go by.
func TestReadings(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	dir := w.options.Layout.Workspace
	for _, tc := range []struct {
		name string
		p    engine.Program
		want []string
	}{
		{"a plain one", engine.Program{Path: "/bin/rm", File: "/usr/bin/rm", Argv: []string{"rm", "x"}},
			[]string{"/bin/rm x"}},
		{"a link of the system", engine.Program{Path: "/usr/bin/reboot", File: "/bin/systemctl",
			Argv: []string{"reboot"}}, []string{"/usr/bin/reboot"}},
		{"a link of a command", engine.Program{Path: dir + "/ls", File: "/usr/bin/rm", Argv: []string{"ls", "x"}},
			[]string{dir + "/ls x", "/usr/bin/rm x"}},
		{"another first word", engine.Program{Path: "/bin/busybox", File: "/bin/busybox",
			Argv: []string{"rm", "x"}}, []string{"/bin/busybox x", "/bin/rm x"}},
		{"a shell of a login", engine.Program{Path: "/bin/sh", File: "/bin/dash", Argv: []string{"-sh"}},
			[]string{"/bin/sh"}},
		{
			"a script", engine.Program{Path: "/x", File: "/x", Argv: []string{"y", "z"},
				By: []string{"/usr/bin/env", "perl -w"}},
			[]string{"/x z", "/usr/bin/env 'perl -w' /x z"},
		},
		{
			"a variable that loads a file",
			engine.Program{Path: "/x", File: "/x", Argv: []string{"x"},
				Set: []string{"BASH_ENV=/a b", "LD_PRELOAD=/z.so", "PATH=/y"}},
			[]string{"BASH_ENV='/a b' /x"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.options.Layout.Workspace = dir
			w.options.Layout.Roots[0].Path = dir
			p := &byTool{fakePolicy: w.policy, program: judgement(engine.Allow)}
			w.options.Evaluators, w.options.Runner = []engine.Evaluator{p}, seeing{w.runner}
			w.options.Programs = engine.Starts{Judged: true}
			tc.p.Dir = "/"
			w.runner.started = func() { w.runner.last.MayStart(tc.p) }
			w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
			var got []string
			for _, in := range p.seen {
				got = append(got, in.Request.Command)
			}
			if !slices.Equal(got, tc.want) {
				t.Errorf("judged as %q, want %q", got, tc.want)
			}
		})
	}
}

// A command that goes on starting refused programs does not fill the log.
func TestManyRefusals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := &byTool{fakePolicy: w.policy, program: judgement(engine.Deny)}
	w.options.Evaluators, w.options.Runner = []engine.Evaluator{p}, seeing{w.runner}
	w.options.Programs = engine.Starts{Judged: true}
	w.runner.started = func() {
		for i := range 1100 {
			w.runner.last.MayStart(engine.Program{Path: "/a", File: "/a", Dir: "/",
				Argv: []string{"a", strconv.Itoa(i)}})
		}
	}
	out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
	if len(p.seen) != 1000 || len(out.Programs.Refused) != 50 || out.Programs.Whole {
		t.Errorf("%d are judged, %d listed, whole: %v", len(p.seen), len(out.Programs.Refused), out.Programs.Whole)
	}
}

// A configuration can end the command of a refused program. Its start has no answer until then: the command
// does not go on.
func TestRefusalEndsTheCommand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.options.Evaluators = []engine.Evaluator{&byTool{fakePolicy: w.policy, program: judgement(engine.Deny)}}
	w.options.Runner = seeing{w.runner}
	w.options.Programs = engine.Starts{Judged: true, End: true}
	w.runner.block = true
	answers := make(chan engine.Verdict)
	w.runner.started = func() {
		for range 2 { // one may be known by the other
			go func() {
				answers <- w.runner.last.MayStart(engine.Program{Path: "/a", File: "/a", Dir: "/", Argv: []string{"a"}})
			}()
		}
	}
	out := w.do(t, engine.Request{Tool: "execute_command", Command: "x"})
	if killed := out.Exit.Killed; !strings.Contains(killed, "a: ") || len(out.Programs.Refused) == 0 {
		t.Errorf("ended by %q; %+v", killed, out.Programs)
	}
	for range 2 {
		if v := <-answers; v.May {
			t.Errorf("the program starts: %+v", v)
		}
	}
}

// A word is shown whole or not at all.
func TestShownWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	p := &byTool{fakePolicy: w.policy, program: judgement(engine.Allow)}
	w.options.Evaluators, w.options.Runner = []engine.Evaluator{p}, seeing{w.runner}
	w.options.Programs = engine.Starts{Judged: true}
	long, words := strings.Repeat("s", 700), slices.Repeat([]string{strings.Repeat("w", 300)}, 5)
	w.runner.started = func() {
		for _, argv := range [][]string{{"a", long, "b"}, append([]string{"a"}, words...), {"a\r\n'"}} {
			w.runner.last.MayStart(engine.Program{Path: "/a", File: "/a", Dir: "/", Argv: argv})
		}
	}
	list := w.do(t, engine.Request{Tool: "execute_command", Command: "x"}).Programs.List
	three := strings.Join(words[:3], " ")
	for i, want := range []string{"a '…(700 bytes)' b", "a " + three + " …(2 more words)", "$'a\\r\n\\''"} {
		if got := list[i].Words; got != want {
			t.Errorf("shown as %q, want %q", got, want)
		}
	}
}

// steady is byTool whose judgements depend on nothing that passes.
type steady struct{ *byTool }

func (steady) Steady() bool { return true }

// A judgement holds for equal programs where it depends on the question of the environment alone, until a
// request of the session, or a change of the policies.
func TestAgain(t *testing.T) {
	t.Parallel()
	there := facts.Node{Exists: true, Mode: fs.ModeDir | 0o755}
	seen := facts.Ways{
		To: []string{"/", "/x", "/a/b"},
		Nodes: map[string]facts.Node{
			"/": there, "/x": {Absent: true}, "/a": there, "/a/b": {Exists: true, Mode: 0o755},
		},
	}
	program := engine.Program{
		Path: "/a/b", File: "/a/b", Dir: "/", Argv: []string{"b", "-x"}, ELF: true, Seen: seen,
	}
	with := func(change func(*engine.Program)) engine.Program {
		p := program
		change(&p)
		return p
	}
	exempted := judgement(engine.Allow)
	exempted.Exempted = []engine.Reason{{Rule: "a/b", Effect: engine.Deny, Command: -1, Path: -1}}
	for _, tc := range []struct {
		name    string
		program engine.Program
		answer  engine.Judgement
		passing bool // a rule looks at the time
		mode    engine.Mode
		want    bool
	}{
		{name: "allowed", program: program, answer: judgement(engine.Allow), want: true},
		{name: "denied", program: program, answer: judgement(engine.Deny)},
		{name: "monitored", program: program, answer: judgement(engine.Deny), mode: engine.Monitor},
		{name: "exempted", program: program, answer: exempted},
		{name: "a rule about the time", program: program, answer: judgement(engine.Allow), passing: true},
		{name: "begun", program: with(func(p *engine.Program) { p.Begun = true }), answer: judgement(engine.Allow)},
		{
			name: "a file that is not known", answer: judgement(engine.Allow),
			program: with(func(p *engine.Program) { p.Argv = []string{"b", "/c"} }),
		},
		{
			name: "a script", answer: judgement(engine.Allow),
			program: with(func(p *engine.Program) { p.ELF = false }),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := &byTool{fakePolicy: w.policy, program: tc.answer}
			var by engine.Evaluator = steady{p}
			if tc.passing {
				by = p
			}
			current := &changing{now: by}
			w.options.Evaluators, w.options.Runner = []engine.Evaluator{current}, seeing{w.runner}
			w.options.Programs, w.options.Mode = engine.Starts{Judged: true}, tc.mode
			var gate *engine.Gate
			w.runner.started = func() {
				w.runner.started = func() {}
				mayStart := w.runner.last.MayStart
				v := mayStart(tc.program)
				if (v.Again != nil) != tc.want {
					t.Fatalf("holds for equal programs: %v", v.Again != nil)
				}
				if !tc.want {
					return
				}
				v.Again(41)
				if over(v) {
					t.Error("it is over already")
				}
				if _, err := gate.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "y"}); err != nil {
					t.Error(err)
				}
				if !over(v) {
					t.Error("it outlives a request of the session")
				}
				v = mayStart(tc.program)
				if current.changed(); !over(v) {
					t.Error("it outlives the policies")
				}
			}
			gate = w.gate(t)
			out, err := gate.Do(t.Context(), engine.Request{Tool: "execute_command", Command: "x"})
			if err != nil {
				t.Fatal(err)
			}
			if n := out.Programs.Started; tc.want && (n != 43 || out.Programs.List[0].Times != 43) {
				t.Errorf("programs %+v", out.Programs)
			}
		})
	}
}

func over(v engine.Verdict) bool {
	select {
	case <-v.Over:
		return true
	default:
		return false
	}
}
