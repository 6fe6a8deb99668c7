package background

import (
	"fmt"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
)

// State is how a shell is doing.
type State string

const (
	Running State = "running"
	Stopped State = "stopped" // ended by itself with status 0
	Failed  State = "failed"  // ended by itself with another status, or how it ended is not known
	Killed  State = "killed"  // ended by us or by a signal
)

// Shell describes a background shell at one moment.
type Shell struct {
	ID       string
	State    State
	PID      int
	Command  string // as it was asked for
	WorkDir  string // in which it runs
	Decision engine.Decision
	Started  time.Time
	Duration time.Duration // until now, or until it ended

	// These are set when it has ended.
	ExitCode  int    // as engine.Exit says it
	Signal    string // that ended the shell's own process; "" when that exited by itself
	TimedOut  bool
	Reason    string // why we ended it, or ""
	Survivors int    // processes of it that could not be ended
	OOMKills  int    // as engine.Exit says it
	Error     string // why it could not run, or why its end is not fully known; or ""
	Fault     string // id of a failure of sallyport itself, or ""
}

// Ended reports whether the shell and everything that it started are gone.
func (s Shell) Ended() bool { return s.State != Running }

// StartTime is the moment of the start as text (RFC 3339), with the zone.
func (s Shell) StartTime() string { return s.Started.Format(time.RFC3339) }

// ended adds how it ended.
func (s Shell) ended(out engine.Outcome) Shell {
	e := out.Exit
	s.ExitCode, s.Signal, s.TimedOut, s.Reason = e.Code, e.Signal, e.TimedOut, e.Killed
	s.Survivors, s.OOMKills, s.Duration = e.Survivors, e.OOMKills, e.Duration
	if e.Error != nil {
		s.Error = e.Error.Error()
	}
	if out.Fault != nil {
		s.Fault = out.Fault.ID
	}
	switch {
	case e.Killed != "" || e.TimedOut || e.Signal != "":
		s.State = Killed
	case e.Code == 0:
		s.State = Stopped
	default:
		s.State = Failed
	}
	return s
}

// LimitError says that no more shells may run. It judges nothing: the policies were not asked.
type LimitError struct {
	Limit    int      // shells that may run at once
	Running  []string // ids of those that do, oldest first
	Starting int      // others that are being decided on
}

func (e *LimitError) Error() string {
	if e.Limit == 0 {
		return "start background shell: limits.background is 0: run it in the foreground"
	}
	starting := ""
	if e.Starting > 0 {
		starting = fmt.Sprintf(", and %d being started", e.Starting)
	}
	return fmt.Sprintf(
		"start background shell: %d may run at once (limits.background): running are %v%s: kill one or wait for "+
			"its end",
		e.Limit, e.Running, starting)
}

// UnknownError says that there is no shell of an id.
type UnknownError struct {
	ID   string
	Keep time.Duration // for how long those that ended are remembered
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf(
		"shell not found: %.40q: it was never started, or it ended and was forgotten (at the latest after %v): "+
			"list the shells", e.ID, e.Keep)
}

// OffsetError says that an output stream has no such place.
type OffsetError struct {
	Stream string
	Offset int64
	Total  int64 // bytes written so far
}

func (e *OffsetError) Error() string {
	return fmt.Sprintf(
		"read %s from offset %d: it has %d bytes so far: use 0 or the offset that was last returned as the next",
		e.Stream, e.Offset, e.Total)
}
