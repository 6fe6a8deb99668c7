package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
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
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/redact"
	"github.com/sallyport-dev/sallyport/plugins"
)

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "Read and verify the audit log", `  sallyport audit list --since 2h --effect deny
  sallyport audit show 01a1fc23-2858-7d01-a4f9-fe72a27e2b83
  sallyport audit verify
`, a.auditList(), a.auditShow(), a.auditTail(), a.auditHash(), a.auditVerify(),
		a.auditProve(), a.auditCheckProof(), a.auditPrune(), a.auditAcceptBreak())
}

// logDir returns the directory of the log, which must be there.
func (a *app) logDir() (string, error) {
	_, dir, err := a.loadLog()
	return dir, err
}

// loadLog loads the configuration, and names the directory of its log, which must be there.
func (a *app) loadLog() (*config.Loaded, string, error) {
	l, err := a.load()
	if err != nil {
		return nil, "", err
	}
	dir, err := existingLog(l)
	return l, dir, err
}

func existingLog(l *config.Loaded) (string, error) {
	dir := string(l.Audit.Dir)
	switch _, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("read audit log: there is none at %s: it is made with the first sallyport exec", dir)
	case err != nil:
		return "", fmt.Errorf("read audit log: %w", err)
	}
	return dir, nil
}

// filterFlags select records.
type filterFlags struct {
	since, until, kind, effect, rule, decision, program string

	named bool
	last  int
}

func (f *filterFlags) add(cmd *cobra.Command, last int) {
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "records since `time`: 2h (ago), 2026-01-31, or an RFC 3339 time")
	flags.StringVar(&f.until, "until", "", "records before `time`")
	flags.StringVar(&f.kind, "kind", "", "only records of this `kind`: decision, outcome, approval, start, …")
	flags.StringVar(&f.effect, "effect", "", "only decisions with this `effect`: allow, ask, deny")
	flags.StringVar(&f.rule, "rule", "", "only decisions with a reason of this `rule`")
	flags.StringVar(&f.decision, "decision", "", "only records of this decision `id`")
	flags.StringVar(&f.program, "program", "",
		"only records about programs of this `name` that commands started, or could not")
	flags.BoolVar(&f.named, "named-secrets", false,
		"only records in which a path, host or program contains a value that the agent calls a secret",
	)
	flags.IntVarP(&f.last, "last", "n", last, "only the last `n` records; 0 for all")
}

func (f *filterFlags) filter(now time.Time) (audit.Filter, error) {
	out := audit.Filter{Kind: engine.Kind(f.kind), Effect: engine.Effect(f.effect), Rule: f.rule,
		Decision: f.decision,
		Program:  f.program, Named: f.named, Last: f.last}
	if f.last < 0 {
		return out, usageError{errors.New("--last: want 0 or more")}
	}
	switch out.Effect {
	case "", engine.Allow, engine.Ask, engine.Deny:
	default:
		return out, usageError{fmt.Errorf("--effect %s: want allow, ask or deny", f.effect)}
	}
	kinds := []engine.Kind{engine.KindStart, engine.KindStop, engine.KindPolicy, engine.KindConfig,
		engine.KindDecision, engine.KindApproval,
		engine.KindOutcome, engine.KindRecovery, engine.KindCheckpoint, engine.KindSegment, engine.KindFull,
		engine.KindPrune}
	if out.Kind != "" && !slices.Contains(kinds, out.Kind) {
		return out, usageError{fmt.Errorf("--kind %s: there is no such kind of record", f.kind)}
	}
	var err error
	if out.Since, err = moment(f.since, now); err != nil {
		return out, usageError{fmt.Errorf("--since %w", err)}
	}
	if out.Until, err = moment(f.until, now); err != nil {
		return out, usageError{fmt.Errorf("--until %w", err)}
	}
	return out, nil
}

// moment reads a time: a span is so long ago, a day begins in local time.
func moment(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(s); err == nil {
		return now.Add(-d), nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		return t, nil
	}
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		return t, fmt.Errorf("%q: want 2h, 2026-01-31 or 2026-01-31T12:00:00Z", s)
	}
	return t, nil
}

