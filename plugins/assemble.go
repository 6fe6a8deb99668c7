package plugins

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/ledger"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/policies"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/journal"
)

// Options are what a gate needs besides the configuration.
type Options struct {
	Session   string          // of the subject; "" for none
	Approver  engine.Approver // nil: nobody can be asked, so ask refuses
	Version   string          // of sallyport, for the audit log
	CheckOnly bool            // decide and run nothing; no audit log is opened
	Follow    bool            // it lives long: servers of policies are followed until Close
	// Warn takes what the operator has to know and what stops nothing; nil: nobody is told.
	Warn func(error)
	// Progress is told how installations go before an environment opens; nil: nobody is told.
	Progress docker.Report

	// What cases put in place of the real thing; all may be nil.
	policies func(context.Context, *config.Loaded) (*rego.Evaluator, error)
	runner   func(engine.Runner) engine.Runner
	history  engine.Ledger
	now      func() time.Time
}

// Sallyport is a gate and the parts that are asked for more than a decision.
type Sallyport struct {
	*engine.Gate
	Policies *rego.Evaluator
	Subject  facts.Subject // of requests that name none

	reloading *rego.Reloading
	log       *audit.Log
	ledger    *ledger.Ledger
	plugins   []*wasm.Plugin
	exempt    []facts.Exemption
	runner    io.Closer  // what of the runner goes on besides its environments; nil for nothing
	served    *following // nil where no servers are followed
}

