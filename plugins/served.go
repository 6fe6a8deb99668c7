package plugins

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/engine/rego/fleet"
)

// serials are the remembered serials of signed bundles that judged.
func serials(l *config.Loaded) rego.Serials {
	dir := l.PoliciesDir()
	if dir == "" {
		return rego.Serials{}
	}
	return rego.Serials{Dir: filepath.Join(dir, "serials")}
}

// openFleet prepares to follow the servers of a configuration; nil where there are none.
func openFleet(l *config.Loaded, look bool, log fleet.Log) (*fleet.Fleet, error) {
	all := l.Servers()
	if len(all) == 0 {
		return nil, nil
	}
	keys, err := policyKeys(l)
	if err != nil {
		return nil, err
	}
	o := fleet.Options{Keys: keys, Serials: serials(l), Dir: l.PoliciesDir(), Name: l.Agent, Look: look,
		Log: log}
	for _, s := range all {
		o.Servers = append(o.Servers, fleet.Server{
			URL: s.URL, Bundles: s.Bundles, Discovery: s.Discovery,
			TokenFile: string(s.TokenFile), CAFile: string(s.CAFile), CertFile: string(s.CertFile),
			KeyFile: string(s.KeyFile),
			PollMin: time.Duration(s.Polling.Min), PollMax: time.Duration(s.Polling.Max),
			Timeout: time.Duration(s.Timeout), MaxSize: int64(s.MaxSize),
			Status: s.Status, Decisions: s.DecisionLogs, Labels: s.Labels,
		})
	}
	return fleet.Open(o)
}

// fetched loads the policies of a configuration with the bundles of its servers as they are now: those that
// are kept, where they are fresh, or else the servers are asked once; look says to ask them all the same and
// to keep nothing. Nothing is followed and nothing reported.
func fetched(ctx context.Context, l *config.Loaded, look bool, warn func(error)) (*rego.Evaluator,
	[]fleet.State, error) {
	quiet := *l
	quiet.PolicyServers = slices.Clone(l.PolicyServers)
	for i := range quiet.PolicyServers {
		quiet.PolicyServers[i].Status, quiet.PolicyServers[i].DecisionLogs = false, false
	}
	f, err := openFleet(&quiet, look, fleetLog(warn, nil))
	if err != nil {
		return nil, nil, err
	}
	if f == nil { // its servers are for reports alone
		e, err := withTexts(ctx, l, nil)
		return e, nil, err
	}
	if texts, ok := f.Kept(); ok && !look {
		if e, err := withTexts(ctx, l, texts); err == nil {
			return e, f.States(), nil
		}
	}
	var e *rego.Evaluator
	err = f.Start(ctx, func(ctx context.Context, texts map[string][]byte) error {
		made, err := withTexts(ctx, l, texts)
		if err == nil {
			e = made
		}
		return err
	})
	states := f.States()
	if err != nil {
		return nil, states, err
	}
	f.Close(ctx)
	return e, states, nil
}

// Served tells about the bundles that come from servers, after asking the servers. It changes nothing.
func Served(ctx context.Context, l *config.Loaded) ([]fleet.State, error) {
	if len(l.Servers()) == 0 {
		return nil, nil
	}
	_, states, err := fetched(ctx, l, true, nil)
	return states, err
}

func fleetLog(warn func(error), refused func(string, error)) fleet.Log {
	tell := func(err error) {
		if warn != nil {
			warn(err)
		}
	}
	if refused == nil {
		refused = func(place string,
			err error) {
			tell(fmt.Errorf("%s: %w: the policies stay as they are", place, err))
		}
	}
	return fleet.Log{Warn: func(text string) { tell(errors.New(text)) }, Refused: refused}
}

// withTexts loads the policies of a configuration with these bundles for its addresses.
func withTexts(ctx context.Context, l *config.Loaded, texts map[string][]byte) (*rego.Evaluator, error) {
	named := *l
	named.Policies = slices.Clone(l.Policies)
	for _, place := range slices.Sorted(maps.Keys(texts)) { // those that a discovery bundle names
		if !slices.Contains(named.Policies, place) {
			named.Policies = append(named.Policies, place)
		}
	}
	return loadPolicies(ctx, &named, texts)
}

// following is a gate's part in following servers.
type following struct {
	*fleet.Fleet
	l    *config.Loaded
	warn func(error)

	mu    sync.Mutex
	first *rego.Evaluator                // judges until there is a gate
	gate  *Sallyport                     // nil until there is one
	early []engine.PolicyBody            // rejections until then
	tell  func(engine.PolicyBody, error) // nil until somebody listens
}

// follow starts to follow the servers of a configuration.
func follow(ctx context.Context, l *config.Loaded, warn func(error)) (*following, error) {
	w := &following{l: l, warn: warn}
	var err error
	if w.Fleet, err = openFleet(l, false, fleetLog(warn, w.refused)); err != nil {
		return nil, err
	}
	if err := w.Start(ctx, w.activate); err != nil {
		return nil, err
	}
	if w.initial() == nil { // its servers are for reports alone
		err = w.activate(ctx, nil)
	}
	if err != nil {
		w.Close(ctx)
		return nil, err
	}
	return w, nil
}

