package fleet

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/open-policy-agent/opa/v1/plugins/logs"
	opa "github.com/open-policy-agent/opa/v1/server"
	"github.com/open-policy-agent/opa/v1/storage"
)

// Event is a record as it is sent in a decision log: redacted already.
type Event struct {
	ID       string // of the decision; "" for none
	Path     string // DecisionPath, OutcomePath or CheckpointPath
	Time     time.Time
	Policies map[string]string // revisions by name
	// Body returns the record: an object with the members result and, for a decision, input. All others are sent
	// as custom. It is called off the way of the request.
	Body func() ([]byte, error)
}

// Paths of events, by which a collector tells them apart.
const (
	DecisionPath   = "sallyport/main/decision"
	OutcomePath    = "sallyport/main/outcome"
	CheckpointPath = "sallyport/main/checkpoint"
)

const (
	decisionsWaiting = 1024     // records that wait to be encoded
	maxUnsent        = 32 << 20 // bytes that wait to be sent
	maxUpload        = 4 << 20  // bytes of one request: a decision record fits
)

// SendsDecisions reports whether any server wants copies of decisions.
func (f *Fleet) SendsDecisions() bool {
	for _, s := range f.servers {
		if s.o.Decisions {
			return true
		}
	}
	return false
}

// Send takes a copy of a decision. It never waits: entries that do not fit are dropped and counted, for the
// audit log has them.
func (f *Fleet) Send(d Event) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.decisions == nil {
		return
	}
	select {
	case f.decisions <- d:
	default:
		if n := f.lost.Add(1); n&(n-1) == 0 { // 1, 2, 4, 8, …: told, and not in a flood
			f.o.Log.Warn(
				fmt.Sprintf(
					"copies of decisions come faster than they can be sent: %d were left out; the audit log has them", n))
		}
	}
}

func (f *Fleet) send() {
	f.mu.Lock()
	decisions := f.decisions
	f.mu.Unlock()
	for d := range decisions {
		if err := f.sendOne(d); err != nil {
			f.o.Log.Warn(fmt.Sprintf("the copy of a record of decision %q is not sent: %v; the audit log has it", d.ID,
				err))
		}
	}
}

func (f *Fleet) sendOne(d Event) error {
	text, err := d.Body()
	if err != nil {
		return err
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		return err
	}
	result := body["result"]
	info := opa.Info{DecisionID: d.ID, Timestamp: d.Time, Path: d.Path, Results: &result, Custom: body,
		Bundles: map[string]opa.BundleInfo{}}
	if input, ok := body["input"]; ok {
		info.Input = &input
	}
	delete(body, "input")
	delete(body, "result")
	for name, revision := range d.Policies {
		info.Bundles[name] = opa.BundleInfo{Revision: revision}
	}
	for _, s := range f.servers {
		plugin := logs.Lookup(s.manager)
		if !s.o.Decisions || plugin == nil {
			continue
		}
		ctx := context.Background()
		err := storage.Txn(ctx, s.manager.Store, storage.TransactionParams{}, func(txn storage.Transaction) error {
			info.Txn = txn
			return plugin.Log(ctx, &info)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
