package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/audit/publish"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/ledger"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/wasm"
	"github.com/sallyport-dev/sallyport/runners/boundary"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/journal"
)

// Options configure a gate, besides the configuration.
type Options struct {
	Session   string          // of the subject; "" for none
	Process   string          // session of the subject where Session is "": environments do not belong to it
	Approver  engine.Approver // nil: nobody can be asked, so ask refuses
	Version   string          // of sallyport, for the audit log
	CheckOnly bool            // decide and run nothing; no audit log is opened
	Follow    bool            // it lives long: servers of policies are followed until Close
	Look      bool            // it decides and records, and runs nothing by itself
	Once      bool            // it ends with the first command that it runs
	// Suppose states facts about the runner in place of its own (Supposed); only with CheckOnly.
	Suppose map[string]string
	// Warn receives messages for the operator that stop nothing; may be nil.
	Warn func(error)
	// Faulted takes each fault of the audit log, which may not be on record; syslog gets it too. nil: only
	// syslog.
	Faulted func(error)
	// Progress is told how installations go before an environment opens; nil: nobody is told.
	Progress docker.Report
	// Judge limits how long one request is judged; 0: as long as the engine allows by itself.
	Judge time.Duration

	// Replacements for cases; all may be nil.
	policies func(context.Context, *config.Loaded) (*rego.Evaluator, error)
	runner   func(engine.Runner) engine.Runner
	boundary func(boundary.Options) engine.Boundary
	history  engine.Ledger
	now      func() time.Time
	wasm     wasm.Options // clock and limit of plugins
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
	redactor  func() (*redact.Redactor, error) // of the audit log, which need not be open
	runner    io.Closer                        // background work of the runner; may be nil
	chosen    engine.Runner                    // of the configuration
	served    *following                       // nil where no servers are followed
	published *publish.Publisher
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
	if s.published != nil {
		s.unpublish()
	}
	return errors.Join(err, closeAll(s.plugins))
}

// Missing reports that commands would not run, because the sandbox of the configuration is not available, and
// the reason. A decision that is only looked at determines it.
func (s *Sallyport) Missing() error { return missing(s.chosen) }

// Redact takes the secrets out of a text as the audit log does.
func (s *Sallyport) Redact(text string) string { return s.log.Redactor().String(text) }

