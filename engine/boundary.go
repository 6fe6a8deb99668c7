package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/build"
)

// Boundary watches the places of this machine where commands write, for files that programs of the user obey
// outside of every environment. It is safe for concurrent use.
type Boundary interface {
	// Enter is called before a command or an operation on files starts.
	Enter()
	// Leave is called after the end of each. It names the files, by real path, that were written since none
	// ran, and that programs obey now.
	Leave() []string
	// Hold is called after each Leave, or Close, that named files. It moves the refused ones out of their
	// places and keeps them, and completes the values that it returns.
	Hold(decision string, files []Held) []Held
	// Changed lists the files that were changed until Leave, since its last call. It is called after Hold.
	Changed() Changes
	// Released reports whether a person released a version of the file at a path: the next one is compared
	// with it after it was written.
	Released(path string) bool
	// Close ends the watch, and names files as Leave does, unless Leave was the last look.
	Close() []string
}

// Held is a file that a command left, and that programs of the user would have obeyed.
type Held struct {
	ID      string `json:"id"` // by which a person releases it
	Path    string `json:"path"`
	Effect  Effect `json:"effect"`  // of the decision
	Message string `json:"message"` // of the reason that refuses it
	Left    string `json:"left"`    // in its place: "nothing", "its earlier version", "its plain settings"
	Error   string `json:"error,omitempty"`
	Refused bool   `json:"refused,omitempty"` // the command could not make the file: nothing is kept
}

// String describes the fate of the file in one line.
func (h Held) String() string {
	if h.Error != "" {
		return fmt.Sprintf("could not hold %s: %s", h.Path, h.Error)
	}
	message := h.Message
	if !strings.Contains(message, h.Path) {
		message = h.Path + ": " + message
	}
	if h.Refused {
		return "refused: " + message
	}
	return fmt.Sprintf("held: %s; in its place: %s", message, h.Left)
}

// toolChanges is the tool of the request by which the files are judged that commands left.
const toolChanges = "changes"

// changed is the operation of that request. It does nothing: the files are there already.
type changed []string

func (c changed) Plan(facts.FS) ([]facts.Touch, error) {
	touches := make([]facts.Touch, len(c))
	for i, p := range c {
		touches[i] = facts.Touch{Path: p, Access: "write"}
	}
	return touches, nil
}

func (changed) Run(context.Context, Files, []facts.Path) error { return nil }

// hold has the files judged that commands left, and holds those that the policies refuse or ask about. The
// records come before the files move. If none can be written, the files move all the same.
func (g *Gate) hold(found []string, subject facts.Subject) (held []Held, f *Fault) {
	if len(found) == 0 {
		return nil, nil
	}
	decision, refused := "", []Held(nil)
	if found = g.excuses.others(found); len(found) > 0 && g.o.Mode == Enforce {
		decision, refused, f = g.refuse(found, subject)
	}
	return g.o.Boundary.Hold(decision, refused), f
}

// refuse lists the files that the policies refuse or ask about, after the decision is on record.
func (g *Gate) refuse(found []string, subject facts.Subject) (decision string, refused []Held, f *Fault) {
	defer func() {
		if p := recover(); p != nil {
			f = newFault("changes", fmt.Errorf("panic: %v", p))
			refused = all(found, Deny, fmt.Sprintf("it could not be judged (%s)", f.ID))
		}
	}()
	start := g.o.Now()
	j := g.unjudged(Request{Tool: toolChanges, Operation: changed(found), Subject: subject})
	ctx, cancel := context.WithTimeout(context.Background(), g.o.Limits.Judge)
	defer cancel()
	builder := build.NewBuilder(g.o.Layout, facts.OSFS{}, g.o.Ledger)
	var err error
	if j.fault, err = g.read(ctx, nil, builder, j, start); err != nil {
		j.fault = newFault("changes", err)
	}
	if j.fault == nil {
		j.fault = g.decide(ctx, j)
	}
	if f = j.fault; f != nil {
		j.decision.Effect, j.decision.Fault = Deny, f.ID
	} else if j.decision.Effect == Allow && slices.ContainsFunc(found, misnamed) {
		j.decision.Effect = Deny
	}
	j.decision.ElapsedUS = g.o.Now().Sub(start).Microseconds()
	err = g.recordDecision(ctx, j)
	if err == nil && j.decision.Effect == Allow { // and done already
		body := g.outcomeBody(Outcome{Exit: Exit{Started: start}})
		err = g.o.Recorder.Record(ctx, g.newRecord(KindOutcome, j.decision.ID, body))
	}
	if err != nil {
		f = newFault("audit", err)
	}
	if j.decision.Effect != Allow {
		refused = j.refused(found)
	}
	return j.decision.ID, refused, f
}

