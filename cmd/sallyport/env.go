package main

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/runners/boundary"
)

func (a *app) envCommand() *cobra.Command {
	return group("env", "List, inspect and remove sandboxes and containers", `  sallyport env list
  sallyport env logs --follow
  sallyport env prune --older-than 24h
  sallyport env diff --since 1h
  sallyport env undo 01a2
  sallyport env held
  sallyport env release 01a2
`, a.envList(), a.envLogs(), a.envRemove(), a.envPrune(), a.envHeld(), a.envRelease(),
		a.envDiff(), a.envUndo())
}

func (a *app) envList() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List environments, the last used first",
		Long: `List the environments of this state directory, the last used first.

  running  it works, or a sallyport has it open
  stopped  its container does not run: the next request starts it
  dead     its sallyport ended without closing it: prune removes the rest
  gone     only its log is left
  unknown  its engine or plugin does not answer

Exits with 1 if an engine or plugin does not answer; the known environments are listed anyway.`,
		Args: noArgs,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		all, problem := plugins.Environments(cmd.Context(), l)
		if *f == formatJSON {
			if all == nil {
				all = []plugins.Environment{}
			}
			err = writeIndented(a.out, all)
		} else {
			err = writeTable(a.out, []string{"NAME", "RUNNER", "AGENT", "SESSION", "STATE", "IMAGE", "AGE",
				"WORKSPACE"}, envRows(all, time.Now()))
		}
		return errors.Join(err, problem)
	}
	return cmd
}

func envRows(all []plugins.Environment, now time.Time) [][]string {
	rows := make([][]string, len(all))
	for i, e := range all {
		state := e.State
		if e.Kept {
			state += ", kept"
		}
		rows[i] = []string{e.Name, e.Runner, e.Agent, orDash(e.Session), state, orDash(shortDigest(e.Image)),
			age(now.Sub(e.Created)), e.Workspace}
	}
	return rows
}

// shortDigest is the form of a digest that people are used to; names stay.
func shortDigest(image string) string {
	if digest, ok := strings.CutPrefix(image, "sha256:"); ok {
		return digest[:min(12, len(digest))]
	}
	return image
}

