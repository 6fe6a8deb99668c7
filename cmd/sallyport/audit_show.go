package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine"
	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/engine/audit/publish"
	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/internal/show"
	"github.com/sallyport-dev/sallyport/plugins"
)

func (a *app) auditShow() *cobra.Command {
	cmd := &cobra.Command{
		Use: "show ID", Short: "Show everything about one decision",
		Args: exactly(1, "the id of one decision, or of a fault"),
		Long: "Show everything about one decision. ID is its id, or the id of a fault (F-…), which agents get" +
			" in place of the fault itself.",
	}
	format := formatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := a.logDir()
		if err != nil {
			return err
		}
		id, found := args[0], 0
		if strings.HasPrefix(id, "F-") {
			id = decisionOfFault(dir, id)
		}
		for e, err := range audit.Read(dir, audit.Filter{Decision: id}) {
			if err != nil {
				a.complain(err)
				continue
			}
			found++
			if *format == formatJSON {
				_, err = fmt.Fprintf(a.out, "%s\n", e.Raw)
			} else {
				err = a.showEntry(e)
			}
			if err != nil {
				return err
			}
		}
		if found == 0 {
			return fmt.Errorf("no record of decision %q in %s: sallyport audit list shows the ids", args[0], dir)
		}
		return nil
	}
	return cmd
}

// decisionOfFault finds the decision that a fault refused; the id of the fault itself where there is none.
func decisionOfFault(dir, fault string) string {
	for e, err := range audit.Read(dir, audit.Filter{Kind: engine.KindDecision}) {
		if err != nil || !bytes.Contains(e.Raw, []byte(fault)) {
			continue
		}
		if d, err := e.Decision(); err == nil && d.Fault != nil && d.Fault.ID == fault {
			return e.DecisionID
		}
	}
	return fault
}

func (a *app) showEntry(e audit.Entry) error {
	head := fmt.Sprintf("%s at %s, record %d, process %s", e.Kind, e.Time.UTC().Format(time.RFC3339Nano), e.Seq,
		printable(e.Writer))
	if e.Kind != engine.KindDecision {
		_, what := summary(e)
		_, err := fmt.Fprintf(a.out, "%s\n  %s\n", head, printable(what))
		if o, unread := e.Outcome(); unread == nil {
			for _, line := range show.Programs(o.Programs) {
				fmt.Fprintf(a.out, "  %s\n", printable(line))
			}
		}
		return err
	}
	d, err := e.Decision()
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s\n  %s (%s), policies %s\n", head, styleOf(a.out).Effect(d.Decision.Effect),
		d.Decision.Mode, d.Decision.Policy.Revision)
	text := ""
	if in := d.Input; in != nil {
		text = asked(in)
		fmt.Fprintf(a.out, "  agent %s, session %s, user %s, runner %s\n  in %s:\n", printable(in.Subject.Agent),
			orDash(printable(in.Subject.Session)), printable(in.Subject.User), in.Runner.Name,
			printable(in.Request.WorkDir))
		for line := range strings.SplitSeq(text, "\n") {
			fmt.Fprintf(a.out, "    %s\n", printable(line))
		}
	}
	writeReasons(a.out, "  ", text, d.Decision)
	for _, x := range d.Exempted {
		fmt.Fprintf(a.out, "  exempted %s (%s): %s\n    until %s: %s\n", x.Rule, x.Effect, printable(x.Message),
			x.Expires.UTC().Format(time.RFC3339), printable(x.Reason))
	}
	if d.Fault != nil {
		fmt.Fprintf(a.out, "  fault %s in %s: %s\n", d.Fault.ID, d.Fault.Part, printable(d.Fault.Error))
	}
	cut, err := e.Cut()
	if len(cut) > 0 {
		fmt.Fprintf(a.out, "  not kept whole: %s\n", strings.Join(cut, ", "))
	}
	return err
}

func (a *app) auditVerify() *cobra.Command {
	var key, checkpoint string
	var pruned bool
	cmd := &cobra.Command{
		Use:   "verify",
		Short: "Check that nobody has changed the log",
		Long: `Check that nobody has changed the log: every link, every checkpoint, the order of decisions and
outcomes.

A user with write access to the log's directory can replace all of it, with its key. Only a checkpoint or a
public key that was kept elsewhere reveals this: pass them. Where the configuration has checkpoints
published to a file (audit.checkpoint.publish), the newest one there is compared without being named.

Exits with 0 when the log holds, 1 when it does not or cannot be read.`,
		Args: noArgs,
	}
	cmd.Flags().StringVar(&key, "public-key", "", "`file` with the log's public key, kept elsewhere")
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "`file` with a signed checkpoint, kept elsewhere")
	cmd.Flags().BoolVar(&pruned, "allow-pruned", false, "accept that the oldest files are gone")
	format := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		o := audit.VerifyOptions{AllowPruned: pruned}
		if key != "" {
			text, err := readSmall(key)
			if err != nil {
				return fmt.Errorf("read public key: %w", err)
			}
			o.PublicKey = string(text)
		}
		if checkpoint != "" {
			text, err := readCheckpoint(checkpoint)
			if err != nil {
				return fmt.Errorf("read checkpoint: %w", err)
			}
			o.Checkpoint = text
		}
		l, dir, err := a.loadLog()
		if err != nil {
			return err
		}
		report, err := verified(dir, l, o)
		if err != nil {
			return err
		}
		if *format == formatJSON {
			err = writeIndented(a.out, report)
		} else {
			_, err = fmt.Fprint(a.out, report)
		}
		if err != nil || report.OK {
			return err
		}
		return exitStatus(exitBroken)
	}
	return cmd
}