// Close closes the gate and then its log, so that the last records are written.
func (s *Sallyport) Close() error {
	var err error
	if s.Gate != nil {
		err = s.Gate.Close()
	}
	if s.served != nil {
		s.served.Close(context.Background())
	}
	if s.runner != nil {
		err = errors.Join(err, s.runner.Close())
	}
	if s.ledger != nil {
		err = errors.Join(err, s.ledger.Close())
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	return errors.Join(err, closeAll(s.plugins))
}

// Redact takes the secrets out of a text as the audit log does.
func (s *Sallyport) Redact(text string) string { return s.log.Redactor().String(text) }

// Assemble makes a gate of a configuration:
//
//	policies  built in + l.Policies      ─▶ rego.Evaluator ┐
//	servers   l.Servers, if followed     ─▶ fleet.Fleet    │
//	plugins   l.Plugins                  ─▶ wasm.Plugin, … │
//	runner    l.Runner from the catalog  ─▶ engine.Runner  ├─▶ engine.Gate
//	log       l.Audit.Dir                ─▶ audit.Log      │
//	ledger    what the session has done  ─▶ ledger.Ledger  ┘
//
// Nothing is half made: an error in any part is the error of the whole.
func Assemble(ctx context.Context, l *config.Loaded, o Options) (*Sallyport, error) {
	named := l // places in it are those of the file
	l = pluginsLast(l)
	s := &Sallyport{}
	evaluator, load, err := s.judges(ctx, l, o)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	chosen, err := RunnerNamed(l, l.Runner)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	r, err := chosen.Open(l)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if o.Warn != nil {
		for _, w := range r.Warnings {
			o.Warn(errors.New(w))
		}
		if n, ok := r.Runner.(interface{ Notify(func(string)) }); ok {
			n.Notify(func(text string) { o.Warn(errors.New(text)) })
		}
	}
	if o.runner != nil {
		r.Runner = o.runner(r.Runner)
	}
	layout := l.Layout()
	layout.POSIX = r.POSIX
	effective, err := l.YAML()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hash configuration: %w", err), s.Close())
	}
	subject := facts.Subject{Agent: l.Agent, Session: o.Session, User: userName(), Client: facts.Client{Name: "sallyport", Version: o.Version}}
	reloading := rego.NewReloading(evaluator, l.Policies, load)
	options := engine.Options{
		Layout:     layout,
		Evaluators: []engine.Evaluator{reloading},
		Runner:     r.Runner,
		Approver:   o.Approver,
		Mode:       engine.Mode(l.Mode),
		Limits: engine.Limits{
			Timeout: time.Duration(l.Timeout), MaxTimeout: time.Duration(l.Limits.MaxTimeout),
			Grace: time.Duration(l.Limits.Grace), Approve: time.Duration(l.Limits.Approval), Output: int(l.Limits.Output),
		},
		Subject: subject,
		Now:     o.now,
		Start: engine.StartBody{
			Version: o.Version, PID: os.Getpid(), Config: l.File, Digest: fmt.Sprintf("%x", sha256.Sum256(effective)),
			Profile: l.Profile, Subject: subject,
		},
	}
	s.Policies, s.Subject, s.reloading, s.exempt = evaluator, subject, reloading, layout.Exemptions
	if c, ok := r.Runner.(io.Closer); ok {
		s.runner = c
	}
	if w, ok := r.Runner.(interface{ Watch(docker.Report) }); ok {
		w.Watch(o.Progress)
	}
	if s.plugins, err = RulePlugins(ctx, named); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	for _, p := range s.plugins {
		options.Evaluators = append(options.Evaluators, p)
	}
	if s.ledger, err = openLedger(l, o.Session); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	options.Ledger = session{s.ledger}
	if o.history != nil {
		options.Ledger = o.history
	}
	if !o.CheckOnly {
		if s.log, err = audit.Open(logOptions(l, o.Version)); err != nil {
			return nil, errors.Join(fmt.Errorf("%w: nothing runs without a record", err), s.Close())
		}
		options.Recorder = s.log
		if s.served != nil && s.served.SendsDecisions() {
			options.Recorder = copying{s.log, s.served.Fleet}
		}
		options.Runner = journal.Wrap(r.Runner, journalOptions(l, s.log.Redactor(), o.Warn))
		if err := evaluator.Accept(); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if s.Gate, err = engine.New(options); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	if s.served != nil {
		if err := s.served.join(ctx, s); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// judges loads the policies, and returns with them how they are loaded anew.
func (s *Sallyport) judges(ctx context.Context, l *config.Loaded, o Options) (*rego.Evaluator, func(context.Context) (*rego.Evaluator, error), error) {
	load := func(ctx context.Context) (*rego.Evaluator, error) { return Policies(ctx, l) }
	reports := slices.ContainsFunc(l.Servers(), func(s config.Served) bool { return s.Status || s.DecisionLogs })
	switch {
	case o.policies != nil:
		load = func(ctx context.Context) (*rego.Evaluator, error) { return o.policies(ctx, l) }
	case !o.CheckOnly && len(l.Servers()) > 0 && (o.Follow || reports):
		if err := honoured(l); err != nil {
			return nil, nil, err
		}
		var err error
		if s.served, err = follow(ctx, l, o.Warn); err != nil {
			return nil, nil, err
		}
		return s.served.initial(), s.served.load, nil
	case len(l.Servers()) > 0:
		load = func(ctx context.Context) (*rego.Evaluator, error) {
			if err := honoured(l); err != nil {
				return nil, err
			}
			e, _, err := fetched(ctx, l, false, o.Warn)
			return e, err
		}
	}
	e, err := load(ctx)
	return e, load, err
}

// Check reports what keeps a configuration from being used, policies and plugins included. It leaves
// nothing open.
func Check(ctx context.Context, l *config.Loaded) error {
	if _, err := Policies(ctx, l); err != nil {
		return err
	}
	all, err := RulePlugins(ctx, l)
	return errors.Join(err, closeAll(all))
}

// Policies loads and compiles the policies that a configuration names. Servers are asked where what is kept of them
// is not fresh.
func Policies(ctx context.Context, l *config.Loaded) (*rego.Evaluator, error) {
	if err := honoured(l); err != nil {
		return nil, err
	}
	if len(l.Servers()) > 0 {
		e, _, err := fetched(ctx, l, false, nil)
		return e, err
	}
	return loadPolicies(ctx, l, nil)
}

// loadPolicies loads the policies of a configuration. texts are the bundles of its addresses.
func loadPolicies(ctx context.Context, l *config.Loaded, texts map[string][]byte) (*rego.Evaluator, error) {
	keys, err := policyKeys(l)
	if err != nil {
		return nil, err
	}
	return evaluator(ctx, l, rego.Options{
		Bundle:   policies.FS(),
		Tested:   true,
		Revision: policies.Revision(),
		Custom:   l.Policies,
		Texts:    texts,
		Keys:     keys,
		Serials:  serials(l),
		Config:   regoConfig(l),
	})
}

// policyKeys reads the keys that sign bundles.
func policyKeys(l *config.Loaded) ([][]byte, error) {
	keys := make([][]byte, len(l.PolicyKeys))
	for i, file := range l.PolicyKeys {
		key, err := os.ReadFile(string(file))
		if err == nil {
			err = rego.CheckKey(key)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: read key: %w", file, err)
		}
		keys[i] = key
	}
	return keys, nil
}

// regoConfig is what policies see of a configuration.
func regoConfig(l *config.Loaded) rego.Config {
	var exemptions []rego.Exemption
	for _, e := range pluginsLast(l).Exemptions {
		if !ofPlugin(e.Rule) {
			exemptions = append(exemptions, rego.Exemption{Rule: e.Rule})
		}
	}
	workspace, err := filepath.EvalSymlinks(string(l.Workspace))
	if err != nil { // rules that ask for it then find nothing in it, and no path lies in what is not there
		workspace = ""
	}
	return rego.Config{
		Profile:    l.Profile,
		Workspace:  workspace,
		Levels:     ofPolicies(l.Rules),
		Filters:    rego.Filters{Allow: len(l.Commands.Allow), Deny: len(l.Commands.Deny)},
		Exemptions: exemptions,
	}
}

// forgetAfter is how long a session that nobody uses is remembered.
const forgetAfter = 30 * 24 * time.Hour

// openLedger opens the memory of a session; without a session it lasts as long as the process.
func openLedger(l *config.Loaded, name string) (*ledger.Ledger, error) {
	if name == "" {
		return ledger.Open("", "")
	}
	if _, err := ledger.Prune(l.SessionsDir(), time.Now().Add(-forgetAfter)); err != nil {
		return nil, err
	}
	return ledger.Open(l.SessionsDir(), l.Agent+"/"+name)
}

// session is what the gate sees of a ledger.
type session struct{ *ledger.Ledger }

func (s session) Begin(in *facts.Input, fs facts.FS) func(facts.FS, int) error {
	return s.Ledger.Begin(in, fs).End
}

// AcceptBreak opens the log even where it was tampered with, which is then on record, and closes it
// again. It reports whether there was anything to accept.
func AcceptBreak(l *config.Loaded, version string) (bool, error) {
	o := logOptions(l, version)
	log, err := audit.Open(o)
	accepted := errors.Is(err, audit.ErrTampered) || errors.Is(err, audit.ErrNoKey)
	if accepted {
		o.AcceptBreak = true
		log, err = audit.Open(o)
	}
	if err != nil {
		return false, err
	}
	return accepted, log.Close()
}

func logOptions(l *config.Loaded, version string) audit.Options {
	redact := make([]*regexp.Regexp, len(l.Audit.Redact))
	for i, p := range l.Audit.Redact {
		redact[i] = regexp.MustCompile(string(p)) // config has compiled it already
	}
	return audit.Options{
		Dir: string(l.Audit.Dir), Agent: l.Agent, Version: version,
		Redact: audit.Redact{Patterns: redact}, CheckpointEvery: time.Duration(l.Audit.Checkpoint.Every),
	}
}

// journalOptions are for the logs of environments. They are redacted as the audit log is.
func journalOptions(l *config.Loaded, r *audit.Redactor, warn func(error)) journal.Options {
	return journal.Options{Dir: l.EnvironmentsDir(), Redact: r.Together, Warn: warn, Keep: forgetAfter}
}

// userName names the operating system user: by the system, not by a variable that anybody may set.
func userName() string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
