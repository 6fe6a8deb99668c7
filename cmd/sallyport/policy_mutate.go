package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"github.com/sallyport-dev/sallyport/engine/config"
	"github.com/sallyport-dev/sallyport/engine/rego"
)

// mutateFlags are the flags of policy test about mutants.
type mutateFlags struct {
	on   bool
	most int
	seed uint64
}

// mutated is the JSON form of policy test --mutate.
type mutated struct {
	Seed    uint64   `json:"seed"`
	Of      int      `json:"of"` // how many there were to choose from
	Mutants []mutant `json:"mutants"`
}

// mutant is a change of a policy with its outcome: "killed" by a test, "survived", or "invalid" where it does
// not compile.
type mutant struct {
	rego.Mutant
	Outcome string `json:"outcome"`
}

// policyMutate changes one place of a policy after the other in a copy of the directories and runs all their
// tests, cases and examples.
func (a *app) policyMutate(ctx context.Context, l *config.Loaded, dirs []string, f tryFlags) (err error) {
	if len(dirs) == 0 {
		dirs = directories(l.Policies)
	}
	if len(dirs) == 0 {
		return errors.New("mutate policies: there are none of your own: name a directory")
	}
	before, err := try(ctx, l, dirs, f)
	if err != nil {
		return err
	}
	if wrong := a.wrong(before, false); wrong > 0 {
		return fmt.Errorf("mutate policies: %d of their tests fail without a change: "+
			"run sallyport policy test first", wrong)
	}
	chosen, all, err := rego.Mutants(dirs, f.mutate.most, f.mutate.seed)
	if err != nil {
		return err
	}
	root, err := os.MkdirTemp("", "sallyport-mutants-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	copies := make([]string, len(dirs))
	for i, dir := range dirs {
		copies[i] = filepath.Join(root, strconv.Itoa(i))
		if err := os.CopyFS(copies[i], os.DirFS(dir)); err != nil {
			return fmt.Errorf("mutate policies: copy %s: %w", dir, err)
		}
	}
	done := mutated{Seed: f.mutate.seed, Of: all, Mutants: make([]mutant, len(chosen))}
	for i, m := range chosen {
		outcome, err := a.tryMutant(ctx, l, m, dirs, copies, f)
		if err != nil {
			return err
		}
		done.Mutants[i] = mutant{m, outcome}
	}
	return a.writeMutated(done, *f.format)
}

func (a *app) tryMutant(
	ctx context.Context, l *config.Loaded, m rego.Mutant, dirs, copies []string, f tryFlags,
) (outcome string, err error) {
	for i, dir := range dirs {
		rest, err := filepath.Rel(dir, m.File)
		if err != nil || !filepath.IsLocal(rest) {
			continue
		}
		file := filepath.Join(copies[i], rest)
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		if err := m.Write(file); err != nil {
			return "", err
		}
		defer func() { err = errors.Join(err, os.WriteFile(file, text, 0o600)) }()
		break
	}
	after, err := try(ctx, l, copies, f)
	var load *rego.LoadError
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case errors.As(err, &load):
		return "invalid", nil
	case err != nil || a.wrong(after, false) > 0: // an error of a rule while it judges is noticed, too
		return "killed", nil
	}
	return "survived", nil
}

func (a *app) writeMutated(done mutated, f format) error {
	outcomes := map[string]int{}
	for _, m := range done.Mutants {
		outcomes[m.Outcome]++
		if f == formatText && (m.Outcome == "survived" || a.verbose > 0) {
			word := m.Outcome
			if word == "survived" {
				word = styleOf(a.out).Red(word)
			}
			fmt.Fprintf(a.out, "%s %s\n", word, printable(m.String()))
		}
	}
	var err error
	if f == formatJSON {
		err = writeIndented(a.out, done)
	} else {
		_, err = fmt.Fprintf(a.out, "%d of %s: %d killed, %d survived, %d invalid\n",
			len(done.Mutants), count(done.Of, "mutant"), outcomes["killed"], outcomes["survived"], outcomes["invalid"])
	}
	if err != nil || outcomes["survived"] == 0 {
		return err
	}
	return exitStatus(exitBroken)
}

// check refuses options that contradict --mutate.
func (f tryFlags) check(changed func(string) bool) error {
	if !f.mutate.on {
		for _, name := range []string{"mutants", "seed"} {
			if changed(name) {
				return usageError{fmt.Errorf("--%s is for --mutate: add that", name)}
			}
		}
		return nil
	}
	if f.run != "" || len(f.rules) > 0 || f.coverage {
		return usageError{errors.New("--mutate runs all tests: leave out --run, --rule and --coverage")}
	}
	if f.mutate.most < 1 {
		return usageError{fmt.Errorf("--mutants %d: want at least 1", f.mutate.most)}
	}
	return nil
}