func (a *app) auditList() *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{Use: "list", Short: "List records, oldest first", Args: noArgs}
	f.add(cmd, 0)
	format := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		filter, err := f.filter(time.Now())
		if err != nil {
			return err
		}
		dir, err := a.logDir()
		if err != nil {
			return err
		}
		return a.writeEntries(audit.Read(dir, filter), *format)
	}
	return cmd
}

func (a *app) auditTail() *cobra.Command {
	var f filterFlags
	cmd := &cobra.Command{Use: "tail", Short: "Follow the log until interrupted", Args: noArgs}
	f.add(cmd, 10)
	format := formatFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		filter, err := f.filter(time.Now())
		if err != nil {
			return err
		}
		dir, err := a.logDir()
		if err != nil {
			return err
		}
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGINT, syscall.SIGTERM)
		defer stop()
		err = a.writeEntries(audit.Follow(ctx, dir, filter), *format)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return nil
		}
		return err
	}
	return cmd
}

// maxValue is how many bytes of a value audit hash reads.
const maxValue = 1 << 20

func (a *app) auditHash() *cobra.Command {
	cmd := &cobra.Command{Use: "hash VALUE|-", Short: "List the records in which a tag stands for a value",
		Args: exactly(1, "a value, or - to read it from stdin")}
	cmd.Long = "List the records in which a tag stands for a value: [redacted:<detector>:<digits>].\n\n" +
		"With -, the value is read from stdin, without a newline at its end, so that no list of processes shows it."
	format := formatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		value := args[0]
		if value == "-" {
			text, err := io.ReadAll(io.LimitReader(a.in, maxValue))
			if err != nil {
				return fmt.Errorf("read value from stdin: %w", err)
			}
			value = strings.TrimSuffix(string(text), "\n")
		}
		dir, err := a.logDir()
		if err != nil {
			return err
		}
		red, err := audit.RedactorFor(dir, redact.Extra{})
		if err != nil {
			return err
		}
		digest := red.Digest(value)
		if digest == "" {
			return fmt.Errorf(
				"find a value in audit log %s: the key of its tags is gone: put keys/audit.redact.key back", dir)
		}
		if *format != formatJSON {
			fmt.Fprintf(a.out, "digits %s\n", digest)
		}
		return a.writeEntries(audit.Read(dir, audit.Filter{Digest: digest}), *format)
	}
	return cmd
}

// entryLine is one row of list and tail. Widths are fixed, so that a log of any size streams.
const entryLine = "%-20s  %-10s  %-6s  %-36s  %s\n"

// writeEntries prints entries as they come. A line that is no record does not hide those behind it.
func (a *app) writeEntries(entries iter.Seq2[audit.Entry, error], f format) error {
	var broken error
	head := false
	for e, err := range entries {
		if err != nil {
			broken = err
			a.complain(err)
			continue
		}
		if f == formatJSON {
			if _, err := fmt.Fprintf(a.out, "%s\n", e.Raw); err != nil {
				return err
			}
			continue
		}
		if !head {
			head = true
			fmt.Fprintf(a.out, entryLine, "TIME", "KIND", "EFFECT", "DECISION", "WHAT")
		}
		effect, what := summary(e)
		if _, err := fmt.Fprintf(a.out, entryLine, e.Time.UTC().Format(time.RFC3339), e.Kind, orDash(effect),
			orDash(e.DecisionID), shorten(printable(what), 100)); err != nil {
			return err
		}
	}
	if broken != nil {
		return exitStatus(exitBroken)
	}
	return nil
}