// Assemble makes a gate of a configuration:
//
//	policies  built in + l.Policies      ─▶ rego.Evaluator ┐
//	servers   l.Servers, if followed     ─▶ fleet.Fleet    │
//	plugins   l.Plugins                  ─▶ wasm.Plugin, … │
//	runner    l.Runner from the catalog  ─▶ engine.Runner  ├─▶ engine.Gate
//	log       l.Audit.Dir                ─▶ audit.Log      │
//	ledger    the session's actions      ─▶ ledger.Ledger  ┘
//
// Nothing is half made: an error in any part is the error of the whole.
func Assemble(ctx context.Context, l *config.Loaded, o Options) (*Sallyport, error) {
	s := &Sallyport{}
	if err := s.assemble(ctx, l, o); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// assemble makes one part after the other. After a failure, s holds the open ones. Paths in named are those
// of the file.
func (s *Sallyport) assemble(ctx context.Context, named *config.Loaded, o Options) error {
	if wide := named.TooWide(); wide != "" {
		return fmt.Errorf("workspace: %s", wide)
	}
	l := pluginsLast(named)
	evaluator, load, err := s.judges(ctx, l, o)
	if err != nil {
		return err
	}
	s.Policies, s.reloading = evaluator, rego.NewReloading(evaluator, l.Policies, load)
	r, err := s.openRunner(l, o)
	if err != nil {
		return err
	}
	options := gateOptions(l, o)
	options.Runner, options.Layout.POSIX = r.Runner, r.POSIX
	s.Subject, s.exempt = options.Subject, options.Layout.Exemptions
	s.Subject.Session = cmp.Or(o.Session, o.Process)
	s.redactor = func() (*redact.Redactor, error) {
		log := logOptions(l, o.Version)
		return audit.RedactorFor(log.Dir, log.Redact)
	}
	if s.plugins, err = rulePlugins(ctx, named, o.wasm); err != nil {
		return err
	}
	options.Evaluators = []engine.Evaluator{s.reloading}
	for _, p := range s.plugins {
		options.Evaluators = append(options.Evaluators, p)
	}
	if s.ledger, err = openLedger(l, s.Subject.Session); err != nil {
		return err
	}
	options.Ledger = session{Ledger: s.ledger}
	if o.history != nil {
		options.Ledger = o.history
	}
	if !o.CheckOnly {
		if err := s.record(l, o, &options); err != nil {
			return err
		}
	}
	if s.Gate, err = engine.New(options); err != nil {
		return err
	}
	if s.served != nil {
		return s.served.join(ctx, s)
	}
	return nil
}

// openRunner makes the runner of the configuration, and passes its warnings to the operator.
func (s *Sallyport) openRunner(l *config.Loaded, o Options) (Opened, error) {
	chosen, err := RunnerNamed(l, l.Runner)
	if err != nil {
		return Opened{}, err
	}
	r, err := chosen.Open(l)
	if err != nil {
		return Opened{}, err
	}
	if o.Warn != nil {
		for _, w := range r.Warnings {
			o.Warn(errors.New(w))
		}
		if n, ok := r.Runner.(interface{ Notify(func(string)) }); ok {
			n.Notify(func(text string) { o.Warn(errors.New(text)) })
		}
	}
	s.chosen = r.Runner
	if len(o.Suppose) > 0 {
		if _, err := Supposed(facts.Runner{}, o.Suppose); err != nil {
			return Opened{}, err
		}
		r.Runner = supposing{r.Runner, o.Suppose}
	}
	if o.runner != nil {
		r.Runner = o.runner(r.Runner)
	}
	if c, ok := r.Runner.(io.Closer); ok {
		s.runner = c
	}
	if w, ok := r.Runner.(interface{ Watch(docker.Report) }); ok {
		w.Watch(o.Progress)
	}
	return r, nil
}

// gateOptions are the options of a gate that follow from the configuration alone.
func gateOptions(l *config.Loaded, o Options) engine.Options {
	return engine.Options{
		Layout: l.Layout(),
		Mode:   engine.Mode(l.Mode),
		Trial:  l.Approvals.Trial,
		Programs: engine.Starts{
			Judged: l.Programs.Mode != "unseen", Required: l.Programs.Mode == "require",
			Wait: l.Programs.Ask == "wait",
			End:  l.Programs.OnRefusal == "end",
		},
		Limits: engine.Limits{
			Timeout: time.Duration(l.Timeout), MaxTimeout: time.Duration(l.Limits.MaxTimeout),
			Grace: time.Duration(l.Limits.Grace), Approve: time.Duration(l.Limits.Approval),
			Output: int(l.Limits.Output), Judge: o.Judge,
		},
		Subject: facts.Subject{
			Agent: l.Agent, Session: o.Session, User: UserName(),
			Client: facts.Client{Name: "sallyport", Version: o.Version},
		},
		Approver: o.Approver, Now: o.now, Look: o.Look, Once: o.Once,
		Faulted: func(f *engine.Fault) { tellFault(l, f, o.Faulted) },
	}
}

// record sends the gate's records to the audit log, to the servers that want them, and to the logs of
// environments.
func (s *Sallyport) record(l *config.Loaded, o Options, options *engine.Options) error {
	start, err := startBody(l, options.Subject, o.Version)
	if err != nil {
		return err
	}
	options.Start = start
	log := logOptions(l, o.Version)
	out, err := newPublisher(l, o.Warn)
	if err != nil {
		return err
	}
	copies := copying{note: &atomic.Pointer[string]{}}
	log.Checkpoint = out.Offer
	if s.served != nil && s.served.SendsDecisions() {
		copies.to = s.served.Fleet
		log.Checkpoint = func(note []byte) {
			out.Offer(note)
			copies.sendCheckpoint(note)
		}
	}
	if s.log, err = audit.Open(log); err != nil {
		err = fmt.Errorf("%w: nothing runs without a record", err)
		if _, place := errors.AsType[*fs.PathError](err); place {
			err = fmt.Errorf("%w: make the directory writable, or set audit.dir or $XDG_STATE_HOME", err)
		}
		return err
	}
	s.published = out
	out.Start(s.log.PublicKey())
	options.Recorder = s.log
	if copies.Log = s.log; copies.to != nil {
		options.Recorder = copies
	}
	if _, elsewhere := l.Elsewhere(); !elsewhere {
		b := boundary.Options{Layout: options.Layout, Store: l.HeldDir(), Once: o.Once}
		if options.Boundary = boundary.New(b); o.boundary != nil {
			options.Boundary = o.boundary(b)
		}
	}
	if !o.Look {
		options.Runner = journal.Wrap(options.Runner, journalOptions(l, s.log.Redactor(), o.Warn))
	}
	return s.Policies.Accept()
}

// Breaks returns the breaks of the audit log that nobody has accepted.
func Breaks(l *config.Loaded, version string) ([]audit.Break, error) {
	return audit.Breaks(logOptions(l, version))
}

// AcceptBreaks puts on record that an operator accepts the breaks of the audit log with these ids.
func AcceptBreaks(l *config.Loaded, version string, ids []string, by, reason string) error {
	return audit.AcceptBreaks(logOptions(l, version), ids, by, reason)
}

// Prune removes files of the audit log whose records are all from before a time.
func Prune(l *config.Loaded, version string, before time.Time, by string) (audit.Pruned, error) {
	return audit.Prune(logOptions(l, version), before, by)
}

// journalOptions are for the logs of environments. They are redacted as the audit log is.
func journalOptions(l *config.Loaded, r *redact.Redactor, warn func(error)) journal.Options {
	return journal.Options{Dir: l.EnvironmentsDir(), Redact: r.Together, Warn: warn, Keep: forgetAfter}
}