// age words how long ago something was, in its largest unit.
func age(d time.Duration) string {
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

func (a *app) envRemove() *cobra.Command {
	var log bool
	cmd := &cobra.Command{
		Use:   "rm NAME…",
		Short: "End environments and remove them",
		Long: `End environments and remove them: the container, with everything that runs in it. Only containers that this
sallyport made are touched. The log stays, until it is pruned or --log removes it.

NAME may be the beginning of a name, or of a container's id. An environment without a container ends with the
sallyport that has it open, and cannot be ended here.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usageError{errors.New("want the name of at least one environment: sallyport env list shows them")}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&log, "log", false, "remove the log too")
	cmd.RunE = func(cmd *cobra.Command, names []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		all, problem := plugins.Environments(cmd.Context(), l)
		for _, name := range names {
			e, err := plugins.FindEnvironment(all, name)
			if err == nil {
				err = plugins.RemoveEnvironment(cmd.Context(), l, e, log)
			}
			if err != nil {
				problem = errors.Join(problem, err)
				continue
			}
			fmt.Fprintln(a.out, printable(e.Name))
		}
		return problem
	}
	return cmd
}

func (a *app) envPrune() *cobra.Command {
	var kept bool
	var older time.Duration
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Remove leftovers of dead sessions, and old logs",
		Long: `Remove the containers, and places of runner plugins, whose sallyport has ended, and old
logs. Environments in use stay, and so do containers that the configuration keeps (docker.keep), unless
--kept is given.`,
		Args: noArgs,
	}
	cmd.Flags().BoolVar(&kept, "kept", false,
		"also containers that the configuration keeps and that nobody uses",
	)
	cmd.Flags().DurationVar(&older, "older-than", 30*24*time.Hour,
		"age of the logs that go; `0s` for all of environments that nobody has open")
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if older < 0 {
			return usageError{fmt.Errorf("--older-than %s: want 0s or more", older)}
		}
		l, err := a.load()
		if err != nil {
			return err
		}
		p, problem := plugins.PruneEnvironments(cmd.Context(), l, kept, time.Now().Add(-older))
		if *f == formatJSON {
			return errors.Join(writeIndented(a.out, p), problem)
		}
		for _, name := range p.Containers {
			fmt.Fprintf(a.out, "container %s\n", printable(name))
		}
		for _, name := range p.Logs {
			fmt.Fprintf(a.out, "log       %s\n", printable(name))
		}
		if problem == nil && len(p.Containers)+len(p.Logs) == 0 {
			a.say("there is nothing to remove")
		}
		if p.Kept > 0 && !kept {
			a.say("left, since docker.keep says so: %s; --kept removes those that nobody is in",
				count(p.Kept, "container"))
		}
		return problem
	}
	return cmd
}

func (a *app) envHeld() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "held",
		Short: "List files that commands left and that were moved aside",
		Long: `List files that commands left in the workspace and that were moved aside, because programs
of yours would obey them outside of every environment: settings of agents and editors, hooks, the
configuration of repositories.`,
		Args: noArgs,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		all, err := plugins.Held(l)
		if err != nil {
			return err
		}
		if *f == formatJSON {
			if all == nil {
				all = []boundary.Entry{}
			}
			return writeIndented(a.out, all)
		}
		rows := make([][]string, len(all))
		for i, e := range all {
			rows[i] = []string{e.ID, age(time.Since(e.Time)), e.Path, e.Message}
		}
		return writeTable(a.out, []string{"ID", "AGE", "PATH", "REASON"}, rows)
	}
	return cmd
}

func (a *app) envRelease() *cobra.Command {
	var whole bool
	cmd := &cobra.Command{
		Use:   "release ID…",
		Short: "Put held files back",
		Long: `Put files back that "sallyport env held" lists, after you have looked at them. ID names one
file, or a decision with all its files; the beginning of one is enough. The release is put on record first. A
file that was changed at its place since then is left alone.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !whole {
				const want = "want the id of at least one held file, or --all: sallyport env held shows them"
				return usageError{errors.New(want)}
			}
			return nil
		},
	}
	cmd.Flags().BoolVar(&whole, "all", false, "all held files")
	cmd.RunE = func(cmd *cobra.Command, ids []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		var all []boundary.Entry
		if whole {
			all, err = plugins.Held(l)
		}
		for _, id := range ids {
			some, problem := plugins.HeldAs(l, id)
			all, err = append(all, some...), errors.Join(err, problem)
		}
		if err != nil {
			return err
		}
		done, err := plugins.Release(cmd.Context(), l, version().Sallyport, answerer(), all)
		for _, e := range done {
			fmt.Fprintln(a.out, printable(e.Path))
		}
		return err
	}
	return cmd
}

func (a *app) envDiff() *cobra.Command {
	var since string
	cmd := &cobra.Command{
		Use:   "diff",
		Short: "List files that changed while commands and file tools ran",
		Long: `List the files below the workspace and the places for writing that changed while commands and
file tools ran, by the audit log. NOW compares a file with its state at the end of the last of them:

  as left   it has that content
  changed   somebody changed it since
  gone      somebody removed it since
  back      it was removed, and is there again
  unknown   it was not looked into: it is long, or there were many

WHAT says "written" if a file was moved to that name: it may have been there before. OBEYED BY names the
programs of yours, among them agents, that take commands or instructions from a file.`,
		Args: noArgs,
	}
	const help = "a decision, which is included, or a `time` as for audit list"
	cmd.Flags().StringVar(&since, "since", "24h", help)
	f := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		l, dir, err := a.loadLog()
		if err != nil {
			return err
		}
		filter, err := sinceFilter(dir, since, time.Now())
		if err != nil {
			return err
		}
		d, err := diffOf(audit.Read(dir, filter), placesOf(l), l.Layout().Home)
		if err != nil {
			return err
		}
		if *f == formatJSON {
			return writeIndented(a.out, d.rows)
		}
		rows := make([][]string, len(d.rows))
		for i, r := range d.rows {
			rows[i] = []string{r.What, r.Path, r.Now, r.Decision}
		}
		head := []string{"WHAT", "PATH", "NOW", "DECISION"}
		if slices.ContainsFunc(d.rows, func(r diffRow) bool { return len(r.ObeyedBy) > 0 }) {
			head = append(head, "OBEYED BY")
			for i, r := range d.rows {
				rows[i] = append(rows[i], cmp.Or(strings.Join(r.ObeyedBy, ", "), "-"))
			}
		}
		err = writeTable(a.out, head, rows)
		for _, id := range d.partial {
			a.say("not all changes of decision %s are known", id)
		}
		return err
	}
	return cmd
}

