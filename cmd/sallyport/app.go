package main

import (
	"errors"

	"github.com/sallyport-dev/sallyport/engine/config"
)

// loadFor reads the configuration for one command, with what its flags say in place of the file.
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
		l.Runner = runner
	}
	for _, note := range l.Notes {
		a.log().Warn(note)
	}
	return l, nil
}
