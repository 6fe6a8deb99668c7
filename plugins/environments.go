package plugins

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/runners/command"
	"github.com/sallyport-dev/sallyport/runners/docker"
	"github.com/sallyport-dev/sallyport/runners/journal"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

// Environment describes an environment: from its log, and from its keeper.
type Environment struct {
	Name      string    `json:"name"`
	Runner    string    `json:"runner"`
	Agent     string    `json:"agent"`
	Session   string    `json:"session"`
	Workspace string    `json:"workspace"`
	State     string    `json:"state"` // running, stopped, dead, gone, unknown
	Image     string    `json:"image"`
	Container string    `json:"container"` // its id, or the name of a plugin's place; "" for none
	Kept      bool      `json:"kept"`      // it stays when its session ends
	Created   time.Time `json:"created"`
	Used      time.Time `json:"used"` // when its log was written to last
	Log       string    `json:"log"`  // "" for none
}

// States of an environment.
const (
	envRunning = "running" // it is there and works, or a sallyport has it open
	envStopped = "stopped" // its container is there and does not run
	envDead    = "dead"    // the sallyport that had it lives no more, and did not close it
	envGone    = "gone"    // nothing of it is left but its log
	envUnknown = "unknown" // its keeper cannot be asked
)

// engineTime bounds the wait for an engine that only adds to the log.
const engineTime = 15 * time.Second

// Environments lists the environments of the state directory, the last used one first. An incomplete list
// comes with an error.
func Environments(ctx context.Context, l *config.Loaded) ([]Environment, error) {
	all, _, err := environments(ctx, l)
	return all, err
}

// environments returns the keepers, too: those that have answered.
func environments(ctx context.Context, l *config.Loaded) (out []Environment, asked keepers, err error) {
	logs, err := journal.List(l.EnvironmentsDir())
	asked, failed := askKeepers(ctx, l)
	err = errors.Join(err, failed)
	ctx, cancel := context.WithTimeout(ctx, engineTime)
	defer cancel()
	containers, unasked := docker.List(ctx, DockerOptions(l))
	for _, j := range logs {
		e := environmentOf(j)
		if k := asked[j.Runner]; k != nil {
			e.placed(k, j)
			out = append(out, e)
			continue
		}
		switch i := slices.IndexFunc(containers, func(c docker.Container) bool { return c.Name == j.Name }); {
		case i >= 0:
			e.contained(containers[i])
			containers = slices.Delete(containers, i, i+1)
		case isDocker(j.Runner) && e.State != envRunning && unasked != nil:
			e.State = envUnknown
		case isDocker(j.Runner) && e.State != envRunning:
			e.State = envGone
		}
		out = append(out, e)
	}
	for _, c := range containers { // their logs were pruned, or could not be written
		e := Environment{Name: c.Name, Runner: c.Runner, Agent: c.Agent, Session: c.Session, Workspace: c.Workspace}
		e.contained(c)
		out = append(out, e)
	}
	for _, name := range slices.Sorted(maps.Keys(asked)) {
		for _, p := range asked[name].places {
			e := Environment{Name: p.Name, Runner: name}
			e.keptAs(p)
			out = append(out, e)
		}
	}
	slices.SortStableFunc(out, func(a, b Environment) int { return cmp.Compare(-a.lastUsed(), -b.lastUsed()) })
	if unasked != nil && usesDocker(l, out) {
		err = errors.Join(err, fmt.Errorf("cannot list containers: %w", unasked))
	}
	return out, asked, err
}

func (e Environment) lastUsed() int64 {
	if e.Used.IsZero() {
		return e.Created.UnixNano()
	}
	return e.Used.UnixNano()
}

func isDocker(runner string) bool { return runner == "docker" || runner == "docker-sudo" }

// usesDocker reports whether it matters that no engine answers.
func usesDocker(l *config.Loaded, all []Environment) bool {
	return isDocker(l.Runner) || slices.ContainsFunc(all, func(e Environment) bool { return isDocker(e.Runner) })
}

