package engine

import (
	"fmt"

	"github.com/google/uuid"
)

// Fault is something of ours that broke. It denies; the agent is told no more than its id.
type Fault struct {
	ID   string
	Part string // "environment", "facts", "policy", "audit", "run"
	Err  error
}

// Error names the part and the cause. It is for the operator, not for the agent.
func (f *Fault) Error() string { return fmt.Sprintf("fault %s in %s: %v", f.ID, f.Part, f.Err) }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

func newFault(part string, err error) *Fault { return &Fault{ID: "F-" + newID(), Part: part, Err: err} }

// newID returns an id that sorts by time (RFC 9562, version 7).
func newID() string { return uuid.Must(uuid.NewV7()).String() }
