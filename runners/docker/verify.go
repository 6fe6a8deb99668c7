package docker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/runners/canary"
	"github.com/sallyport-dev/sallyport/runners/mounts"
	"github.com/sallyport-dev/sallyport/runners/wire"
)

// seen caches the last check of the mounts.
type seen struct {
	mu    sync.Mutex
	last  time.Time
	stale error
}

// lookEvery bounds how often the mounts are looked at.
const lookEvery = 50 * time.Millisecond

// Err says why the environment cannot be used any more. Besides a broken connection, that is a detached
// mount: if a file is replaced outside (as git replaces its configuration), its mount does not cover the new
// file, and commands could write to it. The container is then restarted, as soon as no commands run in it.
func (v *environment) Err() error {
	v.seen.mu.Lock()
	defer v.seen.mu.Unlock()
	if v.seen.stale != nil {
		return v.seen.stale
	}
	if err := v.Environment.Err(); err != nil {
		return err
	}
	if time.Since(v.seen.last) < lookEvery || v.Live() > 0 {
		return nil
	}
	v.seen.last = time.Now()
	if err := v.mounted(); err != nil {
		v.seen.stale = err
		_ = v.Environment.Close()
	}
	return v.seen.stale
}

// verify makes sure that the container shows the granted places: each mount is there and no more writable
// than planned, and its source is the one that was judged, which could have been replaced since.
func (v *environment) verify() error {
	if err := v.mounted(); err != nil {
		return err
	}
	// Where not even the workspace is the same the engine has a machine, and numbers of files, of its own.
	if v.p.workspace.Target == "" {
		return nil
	}
	near, err := v.shows(v.p.workspace)
	if err == nil && !near && (v.near || v.here()) {
		err = fmt.Errorf("container %s: %s was replaced meanwhile: %w", v.p.name, v.p.workspace.Source, errMoved)
	}
	if err != nil || !near {
		return err
	}
	v.near = v.e.at.local()
	for _, b := range v.p.binds {
		ok, err := v.shows(b)
		if errors.Is(err, fs.ErrPermission) {
			continue // the user of commands does not get there either
		}
		if err != nil || !ok {
			return fmt.Errorf("container %s: at %s it does not show the granted place: it was replaced "+
				"meanwhile: %w", v.p.name, b.Target, errors.Join(err, errMoved))
		}
	}
	return nil
}

// shows reports whether a mount shows the file that its source is now.
func (v *environment) shows(m mounts.Mount) (bool, error) {
	a, err := v.FS().Lstat(m.Target)
	if err != nil {
		return false, err
	}
	b, err := os.Lstat(m.Source)
	return err == nil && wire.SameFile(a, b), err
}

// bootID names a start of a kernel.
const bootID = "/proc/sys/kernel/random/boot_id"

// here reports whether the container has the kernel of this machine, and so the same numbers of files.
func (v *environment) here() bool {
	ours, err := os.ReadFile(bootID)
	if err != nil || !v.e.at.local() {
		return false
	}
	there, whole, err := v.FS().ReadFile(bootID, 1<<10)
	return err == nil && whole && len(there) > 0 && bytes.Equal(ours, there)
}

// errMoved is wrapped by the error of a mount behind which lies something else by now.
var errMoved = errors.New("find the program that changes the granted places")

// mounted looks whether all mounts are there, by the container's own table.
func (v *environment) mounted() error {
	text, whole, err := v.FS().ReadFile("/proc/self/mountinfo", 1<<20)
	if err != nil || !whole {
		return fmt.Errorf("container %s: read its mounts: %w", v.p.name, errors.Join(err, v.Environment.Err()))
	}
	at := map[string]bool{} // whether the mount on top can be written to
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if len(fields) < 6 {
			continue
		}
		at[unescaped(fields[4])] = strings.HasPrefix(fields[5], "rw")
	}
	for _, b := range v.p.binds {
		write, there := at[b.Target]
		switch {
		case !there:
			return fmt.Errorf("container %s: nothing is mounted at %s any more: the file was replaced outside",
				v.p.name, b.Target)
		case write && !b.Write:
			return fmt.Errorf("container %s: %s can be written to, and was granted read-only", v.p.name, b.Target)
		}
	}
	return nil
}

// unescaped reads a path of that table, in which blanks and backslashes are octal.
func unescaped(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// tryTime bounds the trial: it takes some milliseconds.
const tryTime = 20 * time.Second

// try attempts from inside the container the acts that it must prevent. That is no evidence where the engine
// has a machine of its own, or a network from which this machine has another address: there nothing is
// tried.
func (v *environment) try(ctx context.Context) (facts.Confinement, error) {
	if !v.near {
		return facts.Confinement{}, nil
	}
	// Any user of this machine reaches these places, so that nothing but the container is in the way.
	places := slices.DeleteFunc([]string{"/var/tmp", "/tmp", "/dev/shm"}, func(place string) bool {
		return slices.ContainsFunc(v.p.binds, func(b mounts.Mount) bool {
			return place == b.Target || strings.HasPrefix(place, b.Target+"/")
		})
	})
	ground, err := canary.Lay(places)
	if err != nil {
		return facts.Confinement{}, nil // as where nothing can be tried
	}
	defer ground.Remove()
	if ground.Outside() != nil {
		return facts.Confinement{}, nil
	}
	t := ground.Trial
	if v.r.o.Network == "bridge" {
		t.Dial = ""
	}
	argument, err := json.Marshal(t)
	if err != nil {
		return facts.Confinement{}, fmt.Errorf("try container %s: %w", v.p.name, err)
	}
	c, err := v.Environment.Prepare("true", "/")
	if err != nil {
		return facts.Confinement{}, fmt.Errorf("try container %s: %w", v.p.name, err)
	}
	// Without the prefix of commands. JSON of these paths, addresses and numbers has no single quote.
	c.Text = program + " --canary '" + string(argument) + "'"
	c.ID, c.Timeout, c.Output = "trial", tryTime, 1<<16
	p, err := v.Environment.Start(ctx, c)
	if err != nil {
		return facts.Confinement{}, fmt.Errorf("try container %s: %w", v.p.name, err)
	}
	return v.trialOf(t, p.Wait())
}

// trialOf reads the report of a trial.
func (v *environment) trialOf(t canary.Trial, x engine.Exit) (facts.Confinement, error) {
	var report canary.Report
	switch {
	case x.Error != nil:
		return facts.Confinement{}, fmt.Errorf("try container %s: %w", v.p.name, x.Error)
	case x.Code != 0 || json.Unmarshal([]byte(x.Stdout.Text), &report) != nil || report.Done == nil:
		return facts.Confinement{}, fmt.Errorf("try container %s: status %d, and says %.200q: "+
			"use sallyport and sallyport-supervisor of one release",
			v.p.name, x.Code, x.Stdout.Text+x.Stderr.Text)
	}
	return report.Confinement(t), nil
}
