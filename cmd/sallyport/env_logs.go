package main

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/runners/journal"
	"github.com/sallyport-dev/sallyport/runners/undo"
)

func (a *app) envLogs() *cobra.Command {
	var follow bool
	var last int
	var decision string
	cmd := &cobra.Command{
		Use:   "logs [NAME]",
		Short: "Show the log of an environment",
		Long: `Show the log of an environment: its specification, its commands with their results and the head and
tail of their output. Without NAME it is the log of the last used environment.

The log outlives the environment. It is no audit record: sallyport audit list shows those.`,
		Args: atMostOne,
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on until interrupted")
	cmd.Flags().IntVarP(&last, "last", "n", 0, "only the last `n` events; 0 for all")
	cmd.Flags().StringVar(&decision, "decision", "", "only the command of this decision `id`")
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if last < 0 {
			return usageError{errors.New("--last: want 0 or more")}
		}
		l, err := a.load()
		if err != nil {
			return err
		}
		name, err := a.logOf(l.EnvironmentsDir(), args)
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		w := logWriter{a: a, format: *f, decision: decision}
		var more iter.Seq2[journal.Event, []byte]
		if follow { // first, so that events which are written meanwhile are not lost
			more = journal.Follow(ctx, l.EnvironmentsDir(), name)
		}
		if err := w.write(lastOf(journal.Read(l.EnvironmentsDir(), name), last, w.wants)); err != nil || !follow {
			return err
		}
		return w.write(more)
	}
	return cmd
}

// logOf finds the environment of a log by its name.
func (a *app) logOf(dir string, args []string) (string, error) {
	all, problem := journal.List(dir)
	if problem != nil {
		a.complain(problem)
	}
	if len(args) == 0 {
		if len(all) == 0 {
			return "", errors.New("there is no environment yet: one is made with the first command that runs")
		}
		return all[0].Name, nil
	}
	named := make([]plugins.Environment, len(all))
	for i, e := range all {
		id, _ := e.Details["container_id"].(string)
		named[i] = plugins.Environment{Name: e.Name, Container: id}
	}
	e, err := plugins.FindEnvironment(named, args[0])
	return e.Name, err
}

// lastOf takes the last events of a log that are wanted; with 0 all of them, as they come.
func lastOf(events iter.Seq2[journal.Event, []byte], n int,
	wanted func(journal.Event) bool) iter.Seq2[journal.Event, []byte] {
	if n == 0 {
		return events
	}
	type event struct {
		journal.Event
		line []byte
	}
	var kept []event
	for e, line := range events {
		if !wanted(e) {
			continue
		}
		if len(kept) == n {
			kept = slices.Delete(kept, 0, 1)
		}
		kept = append(kept, event{e, line})
	}
	return func(yield func(journal.Event, []byte) bool) {
		for _, e := range kept {
			if !yield(e.Event, e.line) {
				return
			}
		}
	}
}

// logWriter prints events.
type logWriter struct {
	a        *app
	format   format
	decision string
}

func (w logWriter) wants(e journal.Event) bool { return w.decision == "" || e.Decision == w.decision }

