package rego

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/open-policy-agent/opa/v1/ast"
	"github.com/open-policy-agent/opa/v1/storage"
	"github.com/open-policy-agent/opa/v1/storage/inmem"
	"github.com/open-policy-agent/opa/v1/tester"
)

// TestOptions say which unit tests run.
type TestOptions struct {
	Bundle  fs.FS         // the built-in policies, without tests
	Dirs    []string      // directories of the operator, with policies below custom and their tests
	Builtin string        // the source directory of the built-in policies, with tests, in place of Bundle; "" for none
	Filter  string        // a regular expression on data.package.test_name; "" for all
	Timeout time.Duration // for one test; 0 means DefaultTimeout
}

// TestOutcome is how one unit test ended. Only TestPass is a success.
type TestOutcome string

const (
	TestPass  TestOutcome = "pass"
	TestFail  TestOutcome = "fail"
	TestError TestOutcome = "error"
	TestSkip  TestOutcome = "skip"
)

// TestResult is what became of one unit test.
type TestResult struct {
	Name     string        `json:"name"` // data.package.test_name
	Outcome  TestOutcome   `json:"outcome"`
	Detail   string        `json:"detail"` // the error, or why it failed where that is known
	Output   string        `json:"output"` // what print wrote
	File     string        `json:"file"`
	Row      int           `json:"row"`
	Duration time.Duration `json:"duration_ns"`
}

// Test runs Rego unit tests in process, with the capabilities and the strictness of decisions.
// Results come in the order of files. That no test matches the filter is an error, and so is a
// test over cases that has none: it would pass without having looked at anything.
func Test(ctx context.Context, opts TestOptions) ([]TestResult, error) {
	if _, err := regexp.Compile(opts.Filter); err != nil {
		return nil, fmt.Errorf("read test filter: %w: give an RE2 expression", err)
	}
	set := &fileSet{}
	if opts.Builtin != "" {
		set.read(os.DirFS(opts.Builtin), "", false, isRego)
	} else {
		set.read(opts.Bundle, "", false, isRego)
	}
	set.readCustom(opts.Dirs, isRego)
	set.parse()
	rules := set.check()
	data, err := set.data(Config{})
	if err := set.err(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	results, err := set.runTests(ctx, opts, rules, data)
	if err != nil {
		return nil, err
	}
	if len(results) == 0 {
		return nil, errors.New("run tests: no test matches: name tests test_… and put them into files that end in _test.rego")
	}
	slices.SortStableFunc(results, func(a, b TestResult) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row))
	})
	return results, nil
}

func (s *fileSet) runTests(ctx context.Context, opts TestOptions, rules []*rule, data map[string]any) ([]TestResult, error) {
	modules, err := s.modules(registry(rules, (*rule).waitsFor))
	if err != nil {
		return nil, err
	}
	byCases := s.testsOverCases()
	store := inmem.NewFromObjectWithOpts(data, inmem.OptRoundTripOnWrite(false))
	txn, err := store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return nil, fmt.Errorf("run tests: %w", err)
	}
	defer store.Abort(ctx, txn)
	results, err := tester.NewRunner().
		SetCompiler(newCompiler().WithEnablePrintStatements(true)).
		SetStore(store).
		SetModules(modules).
		CapturePrintOutput(true).
		RaiseBuiltinErrors(true).
		SetTimeout(cmp.Or(opts.Timeout, DefaultTimeout)).
		Filter(opts.Filter).
		RunTests(ctx, txn)
	if err != nil {
		s.failed("", err)
		return nil, s.err()
	}
	var all []TestResult
	for r := range results {
		all = append(all, testResult(r, byCases))
	}
	return all, ctx.Err()
}

func testResult(r *tester.Result, byCases map[string]bool) TestResult {
	result := TestResult{Name: r.Package + "." + r.Name, Outcome: TestPass, Output: string(r.Output), Duration: r.Duration}
	if r.Location != nil {
		result.File, result.Row = r.Location.File, r.Location.Row
	}
	switch {
	case r.Error != nil:
		result.Outcome, result.Detail = TestError, r.Error.Error()
	case r.Skip:
		result.Outcome = TestSkip
	case r.Fail:
		result.Outcome = TestFail
		var failed []string
		for path, sub := range r.SubResults.Iter {
			if sub.Fail && len(sub.SubResults) == 0 {
				failed = append(failed, strings.Join(path, "/"))
			}
		}
		result.Detail = strings.Join(failed, ", ")
	case byCases[place(r.Location)] && len(r.SubResults) == 0:
		result.Outcome, result.Detail = TestFail, "it has no cases"
	}
	return result
}

// testsOverCases finds the tests of the form test_x[case] if { … }.
func (s *fileSet) testsOverCases() map[string]bool {
	found := map[string]bool{}
	for _, src := range s.sources {
		for _, r := range src.module.Rules {
			if r.Head.DocKind() == ast.PartialObjectDoc {
				found[place(r.Location)] = true
			}
		}
	}
	return found
}

func place(l *ast.Location) string {
	if l == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", l.File, l.Row)
}