// summary is the subject of an entry in a few words.
func summary(e audit.Entry) (effect, what string) {
	switch e.Kind {
	case engine.KindDecision:
		d, err := e.Decision()
		if err != nil {
			return "", err.Error()
		}
		var rules []string
		for _, r := range d.Decision.Reasons {
			if !slices.Contains(rules, r.Rule) {
				rules = append(rules, r.Rule)
			}
		}
		effect = string(d.Decision.Effect)
		if d.Fault != nil {
			effect, rules = "error", append(rules, "fault "+d.Fault.ID) // no rule denied it
		}
		if d.Input != nil {
			what = asked(d.Input)
		}
		if len(rules) > 0 {
			what = shorten(what, 60) + "  [" + strings.Join(rules, " ") + "]"
		}
		return effect, what
	case engine.KindOutcome:
		o, err := e.Outcome()
		if err != nil {
			return "", err.Error()
		}
		return "", outcome(o)
	case engine.KindApproval:
		p, err := e.Approval()
		if err != nil {
			return "", err.Error()
		}
		return "", approval(p)
	}
	if e.Kind == engine.KindPolicy {
		p, err := e.Policy()
		if err != nil {
			return "", err.Error()
		}
		if p.Error != "" {
			return "", "not taken: " + p.Error
		}
		return "", "other policies judge from here on"
	}
	return "", "process " + e.Writer
}

// asked is the subject of a request: the text of a command, or the tool and the paths that it touches.
func asked(in *facts.Input) string {
	if in.Request.Command != "" {
		return in.Request.Command
	}
	var out strings.Builder
	out.WriteString(in.Request.Tool)
	for i := range in.Paths {
		if i == maxAsked {
			fmt.Fprintf(&out, " and %d more", len(in.Paths)-i)
			break
		}
		p := &in.Paths[i]
		fmt.Fprintf(&out, " %s %s", p.Access, p.Path)
	}
	return out.String()
}

// maxAsked is how many paths of a file tool are shown in full.
const maxAsked = 20

func outcome(o engine.OutcomeBody) string {
	how := fmt.Sprintf("exit %d", o.ExitCode)
	switch {
	case o.TimedOut:
		how = "timed out"
	case o.Killed != "":
		how = "killed: " + o.Killed
	case o.Signal != "":
		how = o.Signal
	case o.Error != "":
		how = o.Error
	}
	return fmt.Sprintf("%s after %s, %d bytes out, %d bytes err", how,
		time.Duration(o.DurationUS)*time.Microsecond, o.Stdout.Bytes, o.Stderr.Bytes)
}

func approval(p engine.ApprovalBody) string {
	switch {
	case p.Granted:
		return "granted by " + p.By
	case p.Error != "":
		return "not granted: " + p.Error
	}
	return "refused by " + p.By
}

func (a *app) auditProve() *cobra.Command {
	var out, checkpoint string
	cmd := &cobra.Command{
		Use: "prove ID", Short: "Prove that the records of one decision stand in the log",
		Args: exactly(1, "the id of one decision, or of a fault"),
		Long: `Write a proof that the records of one decision stood in the log when a checkpoint was signed. A
holder of the log's public key checks it without the log: with sallyport audit check-proof, with
sallyport-verify, or by hand.

The proof contains the records themselves. It is made under the newest checkpoint of the log, or under one
that was kept elsewhere: that one also proves the time.`,
	}
	cmd.Flags().StringVarP(&out, "output", "o", "",
		"`file` to write the proof to, instead of stdout; it must not exist yet")
	cmd.Flags().StringVar(&checkpoint, "checkpoint", "", "`file` with a signed checkpoint, kept elsewhere")
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := a.logDir()
		if err != nil {
			return err
		}
		var note []byte
		if checkpoint != "" {
			if note, err = readCheckpoint(checkpoint); err != nil {
				return fmt.Errorf("read checkpoint: %w", err)
			}
		}
		id := args[0]
		if strings.HasPrefix(id, "F-") {
			id = decisionOfFault(dir, id)
		}
		proof, err := audit.Prove(dir, id, note)
		if err != nil {
			return err
		}
		if out == "" {
			return writeIndented(a.out, proof)
		}
		text, err := json.MarshalIndent(proof, "", "  ")
		if err != nil {
			return fmt.Errorf("write proof: %w", err)
		}
		f, err := os.OpenFile(out, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return fmt.Errorf("write proof: %w", err)
		}
		_, err = f.Write(append(text, '\n'))
		if closed := f.Close(); err == nil {
			err = closed
		}
		return err
	}
	return cmd
}

