package engine

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Fault is something of ours that broke. It denies; an agent gets no more than its id and Advice.
type Fault struct {
	ID   string
	Part string // "environment", "facts", "policy", "audit", "run"
	Err  error
}

// Error names the part and the cause. It is for the operator, not for the agent.
func (f *Fault) Error() string { return fmt.Sprintf("fault %s in %s: %v", f.ID, f.Part, f.Err) }

// Unwrap returns the cause.
func (f *Fault) Unwrap() error { return f.Err }

// Advice is the text of the Advised error in the cause; "" if there is none.
func (f *Fault) Advice() string {
	if a, ok := errors.AsType[*Advised](f.Err); ok {
		return a.Advice
	}
	return ""
}

// Advised is an error with advice for agents and their users, about an installation or a setting. It
// holds nothing of a request and no path.
type Advised struct {
	Err    error
	Advice string
}

func (a *Advised) Error() string { return a.Err.Error() }

// Unwrap returns the error without the text.
func (a *Advised) Unwrap() error { return a.Err }

func newFault(part string, err error) *Fault { return &Fault{ID: "F-" + newID(), Part: part, Err: err} }

// newID returns an id that sorts by time (RFC 9562, version 7).
func newID() string { return uuid.Must(uuid.NewV7()).String() }
