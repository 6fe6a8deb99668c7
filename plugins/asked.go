package plugins

import (
	"context"
	"errors"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
)

// asked is the request of an example: a command, or the paths of a file tool in the notation of
// facts.ReadTouches.
func asked(text string) engine.Request {
	if tool, touches, ok := facts.ReadTouches(text); ok {
		return engine.Request{Tool: tool, Operation: planned(touches)}
	}
	if words, ok := strings.CutPrefix(text, engine.ToolProgram+": "); ok {
		return engine.Request{Tool: engine.ToolProgram, Command: words}
	}
	return engine.Request{Tool: "execute_command", Command: text}
}

// planned is an operation that is judged and never done.
type planned []facts.Touch

// Plan returns the touches as they were written down.
func (p planned) Plan(facts.FS) ([]facts.Touch, error) { return p, nil }

// Run refuses: an example is not for doing.
func (planned) Run(context.Context, engine.Files, []facts.Path) error {
	return errors.New("an example is judged and not done")
}