// initial is the evaluator until there is a gate.
func (w *following) initial() *rego.Evaluator {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.first
}

// load makes an evaluator of the present policies: of this machine, and of the servers.
func (w *following) load(ctx context.Context) (*rego.Evaluator, error) {
	return withTexts(ctx, w.l, w.Texts())
}

// activate lets bundles judge from the next request on, as a whole, or says why they cannot.
func (w *following) activate(ctx context.Context, texts map[string][]byte) error {
	load := func(ctx context.Context) (*rego.Evaluator, error) { return withTexts(ctx, w.l, texts) }
	w.mu.Lock()
	gate := w.gate
	if gate == nil {
		defer w.mu.Unlock()
		e, err := load(ctx)
		if err == nil {
			w.first = e
		}
		return err
	}
	w.mu.Unlock()
	return gate.reloading.Take(ctx, load, func(body engine.PolicyBody) error { return w.record(body) })
}

// record puts a change on record and tells of it.
func (w *following) record(body engine.PolicyBody) error {
	w.mu.Lock()
	gate, tell := w.gate, w.tell
	w.mu.Unlock()
	err := gate.RecordPolicy(context.Background(), body)
	switch {
	case tell != nil:
		tell(body, err)
	case w.warn != nil && (err != nil || body.Error != ""):
		w.warn(errors.Join(err, errors.New(body.Error)))
	}
	return err
}

// refused puts on record that a bundle came and was not taken.
func (w *following) refused(place string, why error) {
	body := engine.PolicyBody{Error: fmt.Sprintf("%s: %v", place, why)}
	w.mu.Lock()
	gate := w.gate
	if gate == nil {
		w.early = append(w.early, body)
		w.mu.Unlock()
		return
	}
	w.mu.Unlock()
	body.Before = gate.reloading.Policy()
	body.Policy = body.Before
	_ = w.record(body) // reported; the policies in force stay
}

// join hands over to a complete gate: policies that arrived in the meantime judge from its first request on.
func (w *following) join(ctx context.Context, s *Sallyport) error {
	w.mu.Lock()
	early := w.early
	w.early = nil
	err := s.reloading.Take(ctx, func(context.Context) (*rego.Evaluator, error) { return w.first, nil },
		func(engine.PolicyBody) error { return nil })
	w.gate = s
	w.mu.Unlock()
	for _, body := range early {
		body.Before = s.reloading.Policy()
		body.Policy = body.Before
		err = errors.Join(err, w.record(body))
	}
	return err
}

// listen tells of changes from now on.
func (w *following) listen(tell func(engine.PolicyBody, error)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tell = tell
}

// copying is a log that also sends decisions to servers. The log alone counts.
type copying struct {
	*audit.Log
	to   *fleet.Fleet
	note *atomic.Pointer[string] // the newest signed checkpoint
}

// Record returns the result of the log. Only recorded decisions are copied.
func (c copying) Record(ctx context.Context, records ...engine.Record) error {
	err := c.Log.Record(ctx, records...)
	for _, r := range records {
		if err == nil {
			c.send(r)
		}
	}
	return err
}

func (c copying) send(r engine.Record) {
	e := fleet.Event{ID: r.Decision, Time: r.Time}
	body, _ := r.Body.(engine.DecisionBody)
	switch r.Kind {
	case engine.KindDecision:
		e.Path = fleet.DecisionPath
		e.Policies = map[string]string{"sallyport": body.Decision.Policy.Revision}
		maps.Copy(e.Policies, body.Decision.Policy.Bundles)
		note := c.note.Load()
		e.Body = func() ([]byte, error) { return c.decision(r, note) }
	case engine.KindOutcome:
		e.Path = fleet.OutcomePath
		e.Body = func() ([]byte, error) {
			text, err := c.Redacted(r)
			return append(append([]byte(`{"result":`), text...), '}'), err
		}
	default:
		return
	}
	c.to.Send(e)
}

// decision is the record of a decision with the checkpoint that was the newest behind it.
func (c copying) decision(r engine.Record, note *string) ([]byte, error) {
	text, err := c.Redacted(r)
	if err != nil || note == nil {
		return text, err
	}
	member, err := json.Marshal(*note)
	return slices.Concat(bytes.TrimSuffix(text, []byte("}")), []byte(`,"checkpoint":`), member, []byte("}")), err
}

// sendCheckpoint sends a signed checkpoint as an event of its own. It does not block.
func (c copying) sendCheckpoint(note []byte) {
	text := string(note)
	c.note.Store(&text)
	c.to.Send(fleet.Event{Path: fleet.CheckpointPath, Time: time.Now(), Body: func() ([]byte, error) {
		return json.Marshal(map[string]any{"result": map[string]string{"note": text}})
	}})
}