// environmentOf is the log's description.
func environmentOf(j journal.Environment) Environment {
	image, _ := j.Details["image"].(string)
	e := Environment{
		Name: j.Name, Runner: j.Runner, Agent: j.Agent, Session: j.Session, Workspace: j.Workspace,
		Image: image, Created: j.Since, Used: j.Last, Log: j.Log,
	}
	switch j.State {
	case journal.Running:
		e.State = envRunning
	case journal.Dead:
		e.State = envDead
	default:
		e.State = envGone
	}
	return e
}

// contained adds the engine's description.
func (e *Environment) contained(c docker.Container) {
	open := e.State == envRunning
	e.Container, e.Created, e.Kept = c.ID, c.Created, c.Kept
	if e.Image == "" { // the log has the name; the engine may have nothing but the digest
		e.Image = c.Image
	}
	switch {
	case c.Dead && !c.Kept && !open:
		e.State = envDead
	case c.State == "running":
		e.State = envRunning
	default:
		e.State = envStopped
	}
}

// keeper is a runner of the configuration that keeps places, and its answer.
type keeper struct {
	*command.Runner
	places []command.Kept // that no log has named so far
	failed error
}

// keepers are the runners of a configuration that keep places, by name.
type keepers map[string]*keeper

// askKeepers asks each for its places.
func askKeepers(ctx context.Context, l *config.Loaded) (keepers, error) {
	all, errs := keepers{}, []error(nil)
	for _, name := range slices.Sorted(maps.Keys(l.Runners)) {
		r, err := commandRunner(l, name, nil)
		if err == nil && r.Keeps() {
			k := &keeper{Runner: r}
			k.places, err = r.Places(ctx, command.VerbList)
			k.failed, all[name] = err, k
		}
		errs = append(errs, err)
	}
	return all, errors.Join(errs...)
}

// placed adds a plugin's description of the place that the log of an environment names.
func (e *Environment) placed(k *keeper, j journal.Environment) {
	id, _ := j.Details["container_id"].(string)
	i := slices.IndexFunc(k.places, func(p command.Kept) bool { return p.Name == id })
	switch {
	case i >= 0:
		e.keptAs(k.places[i])
		k.places = slices.Delete(k.places, i, i+1)
	case e.State == envRunning:
	case k.failed == nil:
		e.State = envGone
	default:
		e.State = envUnknown
	}
}

// keptAs adds a plugin's description of a place. A gate that has it open knows better than the plugin.
func (e *Environment) keptAs(p command.Kept) {
	e.Container, e.Created, e.Image = p.Name, p.Created, cmp.Or(e.Image, p.Image)
	if p.State != envDead || e.State != envRunning {
		e.State = p.State
	}
}

// FindEnvironment finds an environment by its name, by the beginning of it, or by the beginning of its
// container's id.
func FindEnvironment(all []Environment, name string) (Environment, error) {
	var found []Environment
	for _, e := range all {
		if e.Name == name || e.Container == name && name != "" {
			return e, nil
		}
		if name != "" && (strings.HasPrefix(e.Name, name) || strings.HasPrefix(e.Container, name)) {
			found = append(found, e)
		}
	}
	switch len(found) {
	case 0:
		return Environment{}, fmt.Errorf("no environment is named %q: sallyport env list shows all", name)
	case 1:
		return found[0], nil
	}
	return Environment{}, fmt.Errorf("%q is the beginning of %d names: give more of it", name, len(found))
}

// RemoveEnvironment ends and removes an environment: its container with all that runs in it, and with log
// its log too. One that a sallyport has open without a container ends with that sallyport and not here.
func RemoveEnvironment(ctx context.Context, l *config.Loaded, e Environment, log bool) error {
	switch {
	case e.Container != "":
		if err := removePlace(ctx, l, e); err != nil {
			return err
		}
		noteRemoval(l, e, "sallyport env rm")
	case e.State == envRunning:
		return fmt.Errorf("remove environment %s: %w: end that one", e.Name, journal.ErrOpen)
	case e.State == envUnknown:
		return fmt.Errorf(
			"remove environment %s: whether it has a container is not known, as the engine cannot be asked", e.Name)
	case !log:
		return fmt.Errorf("remove environment %s: nothing of it is left but its log: --log removes that", e.Name)
	}
	if log && e.Log != "" {
		return journal.Remove(l.EnvironmentsDir(), e.Name)
	}
	return nil
}