// sinceFilter selects the outcomes since a decision or a time.
func sinceFilter(dir, since string, now time.Time) (audit.Filter, error) {
	for e, err := range audit.Read(dir, audit.Filter{Kind: engine.KindDecision, Decision: since}) {
		if err == nil {
			return audit.Filter{Kind: engine.KindOutcome, Since: e.Time}, nil
		}
	}
	at, err := moment(since, now)
	if err != nil {
		return audit.Filter{}, usageError{fmt.Errorf("--since %s: no such decision, and %w", since, err)}
	}
	return audit.Filter{Kind: engine.KindOutcome, Since: at}, nil
}

// placesOf are the directories of a configuration in which commands write.
func placesOf(l *config.Loaded) []string {
	places := []string{string(l.Workspace)}
	for _, g := range l.Paths {
		if g.Access == "write" {
			places = append(places, string(g.Path))
		}
	}
	for i, p := range places {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			places[i] = real
		}
	}
	return places
}

// diffRow is the change of a file since a time.
type diffRow struct {
	What     string    `json:"what"`
	Path     string    `json:"path"`
	Now      string    `json:"now"`
	Decision string    `json:"decision"` // during which it changed last
	Time     time.Time `json:"time"`     // of its end
	ObeyedBy []string  `json:"obeyed_by"`

	first string
	last  engine.Change
}

type diff struct {
	rows    []diffRow
	partial []string // decisions of which not all changes are known
}

// diffOf joins the changes of each file.
func diffOf(entries iter.Seq2[audit.Entry, error], places []string, home string) (d diff, err error) {
	d.rows = []diffRow{}
	at := map[string]int{}
	for e, failed := range entries {
		if failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		o, failed := e.Outcome()
		if failed != nil {
			return d, failed
		}
		if o.Changes == nil {
			continue
		}
		total := o.Changes.Created + o.Changes.Changed + o.Changes.Written + o.Changes.Removed
		if total > len(o.Changes.List) || !o.Changes.Whole {
			d.partial = append(d.partial, e.DecisionID)
		}
		for _, c := range o.Changes.List {
			if !slices.ContainsFunc(places, func(p string) bool { return within(c.Path, p) }) {
				continue
			}
			i, known := at[c.Path]
			if !known {
				i = len(d.rows)
				at[c.Path] = i
				d.rows = append(d.rows, diffRow{Path: c.Path, first: c.What})
			}
			r := &d.rows[i]
			r.last, r.Decision, r.Time = c, e.DecisionID, e.Time
		}
	}
	for i := range d.rows {
		d.rows[i].settle()
		d.rows[i].ObeyedBy = boundary.ObeyedBy(d.rows[i].Path, home)
	}
	d.rows = slices.DeleteFunc(d.rows, func(r diffRow) bool { return r.What == "" })
	slices.SortFunc(d.rows, func(a, b diffRow) int { return strings.Compare(a.Path, b.Path) })
	return d, err
}

// settle combines the first and the last change of a file.
func (r *diffRow) settle() {
	switch {
	case r.first == engine.Created && r.last.What == engine.Removed:
		return // it came and went
	case r.first == engine.Created:
		r.What = engine.Created
	case r.first == engine.Removed && r.last.What == engine.Created:
		r.What = engine.Changed
	default:
		r.What = r.last.What
	}
	r.Now = boundary.Compare(r.last)
}

// within reports a path below a directory.
func within(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && filepath.IsLocal(rel)
}
