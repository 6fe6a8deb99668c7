package main

import (
	"errors"
	"fmt"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
)

// loadFor reads the configuration for one command; its flags override the file.
func (a *app) loadFor(agent, runner string) (*config.Loaded, error) {
	l, err := a.load()
	if err != nil {
		return nil, err
	}
	if agent != "" {
		if !config.ValidAgent(agent) {
			return nil, usageError{errors.New("--agent " + printable(agent) + `: want letters, digits, ".", "_" and "-", at most 64`)}
		}
		l.Agent = agent
	}
	if runner != "" {
		if _, err := plugins.RunnerNamed(l, runner); err != nil {
			return nil, usageError{fmt.Errorf("--runner: %w", err)}
		}
		l.Runner = runner
	}
	a.log().Info("configuration", "file", l.File, "from", l.Source, "workspace", l.Workspace)
	for _, note := range l.Notes {
		a.say("note: %s", printable(note))
	}
	return l, nil
}
