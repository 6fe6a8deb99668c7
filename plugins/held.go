package plugins

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/boundary"
)

// Held lists the files that commands left and that were moved aside, the oldest first, without the released
// ones.
func Held(l *config.Loaded) ([]boundary.Entry, error) {
	all, err := boundary.List(l.HeldDir())
	var out []boundary.Entry
	for _, e := range all {
		if !e.Released {
			out = append(out, e)
		}
	}
	return out, err
}

// HeldAs returns the held files that an id names: that of a file, of a decision, or the beginning of one.
func HeldAs(l *config.Loaded, id string) ([]boundary.Entry, error) {
	return boundary.Find(l.HeldDir(), id)
}

// Release puts held files back, on record: the approval of by stands in the audit log before a file is
// moved. It returns the released ones.
func Release(
	ctx context.Context, l *config.Loaded, version, by string, all []boundary.Entry,
) (done []boundary.Entry, err error) {
	log, err := audit.Open(logOptions(l, version))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for _, e := range all {
		if failed := log.Record(ctx, releaseRecords(l, by, e)...); failed != nil {
			return done, errors.Join(err, failed)
		}
		if failed := boundary.Release(l.HeldDir(), e); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		done = append(done, e)
	}
	return done, err
}

// releaseRecords are the records of a release: the approval, and the outcome of a decision that asked for
// one.
func releaseRecords(l *config.Loaded, by string, e boundary.Entry) []engine.Record {
	record := func(k engine.Kind, body any) engine.Record {
		return engine.Record{Kind: k, Time: time.Now().UTC(), Decision: e.Decision(), Body: body}
	}
	all := []engine.Record{record(engine.KindApproval, engine.ApprovalBody{
		Granted: true, By: by, Comment: "release " + e.Path + " " + e.SHA256,
	})}
	others, err := boundary.List(l.HeldDir())
	again := err != nil || slices.ContainsFunc(others, func(o boundary.Entry) bool {
		return o.Released && o.Decision() == e.Decision()
	})
	if e.Effect == engine.Ask && !again {
		all = append(all, record(engine.KindOutcome, engine.OutcomeBody{Started: time.Now().UTC()}))
	}
	return all
}
