package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// count keeps the books of decisions and outcomes.
func (v *verifier) count(h head, line []byte, at place) {
	switch engine.Kind(h.kind) {
	case engine.KindDecision:
		v.r.Decisions++
		switch runs(line) {
		case runsNow:
			v.open[string(h.decision)] = at
		case runsIfGranted:
			v.granted[string(h.decision)] = true
		case runsElsewhere:
			v.hosted[string(h.decision)] = true
		}
	case engine.KindApproval:
		var b engine.ApprovalBody
		if bodyOf(line, &b) == nil && b.Granted && v.granted[string(h.decision)] {
			v.open[string(h.decision)] = at
		}
		delete(v.granted, string(h.decision))
	case engine.KindOutcome:
		v.r.Outcomes++
		if v.hosted[string(h.decision)] {
			delete(v.hosted, string(h.decision))
		} else if _, ok := v.open[string(h.decision)]; !ok && v.r.Pruned > 0 {
			v.unasked = append(v.unasked, string(h.decision))
		} else if !ok {
			v.unaskedFor(string(h.decision))
		}
		delete(v.open, string(h.decision))
	case engine.KindSegment:
		v.signer(line)
	case engine.KindPrune:
		v.prune(line)
	case engine.KindCheckpoint:
		v.checkpoint(h, line)
	case engine.KindRecovery:
		var b recoveryBody
		if err := bodyOf(line, &b); err != nil {
			v.here("a recovery record that cannot be read")
			return
		}
		v.r.Recoveries++
		if b.Break {
			v.r.Breaks = append(v.r.Breaks, b.on(h.seq, line))
		}
		for i, known := range v.r.Breaks {
			if slices.Contains(b.Accepts, known.Seq) {
				v.r.Breaks[i].Accepted, v.r.Breaks[i].By = true, b.By
			}
		}
	}
}

// unaskedFor reports an outcome of which no decision is on record.
func (v *verifier) unaskedFor(decision string) {
	v.r.Unasked++
	v.here("an outcome without a decision that allows it: " + decision)
}

// prune takes the statements of a prune record about files that are gone.
func (v *verifier) prune(line []byte) {
	var b pruneBody
	if bodyOf(line, &b) != nil {
		v.here("a prune record that cannot be read")
	}
	for _, p := range b.Pruned {
		if v.removed[p.Segment] == p {
			delete(v.removed, p.Segment)
		}
	}
	for _, id := range b.Open {
		v.excused[id] = true
	}
}

// signer holds the key that a file names against those that are trusted. Without this a log of
// somebody else's, put here before its first checkpoint, would have nothing against it.
func (v *verifier) signer(line []byte) {
	var b segmentBody
	switch err := bodyOf(line, &b); {
	case err != nil:
		v.here("a segment record that cannot be read")
	case len(v.keys) > 0 && !slices.Contains(v.keys, b.Key):
		v.here("the file names another checkpoint key than those trusted: the log or its keys were replaced")
	}
}

func (v *verifier) checkpoint(h head, line []byte) {
	if len(v.keys) == 0 {
		return
	}
	c, _, err := checkpointIn(h, line, v.keys...)
	if err != nil {
		v.here("bad checkpoint: " + err.Error())
		return
	}
	v.compare(anchor{c, "checkpoint record"})
}

const (
	runsNot = iota
	runsIfGranted
	runsNow
	runsElsewhere // if at all, by a host that asked by its hook: it need not tell the outcome
)

var (
	hookMark   = []byte(`"hook":"`)
	resultMark = []byte(`"result":{"decision_id":`)
	denyMark   = []byte(`,"effect":"deny","mode":"enforce",`)
	allowMark  = []byte(`,"effect":"allow","mode":"enforce",`)
	inputMark  = []byte(`,"input":{"version":1,"request":`)
)

// toolOf is the tool of a decision record, by its fixed place.
func toolOf(line []byte) (tool []byte, ok bool) {
	i := bytes.Index(line, inputMark)
	if i < 0 {
		return nil, false
	}
	_, rest, ok := member(line[i+len(inputMark):], `{"id":"`)
	if ok {
		_, rest, ok = member(rest, `,"time":"`)
	}
	if ok {
		tool, _, ok = member(rest, `,"tool":"`)
	}
	return tool, ok
}

