package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sallyport-dev/sallyport/engine/audit"
	"github.com/sallyport-dev/sallyport/plugins"
)

func (a *app) auditProve() *cobra.Command {
	var out, checkpoint string
	cmd := &cobra.Command{
		Use: "prove ID", Short: "Prove that the records of one decision stand in the log", Args: exactly(1, "the id of one decision, or of a fault"),
		Long: `Write a proof that the records of one decision stood in the log when a checkpoint was signed. A
holder of the log's public key checks it without the log: with sallyport audit check-proof, with
sallyport-verify, or by hand.

The proof contains the records themselves. It is made under the newest checkpoint of the log, or under one
that was kept elsewhere: that one also proves the time.`,
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "`file` to write the proof to, instead of stdout; it must not exist yet")
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
		Use: "check-proof FILE", Short: "Check a proof that audit prove made", Args: exactly(1, "the file of a proof"),
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
		a.say("the proof holds: these records lie under the checkpoint of %s over %d records", printable(c.Origin), c.Size)
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
	cmd.Flags().StringVar(&older, "older-than", "", "`age` of the records that are removed: 90d, 2160h (default: audit.retention)")
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
		_, err = fmt.Fprintf(a.out, "%d files with %d records, %d bytes, were removed\n", pruned.Files, pruned.Records, pruned.Bytes)
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
