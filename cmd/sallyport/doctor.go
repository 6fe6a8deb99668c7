package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
	"github.com/sallyport-dev/sallyport/plugins"
)

// finding is one line of the doctor's report.
type finding struct {
	Check  string `json:"check"`
	State  string `json:"state"` // ok, warn, fail
	Detail string `json:"detail"`
	Fix    string `json:"fix"` // the step that solves it; "" for none
}

// doctor gathers findings.
type doctor struct{ findings []finding }

func (d *doctor) add(check, state, detail, fix string) {
	d.findings = append(d.findings, finding{check, state, detail, fix})
}

func (d *doctor) fail(check string, err error, fix string) {
	d.add(check, "fail", err.Error(), fix)
}

func (a *app) doctorCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Check this machine and suggest fixes",
		Long: `Check this machine and suggest fixes. Nothing is changed. With the runner docker, a container is started for the
check and removed.

Exits with 0 when sallyport can work, 1 when an error prevents that or the log was tampered with.
Warnings do not change the exit code.`,
		Args: noArgs,
	}
	f := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		findings := a.examine(cmd.Context())
		if *f == formatJSON {
			if err := writeIndented(a.out, findings); err != nil {
				return err
			}
		} else if err := a.writeFindings(findings); err != nil {
			return err
		}
		for _, x := range findings {
			if x.State == "fail" {
				return exitStatus(exitBroken)
			}
		}
		return nil
	}
	return cmd
}

func (a *app) examine(ctx context.Context) []finding {
	d := &doctor{}
	v := version()
	d.add("sallyport", "ok", fmt.Sprintf("%s, %s, OPA %s, %s", v.Sallyport, v.Go, v.OPA, v.Platform), "")
	d.programs(a.front)
	l, err := a.load()
	if err != nil {
		var bad *config.Error
		if errors.As(err, &bad) {
			for _, line := range strings.Split(bad.Error(), "\n") {
				d.add("configuration", "fail", line, "correct it; sallyport config check tells whether it is sound")
			}
		} else {
			d.fail("configuration", err, "")
		}
		return d.findings
	}
	d.configuration(l)
	d.policies(ctx, l)
	d.plugins(ctx, l)
	d.runner(ctx, l)
	d.audit(l)
	d.terminal()
	return d.findings
}

func (d *doctor) configuration(l *config.Loaded) {
	if l.File == "" {
		d.add("configuration", "ok", "no file, the defaults; workspace "+string(l.Workspace),
			"sallyport setup writes one and connects an agent")
	} else {
		d.add("configuration", "ok", fmt.Sprintf("%s (%s); workspace %s", l.File, l.Source, l.Workspace), "")
	}
	for _, note := range l.Notes {
		d.add("configuration", "warn", note, "")
	}
	for _, w := range l.Warnings() {
		what, fix := apart(errors.New(w))
		state := "warn"
		if w == l.TooWide() {
			state = "fail"
		}
		d.add("configuration", state, what, fix)
	}
}

func (d *doctor) policies(ctx context.Context, l *config.Loaded) {
	start := time.Now()
	e, err := plugins.Policies(ctx, l)
	var infos []rego.RuleInfo
	if err == nil {
		infos, err = e.Rules(ctx)
	}
	if err != nil {
		for _, line := range strings.Split(err.Error(), "\n") {
			d.add("policies", "fail", line, "")
		}
		return
	}
	d.add("policies", "ok", fmt.Sprintf("%d rules, profile %s, revision %s, loaded in %d ms",
		len(infos), l.Profile, e.Policy().Revision, time.Since(start).Milliseconds()), "")
	if by, aside := e.By(); aside == "" {
		d.add("evaluator", "ok", by, "")
	} else {
		d.add("evaluator", "warn", by+": "+aside, "decisions are the same and take longer; fix it, or set evaluator to topdown")
	}
	d.served(ctx, l)
}

// lowSpace is when a log that grows is worth a warning, in bytes.
const lowSpace = 64 << 20

func (d *doctor) audit(l *config.Loaded) {
	dir := string(l.Audit.Dir)
	ready, err := audit.Ready(dir)
	if err != nil {
		d.fail("audit log", err, "")
		return
	}
	place := existing(dir)
	if err := writable(place); err != nil {
		d.fail("audit log", fmt.Errorf("%s cannot be written: %w", place, err), "make it writable or set audit.dir")
		return
	}
	switch free, known := freeSpace(place); {
	case known && free < ready.Needs:
		d.add("audit log", "fail", fmt.Sprintf("%d KiB are free for %s, and %d are needed: nothing runs", free>>10, dir, ready.Needs>>10), "free space or set audit.dir")
	case known && free < lowSpace:
		d.add("audit log", "warn", fmt.Sprintf("%d MiB are free for %s: when it is full nothing runs", free>>20, dir), "free space or set audit.dir")
	}
	if ready.New {
		d.add("audit log", "ok", dir+" is made with the first record", "")
		return
	}
	report, err := audit.Verify(dir, audit.VerifyOptions{})
	switch {
	case err != nil:
		d.fail("audit log", err, "")
		return
	case !report.OK:
		d.add("audit log", "fail", fmt.Sprintf("%s: problems %d, the first: %s", dir, report.ProblemCount, firstProblem(report)), "look at sallyport audit verify; keep the log as it is until you know why")
		return
	}
	d.add("audit log", "ok", fmt.Sprintf("%s: %d records, verified", dir, report.Records), "")
	if last, err := time.Parse(time.RFC3339Nano, report.Last); err == nil && time.Now().Before(last.Add(-time.Minute)) {
		d.add("clock", "warn", fmt.Sprintf("it is earlier than the last record, %s", report.Last), "set the clock")
	} else {
		d.add("clock", "ok", time.Now().UTC().Format(time.RFC3339), "")
	}
}

func firstProblem(r audit.Report) string {
	if len(r.Problems) == 0 {
		return "unknown"
	}
	return r.Problems[0].String()
}

// existing returns the directory, or the nearest one above it that there is.
func existing(dir string) string {
	for place := dir; ; place = filepath.Dir(place) {
		if _, err := os.Stat(place); !errors.Is(err, fs.ErrNotExist) || place == filepath.Dir(place) {
			return place
		}
	}
}

func (d *doctor) terminal() {
	if terminal() == nil {
		d.add("approval", "warn", "there is no terminal here: commands that need approval are refused", "run sallyport at a terminal, or decide in the configuration under rules")
		return
	}
	d.add("approval", "ok", "approvals are asked at this terminal", "")
}

func (a *app) writeFindings(findings []finding) error {
	s := styleOf(a.out)
	for _, f := range findings {
		state := map[string]func(string) string{"ok": s.Green, "warn": s.Yellow, "fail": s.Red}[f.State](fmt.Sprintf("%-4s", f.State))
		line := wrap(fmt.Sprintf("%-4s  %-14s %s\n", f.State, f.Check, printable(f.Detail)), widthOf(a.out), 21)
		if _, err := io.WriteString(a.out, state+line[4:]); err != nil {
			return err
		}
		if f.Fix != "" {
			_, _ = io.WriteString(a.out, wrap(fmt.Sprintf("      %-14s fix: %s\n", "", printable(f.Fix)), widthOf(a.out), 0))
		}
	}
	return nil
}
