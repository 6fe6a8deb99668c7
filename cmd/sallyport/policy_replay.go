package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

// replayFlags are the flags of policy replay.
type replayFlags struct {
	policies     []string
	since, until string
	monitor, all bool
	format       *format
}

func (a *app) policyReplay() *cobra.Command {
	var f replayFlags
	cmd := &cobra.Command{
		Use:   "replay [LOG]",
		Short: "Judge recorded requests again and show the changes",
		Long: `Judge recorded requests again, under the policies of the configuration or of --policy, and show the
changes: decisions, and the rules that give reasons. LOG is an audit directory or a file of records, by
default the log of the configuration. Nothing runs, and nothing is recorded.

The facts are those that were recorded, so a change of paths or of the runner makes no difference here. Patterns of
commands (allow, deny, exemptions) are those of the configuration.

With --monitor, show the commands that monitor mode allowed and that enforcement would have refused or asked
about.

Exits with 0 without changes, 3 with any, 1 for an error.`,
		Example: `  sallyport policy replay --policy new-policies --since 168h
  sallyport policy replay --monitor
  sallyport policy replay recorded.jsonl --policy policies --format json`,
		Args: atMostOne,
	}
	flags := cmd.Flags()
	flags.StringArrayVar(&f.policies, "policy", nil,
		"`directory` of policies to judge by, in place of those configured; may be repeated")
	flags.StringVar(&f.since, "since", "", "records since `time`: 2h (ago), 2026-01-31, or an RFC 3339 time")
	flags.StringVar(&f.until, "until", "", "records before `time`")
	flags.BoolVar(&f.monitor, "monitor", false, "show the commands that enforcement would have refused")
	flags.BoolVar(&f.all, "all", false, "list all commands, not only those that change most often")
	f.format = formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return a.replay(cmd.Context(), args, f) }
	return cmd
}

func (a *app) replay(ctx context.Context, args []string, f replayFlags) error {
	l, err := a.load()
	if err != nil {
		return err
	}
	if len(f.policies) > 0 {
		for _, p := range f.policies {
			if rego.IsRemote(p) {
				return usageError{fmt.Errorf("--policy %s: want a directory or a bundle that is a file", printable(p))}
			}
		}
		l.Policies, l.PolicyServers = f.policies, nil
	}
	o := plugins.ReplayOptions{Keep: plugins.Replayed.Changed, Complain: a.atMost(shownComplaints)}
	if f.monitor {
		o.Keep = wouldRefuse
	}
	if o.Since, err = moment(f.since, time.Now()); err != nil {
		return usageError{fmt.Errorf("--since %w", err)}
	}
	if o.Until, err = moment(f.until, time.Now()); err != nil {
		return usageError{fmt.Errorf("--until %w", err)}
	}
	entries, size, err := recordsOf(l, args)
	if err != nil {
		return err
	}
	bar := a.progress(size)
	o.Read = bar.add
	start := time.Now()
	found, err := o.Judge(ctx, l, entries)
	bar.clear()
	if err != nil {
		return err
	}
	if err := a.writeReplay(found, f, time.Since(start)); err != nil {
		return err
	}
	switch {
	case found.Broken > 0:
		return exitStatus(exitBroken)
	case len(found.All) > 0:
		return exitStatus(show.ExitDenied)
	}
	return nil
}

// shownComplaints is how many lines that cannot be read are told of one by one: a file that is no log has
// many.
const shownComplaints = 10

// atMost complains n times and then says that it leaves the rest out.
func (a *app) atMost(n int) func(error) {
	said := 0
	return func(err error) {
		switch said++; {
		case said <= n:
			a.complain(err)
		case said == n+1:
			a.complain(errors.New("there are more lines that cannot be read: they are counted"))
		}
	}
}

// wouldRefuse picks the commands that ran in monitor mode and that enforcement would refuse.
func wouldRefuse(r plugins.Replayed) bool { return r.Mode == engine.Monitor && r.After != engine.Allow }