// verified is the report on a log, compared with the checkpoints of the configured places, and the ages of
// these.
func verified(dir string, l *config.Loaded, o audit.VerifyOptions) (audit.Report, error) {
	places := l.Audit.Checkpoint.Publish
	kept, unusable := publish.Notes(dir, places)
	for _, k := range kept {
		o.Published = append(o.Published, k.Published)
	}
	report, err := audit.Verify(dir, o)
	if err != nil {
		return report, err
	}
	if unusable != nil {
		report.Unproved = append(report.Unproved, strings.Split(unusable.Error(), "\n")...)
	}
	taken, _ := publish.Read(dir) // its error is among those of Notes
	for _, place := range places {
		out := audit.Outside{Target: place, Failed: "no checkpoint was published yet"}
		if i := slices.IndexFunc(taken, func(t publish.Taken) bool { return t.Target == place }); i >= 0 {
			out = audit.Outside{Target: place, Size: taken[i].Size, Time: taken[i].Time, Failed: taken[i].Failed}
		}
		i := slices.IndexFunc(kept, func(k publish.Kept) bool { return k.Place == place })
		switch compared := slices.Contains(report.Compared, place); {
		case !compared:
			report.Unproved = append(report.Unproved,
				"no checkpoint at "+place+" was compared: fetch its newest note (--checkpoint)")
		case kept[i].Beside:
			out.Time, out.Signed = kept[i].Signed, true
			report.Unproved = append(report.Unproved,
				"the note of "+place+" lies beside the log: anyone who can write there can put an older one there")
		}
		report.Published = append(report.Published, out)
	}
	return report, nil
}

// maxNote and maxProof are how many bytes a key or a checkpoint, and a proof, may have.
const (
	maxNote  = 64 << 10
	maxProof = 64 << 20
)

// readCheckpoint reads the last signed note of a file. A file to which all are appended may have any length.
func readCheckpoint(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
		return publish.Last(name)
	}
	text, err := readSmall(name)
	return publish.Newest(text), err
}

// readSmall reads a key or a checkpoint.
func readSmall(name string) ([]byte, error) { return readUpTo(name, maxNote) }

// readUpTo reads a file that sallyport wrote. One that is far too long, or has no end, is none.
func readUpTo(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("%s is longer than %d bytes: name the file that sallyport wrote", name, limit)
	}
	return text, err
}

func (a *app) auditAcceptBreak() *cobra.Command {
	var by, reason string
	cmd := &cobra.Command{
		Use:   "accept-break ID…",
		Short: "Accept by name that the log was cut, replaced or lost its key",
		Long: `Accept that the log was cut, replaced, tampered with at its end, or lost its signing key. audit verify fails until
then. Where sallyport refuses the log, the parts that do not fit are moved to torn/ beside the records. A
record names the person and the reason, and later verifications show it.

Find out first what happened, and copy the log. Without an ID, the breaks that nobody has accepted are listed.`,
		RunE: func(_ *cobra.Command, ids []string) error {
			l, dir, err := a.loadLog()
			if err != nil {
				return err
			}
			if len(ids) == 0 {
				return a.listBreaks(l, dir)
			}
			if strings.TrimSpace(reason) == "" {
				return usageError{errors.New("--reason is missing: say why the log may go on, for the record")}
			}
			if by == "" {
				by = plugins.UserName()
			}
			if err := plugins.AcceptBreaks(l, version().Sallyport, ids, by, reason); err != nil {
				return err
			}
			a.say("%s accepted %s: sallyport audit verify shows that in %s", printable(by), strings.Join(ids, ", "),
				printable(dir))
			return nil
		},
	}
	cmd.Flags().StringVar(&by, "by", "", "`name` of the person who accepts (default: the user's)")
	cmd.Flags().StringVar(&reason, "reason", "", "`text`: reason for which the log may go on")
	return cmd
}

// listBreaks prints the breaks that nobody has accepted. That there are any is an error: none was named.
func (a *app) listBreaks(l *config.Loaded, dir string) error {
	breaks, err := plugins.Breaks(l, version().Sallyport)
	if err != nil {
		return err
	}
	if len(breaks) == 0 {
		a.say("there is no break in %s that nobody has accepted: nothing was done", printable(dir))
		return nil
	}
	for _, b := range breaks {
		fmt.Fprintf(a.out, "%s  %s\n", b.ID, printable(b.Reason))
	}
	return usageError{errors.New(
		"nothing was accepted: name each break that you accept by its id, with --reason")}
}
