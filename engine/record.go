package engine

import (
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Kind is the kind of an audit record. The zero value is not valid.
type Kind string

const (
	KindStart      Kind = "start"      // a gate opened
	KindStop       Kind = "stop"       // a gate closed
	KindPolicy     Kind = "policy"     // policies were loaded
	KindConfig     Kind = "config"     // a configuration was loaded
	KindDecision   Kind = "decision"   // a request was judged
	KindApproval   Kind = "approval"   // a person answered, or could not be asked
	KindOutcome    Kind = "outcome"    // an allowed request has ended
	KindRecovery   Kind = "recovery"   // a torn tail was cut off
	KindCheckpoint Kind = "checkpoint" // the log's size and root hash, signed
	KindSegment    Kind = "segment"    // a new file continues the log
	KindPrune      Kind = "prune"      // old files of the log were removed
	KindFull       Kind = "full"       // requests were refused, because the disk was full
)

// Record is one entry of the audit log before it is redacted, numbered, chained and written.
type Record struct {
	Kind     Kind
	Time     time.Time
	Decision string // decision id; "" for records that belong to none
	Body     any    // one of the bodies below; marshals to a JSON object
	// Sign asks for a signed checkpoint with the record: the next command is not confined and could cut the
	// log.
	Sign bool
}

// StartBody is the body of a start record: which sallyport, under which configuration and policies.
type StartBody struct {
	Version string        `json:"version"`
	PID     int           `json:"pid"`
	Config  string        `json:"config"`        // path of the configuration file, or "" for the defaults
	Digest  string        `json:"config_sha256"` // of the configuration as it took effect, hex
	Profile string        `json:"profile"`
	Mode    Mode          `json:"mode"`
	Policy  PolicyInfo    `json:"policy"`
	Runner  facts.Runner  `json:"runner"`
	Subject facts.Subject `json:"subject"`
}

// StopBody is the body of a stop record.
type StopBody struct {
	PID int `json:"pid"`
}

// PolicyBody is the body of a policy record: which policies judge from now on, and which did before. With an
// error they are the same, and the error says why those that were found could not take their place.
type PolicyBody struct {
	Before PolicyInfo `json:"before"`
	Policy PolicyInfo `json:"policy"`
	Error  string     `json:"error"`
}

// DecisionBody is the body of a decision record: enough to judge the request again.
type DecisionBody struct {
	Trial    string       `json:"trial,omitempty"` // the decision about the command whose changes in a trial were judged
	Hook     string       `json:"hook,omitempty"`  // the host that asked by its hook and runs it
	Decision Decision     `json:"result"`
	Exempted []Exempted   `json:"exempted,omitempty"` // findings that refused nothing because the operator exempted them
	Input    *facts.Input `json:"input"`
	Fault    *FaultBody   `json:"fault,omitempty"`
}

// FaultBody is the record of a fault; the agent sees its id only.
type FaultBody struct {
	ID    string `json:"id"`
	Part  string `json:"part"`
	Error string `json:"error"`
}

// ApprovalBody is the body of an approval record.
type ApprovalBody struct {
	Granted bool   `json:"granted"`
	By      string `json:"by"`
	Comment string `json:"comment,omitempty"`
	Trial   string `json:"trial,omitempty"` // why a trial did not answer in place of a person
	Error   string `json:"error,omitempty"`
	// Until is the end of an answer that counts for equal requests of the session, too.
	Until time.Time `json:"until,omitzero"`
}

// OutcomeBody is the body of an outcome record. Output is kept as counts and hashes.
type OutcomeBody struct {
	Started    time.Time  `json:"started"`
	DurationUS int64      `json:"duration_us"`
	ExitCode   int        `json:"exit_code"`
	Signal     string     `json:"signal"`
	TimedOut   bool       `json:"timed_out"`
	Killed     string     `json:"killed"`
	Survivors  int        `json:"survivors"`
	Runner     string     `json:"runner"`
	Isolation  string     `json:"isolation"`
	UserUS     int64      `json:"user_us"`
	SystemUS   int64      `json:"system_us"`
	MaxRSS     int64      `json:"max_rss"`
	OOMKills   int        `json:"oom_kills"`
	Stdout     StreamBody `json:"stdout"`
	Stderr     StreamBody `json:"stderr"`
	Error      string     `json:"error"`
	Held       []Held     `json:"held,omitempty"`     // files that commands left and that were moved aside
	Changes    *Changes   `json:"changes,omitempty"`  // files that were changed meanwhile
	Programs   *Programs  `json:"programs,omitempty"` // that it started; none where they are not judged
	Trial      bool       `json:"trial,omitempty"`    // the changes stayed apart
	// Network and Place are those by which the command was judged; none where they were not looked up.
	Network string              `json:"network,omitempty"`
	Place   *facts.Surroundings `json:"place,omitempty"`
}

// StreamBody is the record of an output stream.
type StreamBody struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}