func (a *app) auditCheckProof() *cobra.Command {
	var key string
	cmd := &cobra.Command{
		Use: "check-proof FILE", Short: "Check a proof that audit prove made",
		Args: exactly(1, "the file of a proof"),
		Long: `Check that the records of a proof lie under its signed checkpoint, and list them.

Without --public-key the key beside the log of this configuration is used: a user who can write that log can
exchange it. Exits with 0 when the proof holds, 1 when it does not or cannot be read.`,
	}
	cmd.Flags().StringVar(&key, "public-key", "", "`file` with the log's public key, kept elsewhere")
	format := formatFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		keys, err := a.proofKeys(key)
		if err != nil {
			return err
		}
		text, err := readUpTo(args[0], maxProof)
		if err != nil {
			return fmt.Errorf("read proof: %w", err)
		}
		proof, err := audit.ParseProof(text)
		if err != nil {
			return err
		}
		c, err := proof.Check(keys...)
		if err != nil {
			return err
		}
		entries, err := proof.Entries()
		if err != nil {
			return err
		}
		if err := a.writeEntries(each(entries), *format); err != nil {
			return err
		}
		a.say("the proof holds: these records lie under the checkpoint of %s over %d records",
			printable(c.Origin), c.Size)
		return nil
	}
	return cmd
}

// proofKeys reads the keys of a file, or the one beside the log.
func (a *app) proofKeys(file string) ([]string, error) {
	if file == "" {
		dir, err := a.logDir()
		if err != nil {
			return nil, err
		}
		key, err := audit.PublicKey(dir)
		return []string{key}, err
	}
	text, err := readSmall(file)
	if err != nil {
		return nil, fmt.Errorf("read public key: %w", err)
	}
	return strings.Fields(string(text)), nil
}

// each yields entries without errors.
func each(all []audit.Entry) func(yield func(audit.Entry, error) bool) {
	return func(yield func(audit.Entry, error) bool) {
		for _, e := range all {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (a *app) auditPrune() *cobra.Command {
	var older string
	cmd := &cobra.Command{
		Use: "prune", Short: "Remove old files of the log, and keep their hashes", Args: noArgs,
		Long: `Remove the oldest files of the log whose records are all older than audit.retention, or than --older-than. The newest
file stays. Archive files first that may be needed: nothing brings them back.

The hashes of the removed records stay beside the log, and a signed record names the user and the files. So
the rest verifies and has proofs as before. A log that does not verify is not pruned.`,
		Example: "  sallyport audit prune --older-than 90d\n",
	}
	cmd.Flags().StringVar(&older, "older-than", "",
		"`age` of the records that are removed: 90d, 2160h (default: audit.retention)")
	format := formatFlag(cmd)
	cmd.RunE = func(*cobra.Command, []string) error {
		l, err := a.load()
		if err != nil {
			return err
		}
		if _, err := existingLog(l); err != nil {
			return err
		}
		age := time.Duration(l.Audit.Retention)
		if older != "" {
			if age, err = ageOf(older); err != nil {
				return usageError{fmt.Errorf("--older-than %w", err)}
			}
		}
		if age <= 0 {
			return usageError{errors.New("the configuration has no audit.retention: give --older-than")}
		}
		pruned, err := plugins.Prune(l, version().Sallyport, time.Now().Add(-age), plugins.UserName())
		if err != nil {
			return err
		}
		if *format == formatJSON {
			return writeIndented(a.out, pruned)
		}
		_, err = fmt.Fprintf(a.out, "%d files with %d records, %d bytes, were removed\n", pruned.Files,
			pruned.Records, pruned.Bytes)
		return err
	}
	return cmd
}

// ageOf reads a span, in days too.
func ageOf(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n > 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%q: want 90d or 2160h", text)
	}
	return d, nil
}
