package journal

import "time"

// Kind is the kind of an event.
type Kind string

const (
	KindEnvironment Kind = "environment" // the first line of each file: its environment
	KindOpening     Kind = "opening"     // it is being opened; the details give the purpose
	KindStep        Kind = "step"        // an action of the runner, such as to create or to remove a container
	KindOpened      Kind = "opened"      // it can be used; the details describe it
	KindFailed      Kind = "failed"      // it could not be opened
	KindCommand     Kind = "command"     // a command is about to start
	KindOutput      Kind = "output"      // a command that takes long: its output so far
	KindExit        Kind = "exit"        // a command ended
	KindBroke       Kind = "broke"       // it can be used no more; the next request opens it again
	KindClosed      Kind = "closed"      // its gateway is done with it
)

// Event is a line of a log.
type Event struct {
	Time    time.Time `json:"time"`
	Event   Kind      `json:"event"`
	Gateway int       `json:"gateway"` // the process id of the sallyport that tells it

	*Identity `json:",omitempty"` // of an environment line

	Step    string         `json:"step,omitempty"`
	Details map[string]any `json:"details,omitempty"`

	Decision  string   `json:"decision,omitempty"` // its id, of a command and all that follows from it
	Text      string   `json:"text,omitempty"`
	WorkDir   string   `json:"work_dir,omitempty"`
	Timeout   float64  `json:"timeout_seconds,omitempty"`
	Elevated  bool     `json:"elevated,omitempty"`
	Variables []string `json:"variables,omitempty"` // names, where they are not those of the command before

	Code      *int    `json:"exit_code,omitempty"`
	Signal    string  `json:"signal,omitempty"`
	TimedOut  bool    `json:"timed_out,omitempty"`
	Killed    string  `json:"killed,omitempty"`
	Survivors int     `json:"survivors,omitempty"`
	OOMKills  int     `json:"oom_kills,omitempty"`
	Seconds   float64 `json:"seconds,omitempty"`
	Stdout    *Output `json:"stdout,omitempty"`
	Stderr    *Output `json:"stderr,omitempty"`

	Error string `json:"error,omitempty"`
}
