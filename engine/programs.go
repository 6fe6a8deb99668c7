package engine

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
)

// ToolProgram is the tool of the request by which a program is judged that a command starts.
const ToolProgram = facts.ToolProgram

// Seer is an Environment that can ask before programs start (Command.MayStart).
type Seer interface {
	Environment
	SeesPrograms() bool
}

// Programs are the programs that a command started, below its shell.
type Programs struct {
	Started    int              `json:"started"`
	Uncompared int              `json:"uncompared,omitempty"` // over, or not readable, before they were compared
	Refused    []RefusedProgram `json:"refused,omitempty"`    // the first of them
	List       []StartedProgram `json:"list,omitempty"`       // the first of them, each once
	Whole      bool             `json:"whole"`                // there are no others
}

// StartedProgram is a program that was allowed.
type StartedProgram struct {
	File  string   `json:"file"`
	Words string   `json:"words"`
	Way   []string `json:"way,omitempty"` // the words of the processes above it, below the shell of the command
	Times int      `json:"times"`
}

// RefusedProgram is a program that policies refused.
type RefusedProgram struct {
	Decision    string   `json:"decision_id"`
	Effect      Effect   `json:"effect"`
	Words       string   `json:"words"`
	Way         []string `json:"way,omitempty"`
	Rule        string   `json:"rule"`
	Message     string   `json:"message"`
	Remediation string   `json:"remediation,omitempty"`
	// Killed says that it had started: its words or its file changed after they were judged.
	Killed bool `json:"killed,omitempty"`
}

// String describes the refusal in one line.
func (r RefusedProgram) String() string {
	what := "refused to start: "
	if r.Killed {
		what = "killed: "
	}
	if len(r.Way) > 0 {
		return fmt.Sprintf("%s%s (by %s): %s: %s", what, r.Words, strings.Join(r.Way, " -> "), r.Rule, r.Message)
	}
	return fmt.Sprintf("%s%s: %s: %s", what, r.Words, r.Rule, r.Message)
}

// Starts say how the programs of a command are judged. The zero value judges none.
type Starts struct {
	Judged   bool // where the environment can ask
	Required bool // policies see it as a lack where the environment cannot
	Wait     bool // a program waits for a person where policies ask; else a question refuses
	End      bool // a refusal ends the command
}

const (
	// maxStarted bounds the programs that are listed, and maxRefused the refused ones.
	maxStarted, maxRefused = 200, 50
	// maxRefusals bounds the refusals that one command brings on record. After them it starts no program.
	maxRefusals = 1000
	// maxRepositories bounds the repositories that are known as made by programs of one command.
	maxRepositories = 1000
	// maxShown bounds the bytes of the words of a listed program, and maxWord those of one of them. A word is
	// shown whole or not at all: a part of a secret is not known for one.
	maxShown, maxWord = 1000, 600
)

// starts are the programs of a running command. The zero value is empty.
type starts struct {
	mu      sync.Mutex
	all     Programs
	index   map[string]int // of the list, by words and directory
	refused map[string]bool
	repos   []string // .git directories that they made
	fault   *Fault
	stop    func()

	kill  func(reason string) // nil until the command has started
	ended string              // why it ends; "" while it goes on

	noting sync.Mutex
	notes  []*effects
}

// ends ends the command of a refused program.
func (s *starts) ends(r RefusedProgram) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended != "" {
		return
	}
	s.ended = r.String()
	if s.kill != nil {
		s.kill(s.ended)
	}
}

