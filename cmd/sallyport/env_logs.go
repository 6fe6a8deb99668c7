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

	"github.com/sallyport-dev/sallyport/plugins"
	"github.com/sallyport-dev/sallyport/runners/journal"
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
func lastOf(events iter.Seq2[journal.Event, []byte], n int, wanted func(journal.Event) bool) iter.Seq2[journal.Event, []byte] {
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
			return fmt.Sprintf("runner %s, agent %s, session %s, workspace %s", e.Runner, e.Agent, orDash(e.Session), e.Workspace)
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
	return fmt.Sprintf("%s after %s", strings.Join(how, ", "), time.Duration(e.Seconds*float64(time.Second)).Round(time.Millisecond))
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
