package audit

import (
	"fmt"
	"strings"
	"time"
)

// Report is the result of Verify. It marshals to JSON and prints for people.
type Report struct {
	Dir      string `json:"dir"`
	OK       bool   `json:"ok"` // no problems; read Torn, Orphans and Breaks as well
	Records  int64  `json:"records"`
	Segments int    `json:"segments"`
	Pruned   int64  `json:"pruned"` // records in files that are gone; where they left hashes, these were verified
	First    string `json:"first"`  // time of the first record
	Last     string `json:"last"`

	Decisions int64    `json:"decisions"`
	Outcomes  int64    `json:"outcomes"`
	Orphans   []Orphan `json:"orphans"` // allowed decisions without an outcome whose process is gone
	Running   []Orphan `json:"running"` // the same, but the process lives
	Unasked   int64    `json:"unasked"` // outcomes without a decision that allows them; each is a problem

	Checkpoints int64    `json:"checkpoints"`  // that were found to hold
	KeyFromLog  bool     `json:"key_from_log"` // no public key was given: the one beside the log was used
	KeyGiven    bool     `json:"key_given"`
	Recoveries  int64    `json:"recoveries"`
	Breaks      []Break  `json:"breaks"`    // where the log says that it does not continue the records before
	Backwards   int64    `json:"backwards"` // records that are older than the one before: the clock was set back, or processes disagree about the time
	Unproved    []string `json:"unproved"`  // comparisons that were not made: these parts may be wrong in a log that is OK
	Torn        int64    `json:"torn"`      // bytes of an incomplete last record, which the next writer moves away

	// Published tells which checkpoints lie outside, as far as the log's directory says: it proves nothing.
	Published []Outside `json:"published"`
	Compared  []string  `json:"compared"` // places with a compared checkpoint of this log
	Loose     []string  `json:"loose"`    // directories above the log that others may write to, and in what way

	ProblemCount int64     `json:"problem_count"`
	Problems     []Problem `json:"problems"` // the first of them
}

// Orphan is an allowed decision of which no outcome is recorded.
type Orphan struct {
	Decision string    `json:"decision_id"`
	Seq      int64     `json:"seq"`
	Time     time.Time `json:"time"`
	Writer   string    `json:"writer"`
	Running  bool      `json:"running"`
}

// Outside is a place to which checkpoints are published.
type Outside struct {
	Target string    `json:"target"`
	Size   int64     `json:"size"`   // records under its newest checkpoint; 0 for none
	Time   time.Time `json:"time"`   // when it took that
	Signed bool      `json:"signed"` // Time is in the signature of the place; otherwise this machine noted it
	Failed string    `json:"failed"` // why a newer one did not get there
}

// line says how old the newest checkpoint of a place is.
func (o Outside) line(last string) string {
	text := "nothing is there"
	if o.Size > 0 {
		text = fmt.Sprintf("%d records, at %s", o.Size, o.Time.Format(time.RFC3339))
		if o.Signed {
			text += " by the clock of the place"
		}
		if t, err := time.Parse(time.RFC3339, last); err == nil && t.After(o.Time) {
			text += fmt.Sprintf(", %s before the last record", t.Sub(o.Time).Round(time.Second))
		}
	}
	if o.Failed != "" {
		text += "; " + o.Failed
	}
	return o.Target + ": " + text
}

// Break is a place where the log does not continue the records before. One that nobody accepted is a problem.
type Break struct {
	ID       string `json:"id"`   // by which an operator accepts it
	Seq      int64  `json:"seq"`  // of the record that says so; -1 for none
	File     string `json:"file"` // in which the log does not go on
	Reason   string `json:"reason"`
	Accepted bool   `json:"accepted"`
	By       string `json:"by"` // name of the accepting operator
}

// unaccepted says how an operator accepts b.
func (b Break) unaccepted() string {
	return b.String() + ": find out what happened, then: sallyport audit accept-break " + b.ID
}

func (b Break) String() string {
	switch {
	case !b.Accepted:
		return fmt.Sprintf("nobody accepted this break: %s", b.Reason)
	case b.By == "":
		return fmt.Sprintf("an accepted break: %s", b.Reason)
	}
	return fmt.Sprintf("a break, accepted by %s: %s", b.By, b.Reason)
}

// Problem is a place where the log is not as it was written.
type Problem struct {
	File string `json:"file"` // "" for the log as a whole
	Line int    `json:"line"` // from 1; 0 for the file as a whole
	Seq  int64  `json:"seq"`  // the record that belongs there
	What string `json:"what"`
}

func (p Problem) String() string {
	switch {
	case p.File == "":
		return p.What
	case p.Line == 0:
		return fmt.Sprintf("%s: %s", p.File, p.What)
	}
	return fmt.Sprintf("%s:%d: record %d: %s", p.File, p.Line, p.Seq, p.What)
}

// String is the report for people, several lines.
func (r Report) String() string {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s %s\n", name, fmt.Sprintf(format, args...))
	}
	line("log", "%s", r.Dir)
	line("records", "%d in %d files%s", r.Records, r.Segments, r.span())
	if r.Pruned > 0 {
		line("pruned", "%d records before the first file are not there any more", r.Pruned)
	}
	line("decisions", "%d, outcomes %d, orphans %d, still running %d", r.Decisions, r.Outcomes, len(r.Orphans),
		len(r.Running))
	line("checkpoints", "%d hold, %s", r.Checkpoints, r.key())
	for _, o := range r.Published {
		line("published", "%s", o.line(r.Last))
	}
	for _, l := range r.Loose {
		line("place", "%s", l)
	}
	if r.Recoveries > 0 {
		line("recoveries", "%d", r.Recoveries)
	}
	for _, p := range r.Breaks {
		line("break", "%s", p)
	}
	if r.Torn > 0 {
		line("torn", "%d bytes of an incomplete last record; the next writer moves them away", r.Torn)
	}
	if r.Backwards > 0 {
		line("clock", "%d records are older than the one before them: the clock was set back", r.Backwards)
	}
	for _, o := range r.Orphans {
		line("orphan", "%s: allowed at %s, no outcome, its process %s is gone", o.Decision,
			o.Time.Format(time.RFC3339), o.Writer)
	}
	for _, p := range r.Problems {
		line("problem", "%s", p)
	}
	if more := r.ProblemCount - int64(len(r.Problems)); more > 0 {
		line("problem", "and %d more", more)
	}
	for _, u := range r.Unproved {
		line("unproved", "%s", u)
	}
	verdict := "ok: every record is as it was written, as far as it was compared"
	switch {
	case !r.OK:
		verdict = fmt.Sprintf("NOT OK: problems %d", r.ProblemCount)
	case len(r.Unproved) == 0:
		verdict = "ok: every record is as it was written"
	}
	line("verdict", "%s", verdict)
	return b.String()
}

func (r Report) span() string {
	if r.First == "" {
		return ""
	}
	return ", " + r.First + " to " + r.Last
}

func (r Report) key() string {
	switch {
	case r.KeyFromLog:
		return "with the public key beside the log"
	case r.KeyGiven:
		return "with the public key that was given"
	}
	return "because there is no public key"
}