// started hands over the means to end the command.
func (s *starts) started(kill func(reason string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kill = kill; s.ended != "" {
		kill(s.ended)
	}
}

// end returns the programs, and ends questions that still wait; nil where nobody asked.
func (s *starts) end(uncompared int) (*Programs, *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stop == nil {
		return nil, nil
	}
	s.stop()
	out := s.all
	out.Uncompared, out.Whole = uncompared, len(s.index) <= maxStarted && len(s.refused) <= maxRefused
	return &out, s.fault
}

// count notes a program that was allowed.
func (s *starts) count(key string, p Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Started++
	if i, ok := s.index[key]; ok {
		if i < len(s.all.List) {
			s.all.List[i].Times++
		}
		return
	}
	if s.index == nil {
		s.index = map[string]int{}
	}
	if len(s.index) > maxStarted {
		return
	}
	s.index[key] = len(s.all.List)
	if len(s.all.List) < maxStarted {
		one := StartedProgram{File: p.File, Words: shown(p.Argv), Way: p.way(), Times: 1}
		s.all.List = append(s.all.List, one)
	}
}

// makes notes the repositories that an allowed program is about to make.
func (s *starts) makes(in *facts.Input) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range in.Paths {
		made := p.Access == "write" && p.Certainty == "exact" && !p.Exists && path.Base(p.Real) == ".git"
		if made && len(s.repos) < maxRepositories {
			s.repos = append(s.repos, p.Real)
		}
	}
}

// made are the repositories that programs of the command made.
func (s *starts) made() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.repos)
}

// again counts starts that equal one that was allowed.
func (s *starts) again(key string, times int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all.Started += times
	if i, ok := s.index[key]; ok && i < len(s.all.List) {
		s.all.List[i].Times += times
	}
}

// way calls Way.
func (p Program) way() []string {
	if p.Way == nil {
		return nil
	}
	return p.Way()
}

// waits calls Waits.
func (p Program) waits() {
	if p.Waits != nil {
		p.Waits()
	}
}

// known reports words that were refused before: a search along PATH tries them in each directory.
func (s *starts) known(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refused[key] || len(s.refused) >= maxRefusals
}

func (s *starts) refuse(key string, r RefusedProgram, f *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f != nil {
		s.fault = f
	}
	if s.refused == nil {
		s.refused = map[string]bool{}
	}
	s.refused[key] = true
	if len(s.all.Refused) < maxRefused {
		s.all.Refused = append(s.all.Refused, r)
	}
}

// shown are words on one line, as a shell reads them.
func shown(argv []string) string {
	var out []string
	left := maxShown
	for i, w := range argv {
		if left -= len(w); left < 0 {
			return quoted(out, true) + fmt.Sprintf(" …(%d more words)", len(argv)-i)
		}
		if len(w) > maxWord {
			w = fmt.Sprintf("…(%d bytes)", len(w))
			left += maxWord
		}
		out = append(out, w)
	}
	return quoted(out, true)
}

// loading is the text of a shell that sets the variable by which a shell reads a file before anything of its
// own.
func loading(set []string) string {
	for _, kv := range set {
		if file, ok := strings.CutPrefix(kv, "BASH_ENV="); ok && file != "" {
			return "BASH_ENV=" + quoted([]string{file}, false) + " "
		}
	}
	return ""
}

// quoted is a text of a shell for words; ansi allows the quotes $'…' of bash.
func quoted(words []string, ansi bool) string {
	out := make([]string, len(words))
	for i, w := range words {
		switch {
		case ansi && strings.ContainsFunc(w, unicode.IsControl):
			out[i] = "$'" + escapes.Replace(w) + "'"
		case w == "" || strings.Trim(w, plainBytes) != "":
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		default:
			out[i] = w
		}
	}
	return strings.Join(out, " ")
}