// runs is the consequence of a decision record. Denials and plain permissions are recognized by their fixed
// places, because a log has many records and encoding/json is slow; everything else is read properly. No
// text in a record can look like the marks, because quotes in it are escaped.
func runs(line []byte) int {
	if i := bytes.Index(line, resultMark); i >= 0 {
		rest := line[i+len(resultMark):]
		if bytes.Contains(line[:i], hookMark) {
			return hosted(line)
		}
		if _, rest, ok := member(rest, `"`); ok && bytes.HasPrefix(rest, denyMark) {
			return runsNot
		} else if tool, known := toolOf(line); ok && known && bytes.HasPrefix(rest, allowMark) &&
			string(tool) == "execute_command" {
			return runsNow
		}
	}
	var b struct {
		Result struct {
			Effect engine.Effect `json:"effect"`
			Mode   engine.Mode   `json:"mode"`
		} `json:"result"`
		Input struct {
			Request struct {
				Tool string `json:"tool"`
			} `json:"request"`
		} `json:"input"`
	}
	if json.Unmarshal(line, &b) != nil || strings.HasPrefix(b.Input.Request.Tool, "check") {
		return runsNot // a check is answered, not run
	}
	switch {
	case b.Result.Effect == engine.Allow || b.Result.Mode == engine.Monitor:
		return runsNow
	case b.Result.Effect == engine.Ask:
		return runsIfGranted
	}
	return runsNot
}

// hosted is the consequence of a decision about a request that a host runs by itself.
func hosted(line []byte) int {
	var b struct {
		Result struct {
			Effect engine.Effect `json:"effect"`
			Mode   engine.Mode   `json:"mode"`
		} `json:"result"`
	}
	if json.Unmarshal(line, &b) != nil {
		return runsNot
	}
	if b.Result.Mode == engine.Monitor || b.Result.Effect == engine.Allow || b.Result.Effect == engine.Ask {
		return runsElsewhere
	}
	return runsNot
}

func (v *verifier) finish() {
	v.r.Last = string(v.last)
	for _, id := range v.unasked {
		if !v.excused[id] {
			v.unaskedFor(id)
		}
	}
	for n := range v.removed {
		v.problem(segmentName(n), 0, 0, "the file was removed, and no record tells of that")
	}
	for _, b := range v.r.Breaks {
		if !b.Accepted {
			v.problem(b.File, 0, b.Seq, b.unaccepted())
		}
	}
	for _, a := range v.anchors {
		if a.Size > v.st.tree.size {
			v.problem(segmentName(v.st.segment), v.line, v.st.tree.size,
				fmt.Sprintf("the log ends after %d records, but the %s speaks of %d: its end was cut off", v.st.tree.size,
					a.from, a.Size))
		}
	}
	for id, at := range v.open {
		o, err := v.orphan(id, at)
		if err != nil {
			v.problem(segmentName(at.segment), 0, 0, "read decision "+id+" again: "+err.Error())
			continue
		}
		if o.Running {
			v.r.Running = append(v.r.Running, o)
		} else {
			v.r.Orphans = append(v.r.Orphans, o)
		}
	}
	bySeq := func(a, b Orphan) int { return int(a.Seq - b.Seq) }
	slices.SortFunc(v.r.Orphans, bySeq)
	slices.SortFunc(v.r.Running, bySeq)
	v.r.OK = v.r.ProblemCount == 0
	v.unproved()
}

// maxBackwards is how far the records of two processes may be out of order: each takes its time before it
// waits for the log.
const maxBackwards = 5 * time.Minute

// time counts the records that are older than the one before.
func (v *verifier) time(h head) {
	t, err := time.Parse(time.RFC3339, string(h.time))
	if err != nil {
		v.here("a record without a time")
		return
	}
	if t.Before(v.newest.Add(-maxBackwards)) {
		v.r.Backwards++
	}
	if t.After(v.newest) {
		v.newest = t
	}
}

// unproved lists the comparisons that were not made.
func (v *verifier) unproved() {
	say := func(what string) { v.r.Unproved = append(v.r.Unproved, what) }
	if !v.given {
		say("no checkpoint from elsewhere was compared: anyone with the key can write another log, " +
			"or end this one earlier (--checkpoint)")
	}
	if !v.r.KeyGiven {
		say("the public key is the one beside the log: anyone who can write the log can exchange it (--public-key)")
	}
	if bare := v.st.tree.size - v.covered; bare > 0 && len(v.keys) > 0 {
		say(fmt.Sprintf("records behind the newest checkpoint, of which only the links were checked: %d", bare))
	}
	if !v.noted && v.r.Checkpoints > 0 {
		say("the checkpoint file is gone, although the log has checkpoints: an end that was cut off does not show")
	}
}

func (v *verifier) orphan(id string, at place) (Orphan, error) {
	f, err := v.fs.OpenFile(filepath.Join(v.dir, segmentName(at.segment)), os.O_RDONLY, 0)
	if err != nil {
		return Orphan{}, err
	}
	defer f.Close() // read only: nothing can be lost
	line := make([]byte, at.length)
	if _, err := f.ReadAt(line, at.off); err != nil {
		return Orphan{}, err
	}
	h, ok := parseHead(line)
	if !ok {
		return Orphan{}, errors.New("not a record")
	}
	t, _ := time.Parse(time.RFC3339, string(h.time))
	return Orphan{Decision: id, Seq: h.seq, Time: t, Writer: string(h.writer),
		Running: !writerGone(string(h.writer))}, nil
}