// recordsOf opens the log that was named, or that of the configuration, and tells its size in bytes.
func recordsOf(l *config.Loaded, args []string) (iter.Seq2[audit.Entry, error], int64, error) {
	if len(args) == 0 {
		dir, err := existingLog(l)
		if err != nil {
			return nil, 0, err
		}
		args = []string{dir}
	}
	info, err := os.Stat(args[0])
	switch {
	case err != nil:
		return nil, 0, fmt.Errorf("read audit log: %w", err)
	case !info.IsDir():
		return audit.ReadFile(args[0], audit.Filter{}), info.Size(), nil
	}
	files, err := filepath.Glob(filepath.Join(args[0], "audit-*.jsonl"))
	if err != nil {
		return nil, 0, fmt.Errorf("read audit log: %w", err)
	}
	if len(files) == 0 {
		return nil, 0, errors.New("read audit log: there is none in " + args[0])
	}
	var size int64
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			size += info.Size()
		}
	}
	return audit.Read(args[0], audit.Filter{}), size, nil
}

// tally counts the changes under one heading.
type tally struct {
	Name   string        `json:"name"`
	Tool   string        `json:"tool,omitempty"`
	Before engine.Effect `json:"before,omitempty"`
	After  engine.Effect `json:"after,omitempty"`
	Times  int           `json:"times"`
	More   []string      `json:"more,omitempty"`
	Less   []string      `json:"less,omitempty"`
}

// ruleTally counts the decisions in which a rule would give a reason and did not, and the other way round.
type ruleTally struct {
	Rule string `json:"rule"`
	More int    `json:"more"`
	Less int    `json:"less"`
}

// replayReport is the JSON form of policy replay.
type replayReport struct {
	plugins.Replay
	Changes  []tally            `json:"changes"` // of effects
	Rules    []ruleTally        `json:"rules"`
	Commands []tally            `json:"commands"`
	Records  []plugins.Replayed `json:"records"`
}

func report(found plugins.Replay, monitor bool) replayReport {
	r := replayReport{Replay: found, Changes: []tally{}, Rules: []ruleTally{}, Commands: []tally{},
		Records: append([]plugins.Replayed{}, found.All...)}
	effects, commands, rules := map[string]*tally{}, map[string]*tally{}, map[string]*ruleTally{}
	rule := func(id string) *ruleTally {
		if rules[id] == nil {
			rules[id] = &ruleTally{Rule: id}
		}
		return rules[id]
	}
	count := func(in map[string]*tally, key string, t tally) {
		if in[key] == nil {
			in[key] = &t
		}
		in[key].Times++
	}
	for _, c := range found.All {
		change := fmt.Sprintf("%s → %s", c.Before, c.After)
		if c.Before == c.After {
			change = fmt.Sprintf("%s, for other reasons", c.After)
		}
		more, less := c.More, c.Less
		if monitor {
			change, more, less = string(c.After), c.Rules, nil
		}
		count(effects, change, tally{Name: change, Before: c.Before, After: c.After})
		if c.Fault != "" {
			more = append([]string{"(fault)"}, more...)
		}
		count(commands, strings.Join([]string{change, c.Tool, c.Command, strings.Join(more, " "),
			strings.Join(less, " ")}, "\x00"),
			tally{Name: c.Command, Tool: c.Tool, Before: c.Before, After: c.After, More: more, Less: less})
		for _, id := range more {
			rule(id).More++
		}
		for _, id := range less {
			rule(id).Less++
		}
	}
	r.Changes, r.Commands = sorted(effects), sorted(commands)
	for _, t := range rules {
		r.Rules = append(r.Rules, *t)
	}
	slices.SortFunc(r.Rules, func(a, b ruleTally) int {
		return cmp.Or(cmp.Compare(b.More+b.Less, a.More+a.Less), cmp.Compare(a.Rule, b.Rule))
	})
	return r
}

// sorted puts the most frequent first.
func sorted(in map[string]*tally) []tally {
	out := []tally{}
	for _, t := range in {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b tally) int {
		return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Tool, b.Tool),
			slices.Compare(a.More, b.More), slices.Compare(a.Less, b.Less))
	})
	return out
}

// shownCommands is how many commands policy replay lists unless it is asked for all.
const shownCommands = 30