func (w logWriter) write(events iter.Seq2[journal.Event, []byte]) error {
	for e, line := range events {
		if !w.wants(e) {
			continue
		}
		var err error
		if w.format == formatJSON {
			_, err = fmt.Fprintf(w.a.out, "%s\n", line)
		} else {
			err = w.text(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// text prints an event for people: the event on a line, output indented below it.
func (w logWriter) text(e journal.Event) error {
	line := fmt.Sprintf("%-20s  %-11s  %s", e.Time.UTC().Format(time.RFC3339), e.Event, printable(told(e)))
	_, err := fmt.Fprintln(w.a.out, strings.TrimRight(line, " "))
	for _, s := range []struct {
		mark string
		out  *journal.Output
	}{{"|", e.Stdout}, {"!", e.Stderr}} {
		if err == nil && s.out != nil {
			err = w.output(s.mark, s.out)
		}
	}
	return err
}

// told is an event in a few words.
func told(e journal.Event) string {
	switch e.Event {
	case journal.KindEnvironment:
		if e.Identity != nil {
			return fmt.Sprintf("runner %s, agent %s, session %s, workspace %s", e.Runner, e.Agent, orDash(e.Session),
				e.Workspace)
		}
	case journal.KindStep:
		return strings.TrimSuffix(e.Step+": "+details(e.Details), ": ")
	case journal.KindOpening, journal.KindOpened:
		return details(e.Details)
	case journal.KindCommand:
		if e.Elevated {
			return e.Decision + "  elevated, in " + e.WorkDir + ": " + e.Text
		}
		return e.Decision + "  in " + e.WorkDir + ": " + e.Text
	case journal.KindOutput:
		return e.Decision + "  so far:"
	case journal.KindExit:
		return e.Decision + "  " + ending(e)
	}
	return e.Error
}

// ending says how a command ended.
func ending(e journal.Event) string {
	var how []string
	if e.Code != nil && *e.Code >= 0 {
		how = append(how, fmt.Sprintf("exit %d", *e.Code))
	}
	add := func(is bool, format string, args ...any) {
		if is {
			how = append(how, fmt.Sprintf(format, args...))
		}
	}
	add(e.Signal != "", "%s", e.Signal)
	add(e.TimedOut, "timed out")
	add(e.Killed != "", "killed: %s", e.Killed)
	add(e.OOMKills > 0, "%d processes killed for want of memory", e.OOMKills)
	add(e.Survivors > 0, "%d processes could not be ended", e.Survivors)
	add(e.Error != "", "%s", e.Error)
	return fmt.Sprintf("%s after %s", strings.Join(how, ", "),
		time.Duration(e.Seconds*float64(time.Second)).Round(time.Millisecond))
}

// details are the other fields of an event, in the order of their names.
func details(d map[string]any) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(d)) {
		switch v := d[k].(type) {
		case nil:
		case []any:
			if len(v) > 0 {
				words := make([]string, len(v))
				for i := range v {
					words[i] = fmt.Sprint(v[i])
				}
				out = append(out, k+" "+strings.Join(words, ", "))
			}
		case string:
			if v != "" {
				out = append(out, k+" "+v)
			}
		case float64:
			out = append(out, k+" "+strconv.FormatFloat(v, 'f', -1, 64))
		default:
			out = append(out, fmt.Sprintf("%s %v", k, v))
		}
	}
	return strings.Join(out, "; ")
}

// output prints the kept part of a stream, with a mark before each line.
func (w logWriter) output(mark string, o *journal.Output) error {
	lines := strings.Split(strings.TrimSuffix(o.Head, "\n"), "\n")
	if o.Tail != "" {
		lines = append(lines, fmt.Sprintf("… %d bytes in all …", o.Bytes))
		lines = append(lines, strings.Split(strings.TrimSuffix(o.Tail, "\n"), "\n")...)
	}
	for _, line := range lines {
		if _, err := fmt.Fprintf(w.a.out, "  %s %s\n", mark, printable(line)); err != nil {
			return err
		}
	}
	return nil
}

func (a *app) envUndo() *cobra.Command {
	var since string
	var session, force bool
	cmd := &cobra.Command{
		Use:   "undo DECISION|--since DECISION|--session",
		Short: "Take back the changes that commands made to files",
		Long: `Take back the changes that commands made to files in the workspace and the places for
writing: those of one decision, of a decision and all later ones in this workspace (--since), or of the last
session with changes (--session). The beginning of a decision's id is enough. The undo is put on record first.
RESULT says:

  restored  the file is as it was
  removed   the command made the file
  conflict  somebody changed the file since: it is left
  lost      its earlier version was not kept: it is left
  failed    it could not be restored

Changes are recorded in sandboxes and in containers of docker. Nothing can be taken back of file tools,
docker-sudo, commands without a sandbox, and runners elsewhere. An interrupted undo is continued by the same
command.

Exits with 1 if a file is left.`,
		Args: func(_ *cobra.Command, args []string) error {
			chosen := len(args)
			for _, is := range []bool{since != "", session} {
				if is {
					chosen++
				}
			}
			if chosen != 1 {
				const want = "want one of a decision, --since and --session: " +
					"sallyport env diff names decisions"
				return usageError{errors.New(want)}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "this `decision` and all later ones in this workspace")
	cmd.Flags().BoolVar(&session, "session", false, "the last session with changes")
	const help = "also files that changed since, or whose state at the end of the command is not known"
	cmd.Flags().BoolVar(&force, "force", false, help)
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		id := strings.Join(append(args, since), "")
		all, err := plugins.UndoableIn(l)
		if err != nil {
			return err
		}
		if since != "" && !decided(l, since) {
			return fmt.Errorf("undo --since %s: no such decision: sallyport audit list shows them", since)
		}
		var results []undo.Result
		chosen, err := choose(all, id, since != "", session)
		if err == nil && len(chosen) == 0 {
			results, err = nothingKept(l, id, session)
		} else if err == nil {
			results, err = plugins.Undo(cmd.Context(), l, version().Sallyport, answerer(), chosen, force)
		}
		return errors.Join(a.showUndo(results, *f, err == nil || len(results) > 0), err)
	}
	return cmd
}

// choose selects decisions.
func choose(all []plugins.Undoable, id string, since, session bool) ([]plugins.Undoable, error) {
	if session {
		var last plugins.Undoable
		for _, u := range all {
			if !u.Session.Opened.Before(last.Session.Opened) {
				last = u
			}
		}
		other := func(u plugins.Undoable) bool { return u.Session.ID != last.Session.ID }
		return slices.DeleteFunc(all, other), nil
	}
	first := -1
	for i, u := range all {
		if !strings.HasPrefix(u.Decision, id) {
			continue
		}
		if first >= 0 && all[first].Decision != u.Decision {
			return nil, fmt.Errorf("undo %s: more than one decision begins so: write more of it", id)
		}
		if first < 0 {
			first = i
		}
	}
	switch {
	case since && first < 0: // it changed nothing; ids sort by time
		return slices.DeleteFunc(all, func(u plugins.Undoable) bool { return u.Decision < id }), nil
	case first < 0:
		return nil, nil
	case since:
		return all[first:], nil
	}
	found := all[first].Decision
	return slices.DeleteFunc(all, func(u plugins.Undoable) bool { return u.Decision != found }), nil
}

// nothingKept lists the changes of a decision without a record of them.
func nothingKept(l *config.Loaded, id string, session bool) ([]undo.Result, error) {
	if session {
		return nil, errors.New("undo --session: no session of this workspace has recorded changes")
	}
	if !decided(l, id) {
		return nil, fmt.Errorf("undo %s: no such decision: sallyport audit list shows them", id)
	}
	results, err := plugins.Unrecorded(l, id, nil)
	if err == nil {
		const text = "undo %s: it has no recorded changes that are not undone: nothing can be taken back"
		err = fmt.Errorf(text, id)
	}
	return results, err
}

// decided reports a decision of the audit log.
func decided(l *config.Loaded, id string) bool {
	filter := audit.Filter{Kind: engine.KindDecision, Decision: id}
	for _, err := range audit.Read(string(l.Audit.Dir), filter) {
		if err == nil {
			return true
		}
	}
	return false
}

// showUndo prints the results. It is an error if a file is left.
func (a *app) showUndo(results []undo.Result, f format, show bool) error {
	if !show {
		return nil
	}
	if results == nil {
		results = []undo.Result{}
	}
	left := 0
	rows := make([][]string, len(results))
	for i, r := range results {
		rows[i] = []string{r.Result, orDash(r.Path), orDash(r.Decision), orDash(r.Message)}
		if r.Left() {
			left++
		}
	}
	var err error
	if f == formatJSON {
		err = writeIndented(a.out, results)
	} else if len(results) > 0 {
		err = writeTable(a.out, []string{"RESULT", "PATH", "DECISION", "REASON"}, rows)
	}
	if left > 0 {
		err = errors.Join(err, fmt.Errorf("undo: %s left", count(left, "file")))
	}
	return err
}
