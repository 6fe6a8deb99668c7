package engine

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
)

// Terminal is one that a command gets in place of separate streams, so that programs which talk with a person
// do. It is a person's choice, as Request.Stdin is.
type Terminal struct {
	Name string // its kind, as in TERM
	Size WindowSize
}

// WindowSize is how many characters a terminal shows.
type WindowSize struct{ Rows, Columns int }

// Check returns an error for a size that no terminal has.
func (s WindowSize) Check() error {
	const most = 1<<16 - 1 // that a kernel can take down
	if s.Rows < 1 || s.Rows > most || s.Columns < 1 || s.Columns > most {
		return fmt.Errorf("terminal of %d rows and %d columns: want 1 to %d of each", s.Rows, s.Columns, most)
	}
	return nil
}

// terminalName matches names of terminals (term(7)).
var terminalName = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9+._-]{0,63}$`)

// checkTerminal returns an error for a request that cannot have the terminal it asks for.
func (r Request) checkTerminal() error {
	switch t := r.Terminal; {
	case t == nil:
		return nil
	case r.Stdin == nil:
		return fmt.Errorf("%w: a terminal at which nobody types: give it an input", ErrRequest)
	case !terminalName.MatchString(t.Name):
		return fmt.Errorf("%w: terminal %.80q: want a name of letters, digits and +._-", ErrRequest, t.Name)
	default:
		if err := t.Size.Check(); err != nil {
			return fmt.Errorf("%w: %w", ErrRequest, err)
		}
		return nil
	}
}

// attach makes a command one that gets the terminal. Its name belongs to the environment that is judged.
func (t *Terminal) attach(c *Command) {
	if t == nil {
		return
	}
	c.Terminal = &t.Size
	c.Env = append(slices.DeleteFunc(slices.Clone(c.Env),
		func(kv string) bool { return strings.HasPrefix(kv, "TERM=") }), "TERM="+t.Name)
}
