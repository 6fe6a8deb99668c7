// Command sallyport-verify checks audit logs of sallyport, and proofs made from them, with nothing of
// sallyport in it: a second reading of docs/audit-log.md that an auditor can read whole.
//
// It checks links, signatures, trees, breaks and pruned files. It does not check that outcomes follow
// decisions; sallyport audit verify does. It writes nothing and starts nothing.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `Usage:
  sallyport-verify log DIRECTORY --public-key FILE [--checkpoint FILE] [--allow-pruned]
  sallyport-verify proof FILE --public-key FILE

Checks an audit log of sallyport, or a proof made by sallyport audit prove.

  --public-key FILE  the public key of the log, from a place that its writer cannot change
  --checkpoint FILE  a signed checkpoint from such a place, with which the log must agree
  --allow-pruned     accept that the oldest files are gone without their hashes

Exits with 0 where everything holds, 1 where it does not, 2 for a wrong command line.
`

const (
	exitOK = iota
	exitBroken
	exitUsage
)

// arguments are those of one run.
type arguments struct {
	what, name      string
	key, checkpoint string
	allowPruned     bool
}

func parse(args []string) (arguments, error) {
	if len(args) < 2 {
		return arguments{}, errors.New("want log DIRECTORY or proof FILE")
	}
	a := arguments{what: args[0], name: args[1]}
	flags := flag.NewFlagSet(a.what, flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.StringVar(&a.key, "public-key", "", "")
	if a.what == "log" {
		flags.StringVar(&a.checkpoint, "checkpoint", "", "")
		flags.BoolVar(&a.allowPruned, "allow-pruned", false, "")
	}
	if err := flags.Parse(args[2:]); err != nil {
		return a, err
	}
	switch {
	case a.what != "log" && a.what != "proof":
		return a, fmt.Errorf("%q: want log or proof", a.what)
	case flags.NArg() > 0:
		return a, fmt.Errorf("unexpected argument %q", flags.Arg(0))
	case a.key == "":
		return a, errors.New("--public-key is missing: a key beside the log proves nothing")
	}
	return a, nil
}

func run(args []string, out, errs io.Writer) int {
	if len(args) == 1 && (args[0] == "--help" || args[0] == "-h") {
		fmt.Fprint(out, usage)
		return exitOK
	}
	a, err := parse(args)
	if err != nil {
		fmt.Fprintf(errs, "sallyport-verify: %v\n%s", err, usage)
		return exitUsage
	}
	ok := false
	keys, err := readKeys(a.key)
	if err == nil && a.what == "proof" {
		ok, err = verifyProof(a.name, keys, out)
	} else if err == nil {
		ok, err = verifyLog(a, keys, out)
	}
	if err != nil {
		fmt.Fprintf(errs, "sallyport-verify: %v\n", err)
	}
	if err != nil || !ok {
		return exitBroken
	}
	return exitOK
}

// maxSmall is how many bytes a key, a checkpoint or a proof may have; all others are refused unread.
const (
	maxSmall = 64 << 10
	maxProof = 64 << 20
)

// readFile reads a file of at most limit bytes, also where it is a device without an end.
func readFile(name string, limit int64) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // read only: nothing can be lost
	text, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("read %s: it is longer than %d bytes", name, limit)
	}
	return text, err
}

// readKeys reads verifier keys, one a line, as golang.org/x/mod/sumdb/note writes them.
func readKeys(name string) (note.Verifiers, error) {
	text, err := readFile(name, maxSmall)
	if err != nil {
		return nil, fmt.Errorf("read public key: %w", err)
	}
	var keys []note.Verifier
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		v, err := note.NewVerifier(line)
		if err != nil {
			return nil, fmt.Errorf("read public key %s: %w", name, err)
		}
		keys = append(keys, v)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("read public key %s: there is none in it", name)
	}
	return note.VerifierList(keys...), nil
}