// escapes are those of $'…' in bash. Control characters in other quotes look like the ends of lines to some
// readers.
var escapes = strings.NewReplacer(`\`, `\\`, "'", `\'`, "\r", `\r`)

// plainBytes mean themselves in every place of a word, but for the first of a text.
const plainBytes = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:,+@%"

// runnerOf describes the runner, and whether programs are judged in an environment.
func (g *Gate) runnerOf(env Environment) facts.Runner {
	d := g.o.Runner.Describe()
	d.Programs = cmp.Or(d.Programs, facts.Unseen) // cases describe runners that judge
	s, ok := env.(Seer)
	switch {
	case !g.o.Programs.Judged:
	case ok && s.SeesPrograms() || g.o.Look || g.o.Recorder == nil: // which starts nothing
		d.Programs = facts.Judged
	case g.o.Programs.Required:
		d.Programs = facts.Absent
	}
	return d
}

// mayStart decides about the programs that a command is about to start, by the policies that decide about
// commands. Nil leaves all of them unseen. A person is asked by way of ctx; its end changes nothing.
func (g *Gate) mayStart(ctx context.Context, j *judged) func(Program) Verdict {
	if j.input.Runner.Programs != facts.Judged {
		return nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	closed := context.AfterFunc(g.closing, cancel)
	j.starts.stop = func() {
		closed()
		cancel()
	}
	base := environ(j.command.Env)
	refused := func(p Program) Verdict {
		if g.o.Programs.End && !p.Begun { // it waits for the end: the command does not go on meanwhile
			p.waits()
			<-ctx.Done()
		}
		return Verdict{}
	}
	return func(p Program) Verdict {
		key := p.Dir + "\x00" + strings.Join(p.Argv, "\x00")
		if !p.Begun && j.starts.known(key) {
			return refused(p)
		}
		g.noteFetched(j)
		v := Verdict{Over: g.past.steady()} // of the time before the judgement
		r := g.judgeStart(ctx, j, p, base)
		if v.May = r.allowed; !v.May {
			j.starts.refuse(key, r.refused, r.fault)
			if g.o.Programs.End {
				j.starts.ends(r.refused)
			}
			return refused(p)
		}
		j.starts.count(key, p)
		j.starts.makes(r.input)
		g.expect(j, r.input)
		if r.steady {
			v.Again = func(times int) { j.starts.again(key, times) }
		}
		return v
	}
}

// ruling is the judgement of a program.
type ruling struct {
	input           *facts.Input
	allowed, steady bool           // steady: the same policies judge equal programs of the session alike
	refused         RefusedProgram // if it is not allowed
	fault           *Fault
}

// judgeStart judges a program. A refusal, and a question, is on record before it returns.
func (g *Gate) judgeStart(
	ctx context.Context, parent *judged, p Program, base map[string]string,
) (r ruling) {
	defer func() {
		if broken := recover(); broken != nil {
			r = ruling{fault: newFault("programs", fmt.Errorf("panic: %v", broken))}
		}
	}()
	j, steady := g.startOf(ctx, parent, p, base)
	r.input = j.input
	out := j.outcome()
	switch {
	case j.decision.Effect == Allow && j.fault == nil:
		r.allowed, r.steady = true, steady
		return r
	case g.o.Mode != Enforce:
		_ = g.recordDecision(ctx, j)
		r.allowed = true
		return r
	case j.decision.Effect == Ask && g.o.Programs.Wait:
		j.way = p.way()
		p.waits()
		out, _, r.allowed = g.settle(ctx, j)
	default:
		if err := g.recordDecision(ctx, j); err != nil {
			out = g.faulted(out, "audit", err)
		}
	}
	r.fault = out.Fault
	r.refused = RefusedProgram{
		Decision: j.decision.ID, Effect: j.decision.Effect, Words: shown(p.Argv), Way: p.way(), Killed: p.Begun,
		Rule: "fault", Message: "it could not be judged",
	}
	decides := func(r Reason) bool { return r.Effect == j.decision.Effect }
	if i := slices.IndexFunc(j.decision.Reasons, decides); i >= 0 {
		why := j.decision.Reasons[i]
		r.refused.Rule, r.refused.Message, r.refused.Remediation = why.Rule, why.Message, why.Remediation
	}
	return r
}

// startOf judges a program, by the strictest of its readings. steady says that the judgement depends on
// nothing but the program, the session and the policies.
func (g *Gate) startOf(
	ctx context.Context, parent *judged, p Program, base map[string]string,
) (worst *judged, steady bool) {
	select {
	case g.judging <- struct{}{}:
		defer func() { <-g.judging }()
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(ctx, g.o.Limits.Judge)
	defer cancel()
	until, _ := ctx.Deadline()
	builder, looked := parent.builder.Watched(until)
	exempt := false
	for _, words := range readings(builder, p) {
		j := g.judgeWords(ctx, parent, builder, p, words, base)
		exempt = exempt || len(j.exempted) > 0
		if worst == nil || j.stricterThan(worst) {
			worst = j
		}
		if worst.decision.Effect == Deny {
			break
		}
	}
	return worst, !looked() && !p.Begun && !exempt && isSteady(worst.by)
}

// isSteady reports evaluators that judge inputs alike that differ in the id, the time and ages only.
func isSteady(by []Evaluator) bool {
	return !slices.ContainsFunc(by, func(e Evaluator) bool {
		s, ok := e.(Steady)
		return !ok || !s.Steady()
	})
}

// stricterThan compares two judgements of one program.
func (j *judged) stricterThan(other *judged) bool {
	rank := map[Effect]int{Allow: 1, Ask: 2}
	of := func(j *judged) int {
		if n := rank[j.decision.Effect]; n > 0 && j.fault == nil {
			return n
		}
		return 3
	}
	return of(j) > of(other)
}

// readings are the commands that a program can be, as words: by the name that the process gives it; by its
// file, if that has another name and commands may have made the link; by its first word, which programs of
// many names go by; and by the interpreter of a script.
func readings(b *build.Builder, p Program) [][]string {
	named := func(name string) []string { return append([]string{name}, p.Argv[1:]...) }
	out := [][]string{named(p.Path)}
	base, file := path.Base(p.Path), path.Base(p.File)
	if file != base && (b.Permission(p.Path) == "write" || b.Shared(path.Dir(p.Path))) {
		out = append(out, named(p.File))
	}
	first := strings.TrimPrefix(path.Base(p.Argv[0]), "-")
	if len(p.By) == 0 && !slices.Contains([]string{base, file, "."}, first) {
		out = append(out, named(path.Join(path.Dir(p.File), first)))
	}
	if len(p.By) > 0 {
		out = append(out, slices.Concat(p.By, named(p.Path)))
	}
	return out
}

// judgeWords judges a program as a command of some words, in its directory and with its variables.
func (g *Gate) judgeWords(
	ctx context.Context, parent *judged, builder *build.Builder, p Program, words []string,
	base map[string]string,
) *judged {
	start := g.o.Now()
	r := Request{
		Tool: ToolProgram, Command: loading(p.Set) + quoted(words, !parent.builder.Layout.POSIX),
		WorkDir: p.Dir, Subject: parent.request.Subject,
	}
	j := g.unjudged(r)
	j.env = parent.env
	j.command = Command{ID: j.decision.ID, Text: r.Command, WorkDir: p.Dir, Timeout: parent.command.Timeout}
	if j.fault = g.readStart(ctx, j, parent, builder, p, base); j.fault == nil {
		g.past.look(j.input)
		j.fault = g.decide(ctx, j)
	}
	if j.fault != nil {
		j.decision.Effect, j.decision.Fault = Deny, j.fault.ID
	}
	j.decision.ElapsedUS = g.o.Now().Sub(start).Microseconds()
	return j
}

// readStart makes the facts about a program.
func (g *Gate) readStart(
	ctx context.Context, j, parent *judged, builder *build.Builder, p Program, base map[string]string,
) (f *Fault) {
	defer catch(&f, "facts")
	env := make(map[string]string, len(base)+len(p.Set))
	for name, value := range base {
		env[name] = value
	}
	for _, name := range p.Lost {
		delete(env, name)
	}
	for name, value := range environ(p.Set) {
		env[name] = value
	}
	ask := facts.Ask{
		Request: facts.Request{
			ID: j.decision.ID, Time: g.o.Now().UTC(), Tool: ToolProgram, Parent: parent.decision.ID,
			Command: j.request.Command, WorkDir: p.Dir, TimeoutSeconds: parent.command.Timeout.Seconds(),
			Background: parent.request.Background, Stdin: parent.request.Stdin != nil,
		},
		Subject: j.request.Subject, Runner: g.runnerOf(parent.env), Env: env, Seen: p.Seen,
		Repositories: parent.starts.made(),
	}
	if p.ELF {
		ask.Machine = []string{p.Path, p.File}
	}
	if j.input = builder.Build(ask); j.input.Shell.Budget != "" {
		ask.Alone = true // the programs of its scripts are judged by themselves
		j.input = builder.Build(ask)
	}
	if err := lost(parent.env); err != nil {
		return newFault("environment", err)
	}
	if err := ctx.Err(); err != nil {
		return newFault("facts", err)
	}
	return nil
}