func (a *app) writeReplay(found plugins.Replay, f replayFlags, took time.Duration) error {
	r := report(found, f.monitor)
	if *f.format == formatJSON {
		return writeIndented(a.out, r)
	}
	fmt.Fprintf(a.out, "%s judged again%s\n", count(found.Judged, "decision"), notJudged(found))
	a.log().Info("replay", "took", took.Round(time.Millisecond).String(), "decisions", found.Decisions)
	if found.Judged == 0 && found.Decisions+found.Broken > 0 {
		_, err := fmt.Fprintln(a.out, "none could be judged")
		return err
	}
	if len(found.All) == 0 {
		_, err := fmt.Fprintln(a.out, map[bool]string{true: "enforcement would have refused nothing",
			false: "nothing would change"}[f.monitor])
		return err
	}
	if f.monitor {
		fmt.Fprintf(a.out, "%d of monitor mode would have been refused or asked about\n\n", len(found.All))
	} else {
		fmt.Fprintf(a.out, "%d would change\n\n", len(found.All))
	}
	for i, t := range a.replayTables(r, f) {
		if i > 0 {
			fmt.Fprintln(a.out)
		}
		if err := writeTable(a.out, t.head, t.rows); err != nil {
			return err
		}
	}
	if left := len(r.Commands) - shownCommands; left > 0 && !f.all {
		_, err := fmt.Fprintf(a.out, "… and %s: --all lists them\n", count(left, "other command"))
		return err
	}
	return nil
}

type replayTable struct {
	head []string
	rows [][]string
}

func (a *app) replayTables(r replayReport, f replayFlags) []replayTable {
	var effects, rules, commands [][]string
	for _, t := range r.Changes {
		effects = append(effects, []string{t.Name, fmt.Sprint(t.Times)})
	}
	for _, t := range r.Rules {
		rules = append(rules, []string{t.Rule, fmt.Sprint(t.More), fmt.Sprint(t.Less)})
	}
	for i, t := range r.Commands {
		if i == shownCommands && !f.all {
			break
		}
		commands = append(commands, a.commandRow(t, f.monitor))
	}
	tables := []replayTable{
		{[]string{"DECISION", "TIMES"}, effects},
		{[]string{"RULE", "MORE", "LESS"}, rules},
		{[]string{"TIMES", "BEFORE", "AFTER", "COMMAND", "BECAUSE"}, commands},
	}
	if f.monitor {
		tables[1].head = []string{"RULE", "TIMES"}
		for i := range rules {
			rules[i] = rules[i][:2]
		}
		tables[2].head = []string{"TIMES", "DECISION", "COMMAND", "BECAUSE"}
	}
	return tables
}

func (a *app) commandRow(t tally, monitor bool) []string {
	var because []string
	for _, id := range t.More {
		if !monitor {
			id = "+" + id
		}
		because = append(because, id)
	}
	for _, id := range t.Less {
		because = append(because, "-"+id)
	}
	what := t.Name
	if what == "" {
		what = "(" + t.Tool + ")"
	}
	if !a.wide() {
		what = shorten(what, 70)
	}
	if monitor {
		return []string{fmt.Sprint(t.Times), string(t.After), what, strings.Join(because, " ")}
	}
	return []string{fmt.Sprint(t.Times), string(t.Before), string(t.After), what, strings.Join(because, " ")}
}

// wide reports whether commands are shown at any length: -v asks for that.
func (a *app) wide() bool { return a.verbose > 0 }

func notJudged(found plugins.Replay) string {
	var parts []string
	for _, p := range []struct {
		n   int
		why string
	}{{found.NoInput, "without an input"}, {found.Cut, "not recorded whole"}, {found.Broken,
		"not readable"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.why))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "; left out: " + strings.Join(parts, ", ")
}

// progressBar shows on a terminal how much of something has been read. Anywhere else it is silent.
type progressBar struct {
	w           io.Writer
	done, total int64
	shown       time.Time
	live        bool
}

func (a *app) progress(total int64) *progressBar {
	f, ok := a.err.(*os.File)
	return &progressBar{w: a.err, total: total, live: ok && total > 0 && os.Getenv("TERM") != "dumb" &&
		term.IsTerminal(int(f.Fd()))}
}

// progressWidth is that of the bar, and progressPause how often it is drawn.
const (
	progressWidth = 40
	progressPause = 100 * time.Millisecond
)

// add notes that so much more was read.
func (p *progressBar) add(bytes int) {
	p.done += int64(bytes)
	if !p.live || time.Since(p.shown) < progressPause {
		return
	}
	p.shown = time.Now()
	fmt.Fprintf(p.w, "\r%s", p.line())
}

func (p *progressBar) line() string {
	part := min(float64(p.done)/float64(p.total), 1)
	filled := int(part * progressWidth)
	return fmt.Sprintf("[%s%s] %3.0f %%", strings.Repeat("#", filled),
		strings.Repeat(" ", progressWidth-filled), part*100)
}

// clear takes the bar away.
func (p *progressBar) clear() {
	if p.live {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", progressWidth+8))
	}
}
