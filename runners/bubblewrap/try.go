//go:build linux && (amd64 || arm64)

package bubblewrap

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/runners/canary"
)

// trialAt is where a directory of the host is shown read-only, for the trial.
const trialAt = "/run/sallyport/trial"

// trial are the objects on the host for a trial from inside.
type trial struct {
	canary.Trial
	dir       string
	listeners []net.Listener
}

// prepare sets a trial up in a place that a view hides, and shows the read-only part of it.
func prepare(v *view, o Options) (t *trial, err error) {
	t = &trial{}
	defer func() {
		if err != nil {
			t.remove()
			err = fmt.Errorf("prepare the trial of the sandbox: %w", err)
		}
	}()
	for _, place := range []string{"/tmp", "/var/tmp", "/dev/shm", o.State} {
		if m, ok := v.shown(place); ok && (m.kind == readOnly || m.kind == writable) || place == "" {
			continue
		}
		if t.dir, err = os.MkdirTemp(place, "sallyport-trial-"); err == nil {
			break
		}
	}
	if t.dir == "" {
		return t, errors.Join(errors.New("there is no hidden place to try to reach"), err)
	}
	t.Read, t.Write = filepath.Join(t.dir, "hidden"), filepath.Join(t.dir, "shown")
	if err := os.WriteFile(t.Read, []byte("hidden"), 0o600); err != nil {
		return t, err
	}
	if err := os.Mkdir(t.Write, 0o700); err != nil {
		return t, err
	}
	t.Connect = filepath.Join(t.dir, "socket")
	if err := t.listen("unix", t.Connect); err != nil {
		return t, err
	}
	if o.Network == "none" {
		if err := t.listen("tcp", "127.0.0.1:0"); err != nil {
			return t, err
		}
		t.Dial = t.listeners[len(t.listeners)-1].Addr().String()
	}
	t.PID = os.Getpid()
	if t.Began, err = canary.Began(t.PID); err != nil {
		return t, err
	}
	v.add(mount{kind: readOnly, at: trialAt, source: t.Write})
	return t, nil
}

// listen takes connections, to close them at once.
func (t *trial) listen(network, address string) error {
	l, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	t.listeners = append(t.listeners, l)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_ = c.Close()
		}
	}()
	return nil
}

// remove removes the objects of a trial.
func (t *trial) remove() {
	for _, l := range t.listeners {
		_ = l.Close()
	}
	if t.dir != "" {
		_ = os.RemoveAll(t.dir)
	}
}

// trialTime bounds the trial: it takes some milliseconds.
const trialTime = 10 * time.Second

// try runs the trial in the sandbox and outside of it.
func (e *Environment) try(ctx context.Context, t *trial) error {
	if got := t.Run(); len(got.Done) != t.parts() {
		return fmt.Errorf("try the sandbox: outside of it only this works: %s: so it cannot be tried here", strings.Join(got.Done, ", "))
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
		return fmt.Errorf("try the sandbox: status %d, and says %.200q: use sallyport and sallyport-supervisor of one release", x.Code, x.Stdout.Text+x.Stderr.Text)
	case len(report.Done) > 0:
		return fmt.Errorf("the sandbox does not confine: from inside it one can %s", strings.Join(report.Done, " and "))
	}
	return nil
}

// parts is how many parts the trial has.
func (t *trial) parts() int {
	if t.Dial != "" {
		return 5
	}
	return 4
}

// quote makes one word of a text for a shell.
func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }
