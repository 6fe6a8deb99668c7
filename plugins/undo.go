package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Undoable is a decision with recorded changes of files.
type Undoable struct {
	Decision string // "" for changes by processes whose command is not known
	Session  undo.Session
}

// UndoableIn lists the decisions whose changes in the workspace of a configuration can be taken back, in the
// order in which they were made.
func UndoableIn(l *config.Loaded) ([]Undoable, error) {
	sessions, err := undo.List(l.UndoDir())
	if err != nil {
		return nil, err
	}
	here := string(l.Workspace)
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	var all []Undoable
	for _, s := range sessions {
		if real, err := filepath.EvalSymlinks(s.Workspace); err != nil || real != here {
			continue
		}
		decisions, err := undo.Decisions(l.UndoDir(), s)
		if err != nil {
			return nil, err
		}
		for _, d := range decisions {
			all = append(all, Undoable{Decision: d, Session: s})
		}
	}
	// The ids of decisions sort by time.
	slices.SortStableFunc(all, func(a, b Undoable) int { return cmp.Compare(a.Decision, b.Decision) })
	return all, nil
}

// Undo takes the changes of decisions back, the last ones first, on record: the approval of by stands in the
// audit log before a file is changed. Among the results are the files that changed by the audit log without a
// record of the change.
func Undo(
	ctx context.Context, l *config.Loaded, version, by string, all []Undoable, force bool,
) (results []undo.Result, err error) {
	log, err := audit.Open(logOptions(l, version))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	for end := len(all); end > 0; {
		begin := end - 1
		for begin > 0 && all[begin-1].Session.ID == all[end-1].Session.ID {
			begin--
		}
		some, err := undoIn(ctx, l, log, by, all[begin:end], force)
		results = append(results, some...)
		if err != nil {
			return results, err
		}
		end = begin
	}
	return results, nil
}

// undoIn undoes decisions of one session.
func undoIn(
	ctx context.Context, l *config.Loaded, log *audit.Log, by string, some []Undoable, force bool,
) ([]undo.Result, error) {
	var decisions []string
	for _, u := range some {
		decisions = append(decisions, u.Decision)
		if u.Decision == "" {
			continue
		}
		body := engine.ApprovalBody{Granted: true, By: by, Comment: "undo"}
		r := engine.Record{
			Kind: engine.KindApproval, Time: time.Now().UTC(), Decision: u.Decision, Body: body,
		}
		if err := log.Record(ctx, r); err != nil {
			return nil, err
		}
	}
	results, err := undo.Undo(l.UndoDir(), some[0].Session, decisions, force)
	if err != nil {
		return results, err
	}
	for _, d := range decisions {
		known, err := undo.Paths(l.UndoDir(), some[0].Session, d)
		if err != nil {
			return results, err
		}
		unrecorded, err := Unrecorded(l, d, known)
		results = append(results, unrecorded...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// Unrecorded lists the files that changed during a decision by the audit log, but for known ones and those in
// whose directories these are: nothing can be taken back there.
func Unrecorded(l *config.Loaded, decision string, known map[string]bool) (out []undo.Result, err error) {
	if decision == "" {
		return nil, nil
	}
	filter := audit.Filter{Kind: engine.KindOutcome, Decision: decision}
	for e, failed := range audit.Read(string(l.Audit.Dir), filter) {
		if failed != nil {
			return out, failed
		}
		o, failed := e.Outcome()
		if failed != nil {
			return out, failed
		}
		if o.Changes == nil {
			continue
		}
		lost := func(p, why string) {
			out = append(out, undo.Result{Decision: decision, Path: p, Result: undo.Lost, Message: why})
		}
		for _, c := range o.Changes.List {
			if !covers(known, c.Path) {
				lost(c.Path, "the change is not recorded")
			}
		}
		total := o.Changes.Created + o.Changes.Changed + o.Changes.Written + o.Changes.Removed
		if more := total - len(o.Changes.List); more > 0 && len(known) == 0 {
			lost("", fmt.Sprintf("%d more files changed, and no change is recorded", more))
		}
	}
	return out, nil
}

// covers reports a path that is known, or lies in a directory that is: it was moved, or made, as a whole.
func covers(known map[string]bool, p string) bool {
	for at := p; ; at = at[:strings.LastIndexByte(at, '/')] {
		if known[at] {
			return true
		}
		if strings.LastIndexByte(at, '/') <= 0 {
			return false
		}
	}
}
