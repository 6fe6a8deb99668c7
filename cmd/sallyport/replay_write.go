package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/sallyport-dev/sallyport/plugins"
)

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
		_, err := fmt.Fprintln(a.out, map[bool]string{true: "enforcement would have refused nothing", false: "nothing would change"}[f.monitor])
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
	}{{found.NoInput, "without an input"}, {found.Cut, "not recorded whole"}, {found.Broken, "not readable"}} {
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
	return &progressBar{w: a.err, total: total, live: ok && total > 0 && os.Getenv("TERM") != "dumb" && term.IsTerminal(int(f.Fd()))}
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
	return fmt.Sprintf("[%s%s] %3.0f %%", strings.Repeat("#", filled), strings.Repeat(" ", progressWidth-filled), part*100)
}

// clear takes the bar away.
func (p *progressBar) clear() {
	if p.live {
		fmt.Fprintf(p.w, "\r%s\r", strings.Repeat(" ", progressWidth+8))
	}
}