// leave looks at the files that a request left, at its end.
func (g *Gate) leave(j *judged) ([]Held, *Changes, *Fault) {
	if g.o.Boundary == nil {
		return nil, nil, nil
	}
	defer g.excuses.count(j.excuse, -1)
	held, f := g.hold(g.o.Boundary.Leave(), j.request.Subject)
	changes := g.o.Boundary.Changed()
	return held, &changes, f
}

// excused lists the files that a request writes, by real path, although policies asked: a person granted it,
// or the operator exempts the command.
func (j *judged) excused(granted bool) (out []string) {
	for i := range j.input.Paths {
		p := &j.input.Paths[i]
		about := func(command, path int) bool { return path == i || command >= 0 && command == p.Command }
		asked := granted && slices.ContainsFunc(j.decision.Reasons, func(r Reason) bool {
			return about(r.Command, r.Path)
		})
		exempt := slices.ContainsFunc(j.exempted, func(e Exempted) bool { return about(e.Command, -1) })
		if p.Access == "write" && p.Certainty == "exact" && len(p.ObeyedBy) > 0 && (asked || exempt) {
			out = append(out, p.Real)
		}
	}
	return out
}

// excuses counts the running requests that excuse a file.
type excuses struct {
	mu  sync.Mutex
	all map[string]int
}

func (x *excuses) count(files []string, by int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.all == nil {
		x.all = map[string]int{}
	}
	for _, p := range files {
		if x.all[p] += by; x.all[p] <= 0 {
			delete(x.all, p)
		}
	}
}

// others are the files that no running request excuses.
func (x *excuses) others(found []string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return slices.DeleteFunc(found, func(p string) bool { return x.all[filepath.ToSlash(p)] > 0 })
}

// misnamed reports a file that the facts cannot name: its name is no valid UTF-8.
func misnamed(p string) bool { return !utf8.ValidString(p) }

// refused lists the files with a reason that refuses them, and those that were not judged; all, if a reason
// is about none of them, or no reason is.
func (j *judged) refused(found []string) []Held {
	why := map[string]string{}
	whole := ""
	for _, r := range j.decision.Reasons {
		if r.Effect != Deny && r.Effect != Ask {
			continue
		}
		if r.Path < 0 || r.Path >= len(j.input.Paths) {
			whole = r.Message
		} else if at := j.input.Paths[r.Path].Path; why[at] == "" {
			why[at] = r.Message
		}
	}
	if j.fault != nil {
		whole = fmt.Sprintf("it could not be judged (%s)", j.fault.ID)
	}
	var out []Held
	for _, p := range found {
		if why[p] == "" {
			why[p] = whole
		}
		if why[p] == "" && misnamed(p) {
			why[p] = "it could not be judged: its name is no valid UTF-8"
		}
		if why[p] != "" {
			out = append(out, Held{Path: p, Effect: j.decision.Effect, Message: why[p]})
		}
	}
	if len(out) == 0 {
		return all(found, j.decision.Effect, "the policies refuse it")
	}
	return out
}

func all(found []string, e Effect, message string) []Held {
	out := make([]Held, len(found))
	for i, p := range found {
		out[i] = Held{Path: p, Effect: e, Message: message}
	}
	return out
}