// removePlace removes the place of an environment by its keeper.
func removePlace(ctx context.Context, l *config.Loaded, e Environment) error {
	if isDocker(e.Runner) {
		return docker.Remove(ctx, DockerOptions(l), e.Container)
	}
	r, err := commandRunner(l, e.Runner, nil)
	if err == nil {
		_, err = r.Places(ctx, command.VerbRemove, e.Container)
	}
	return err
}

// noteRemoval tells the log of a container that it is gone.
func noteRemoval(l *config.Loaded, e Environment, by string) {
	if e.Log == "" {
		return
	}
	redactor, err := audit.RedactorFor(string(l.Audit.Dir), redact.Extra{})
	if err != nil {
		redactor = redact.New(nil, redact.Extra{})
	}
	id := journal.Identity{Runner: e.Runner, Agent: e.Agent, Session: e.Session, Workspace: e.Workspace}
	journal.Tell(journalOptions(l, redactor, nil), e.Name, id, "remove",
		map[string]any{"container": e.Container, "by": by})
}

// Pruned lists the removed objects.
type Pruned struct {
	Containers []string `json:"containers"` // names
	Logs       []string `json:"logs"`       // names of environments
	Kept       int      `json:"kept"`       // containers that were to stay, and are still there
}

// PruneEnvironments removes the containers of sessions of dead sallyport processes, with kept also kept ones,
// the places of plugins that belong to ended sessions, the logs without an entry since a time, and the
// earlier versions of files without a change since then or for longer than the configuration keeps them.
func PruneEnvironments(ctx context.Context, l *config.Loaded, kept bool, before time.Time) (Pruned, error) {
	all, asked, err := environments(ctx, l)
	p := Pruned{Containers: []string{}, Logs: []string{}}
	answered := func(e Environment) bool { return isDocker(e.Runner) && e.State != envUnknown }
	if slices.ContainsFunc(all, answered) { // of one that is gone volumes may be left
		removed, failed := docker.Prune(ctx, DockerOptions(l), kept)
		err = errors.Join(err, failed)
		for _, c := range removed {
			p.Containers = append(p.Containers, c.Name)
			if i := slices.IndexFunc(all, func(e Environment) bool { return e.Container == c.ID }); i >= 0 {
				noteRemoval(l, all[i], "sallyport env prune")
			}
		}
	}
	pruned, failed := asked.prune(ctx, l, all)
	p.Containers, err = append(p.Containers, pruned...), errors.Join(err, failed)
	for _, e := range all {
		if e.Kept && !slices.Contains(p.Containers, e.Name) {
			p.Kept++
		}
	}
	if keep := time.Now().Add(-time.Duration(l.Undo.Keep)); keep.After(before) {
		undo.Prune(l.UndoDir(), int64(l.Undo.Size), keep)
	} else {
		undo.Prune(l.UndoDir(), int64(l.Undo.Size), before)
	}
	logs, logErr := journal.Prune(l.EnvironmentsDir(), before)
	p.Logs = append(p.Logs, logs...)
	return p, errors.Join(err, logErr)
}

// prune has plugins remove the places of sessions that have ended, and returns their names.
func (k keepers) prune(ctx context.Context, l *config.Loaded, all []Environment) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(k)) {
		if k[name].failed != nil {
			continue // it was told
		}
		removed, failed := k[name].Places(ctx, command.VerbPrune)
		err = errors.Join(err, failed)
		for _, p := range removed {
			names = append(names, p.Name)
			if i := slices.IndexFunc(all, func(e Environment) bool {
				return e.Runner == name && e.Container == p.Name
			}); i >= 0 {
				noteRemoval(l, all[i], "sallyport env prune")
			}
		}
	}
	return names, err
}
