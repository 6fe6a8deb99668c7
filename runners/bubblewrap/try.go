//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/runners/canary"
)

// trialAt is where a directory of the host is shown read-only, for the trial.
const trialAt = "/run/sallyport/trial"

// prepare sets a trial up in a place that a view hides, and shows a part of it read-only.
func prepare(v *view, o Options) (*canary.Ground, error) {
	var hidden []string
	for _, place := range []string{"/tmp", "/var/tmp", "/dev/shm", o.State} {
		m, ok := v.shown(place)
		if place != "" && !(ok && (m.kind == readOnly || m.kind == writable)) {
			hidden = append(hidden, place)
		}
	}
	t, err := canary.Lay(hidden)
	if err != nil {
		return nil, fmt.Errorf("prepare the trial of the sandbox: %w", err)
	}
	v.add(mount{kind: readOnly, at: trialAt, source: t.Write})
	return t, nil
}

// trialTime bounds the trial: it takes some milliseconds.
const trialTime = 10 * time.Second

// try runs the trial in the sandbox and outside of it.
func (e *Environment) try(ctx context.Context, t *canary.Ground) error {
	if err := t.Outside(); err != nil {
		return fmt.Errorf("try the sandbox: %w", err)
	}
	inside := t.Trial
	inside.Write = trialAt
	argument, err := json.Marshal(inside)
	if err != nil {
		return fmt.Errorf("try the sandbox: %w", err)
	}
	c, err := e.Prepare("true", "/")
	if err != nil {
		return fmt.Errorf("try the sandbox: %w", err)
	}
	c.Text = supervisorAt + " --canary " + quote(string(argument)) // without the prefix of commands
	c.ID, c.Timeout, c.Output = "trial", trialTime, 1<<16
	p, err := e.Start(ctx, c)
	if err != nil {
		return fmt.Errorf("try the sandbox: %w", err)
	}
	x := p.Wait()
	var report canary.Report
	switch {
	case x.Error != nil:
		return fmt.Errorf("try the sandbox: %w", x.Error)
	case x.TimedOut:
		return fmt.Errorf("try the sandbox: %w", context.DeadlineExceeded)
	case x.Code != 0 || json.Unmarshal([]byte(x.Stdout.Text), &report) != nil || report.Done == nil:
		return fmt.Errorf(
			"try the sandbox: status %d, and says %.200q: use sallyport and sallyport-supervisor of one release",
			x.Code, x.Stdout.Text+x.Stderr.Text)
	}
	e.tried = report.Confinement(inside)
	broken := slices.DeleteFunc(report.Done, func(part string) bool {
		return part == canary.Dial && e.o.Network == "host"
	})
	if len(broken) > 0 {
		can := strings.Join(broken, " and ")
		return fmt.Errorf("the sandbox does not confine: from inside it one can %s", can)
	}
	return nil
}

// quote makes one word of a text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
