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
	"github.com/open-policy-agent/opa/v1/cover"
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

	Coverage bool // tell which lines of the policies under test no test reaches
}

// TestReport is the result of unit tests.
type TestReport struct {
	Results  []TestResult
	Coverage []FileCoverage // of the files under test that are no tests, by name; nil unless it was asked for
}

// FileCoverage says how much of a file tests reach.
type FileCoverage struct {
	File       string   `json:"file"`
	Percent    float64  `json:"percent"`     // of its lines that hold expressions
	NotCovered []string `json:"not_covered"` // lines: "7", "10-12"
}

// ErrNoTests is wrapped by the error of Test when no test matches.
var ErrNoTests = errors.New(
	"no test matches: name tests test_… and put them into files that end in _test.rego")

// TestOutcome is how one unit test ended. Only TestPass is a success.
type TestOutcome string

const (
	TestPass  TestOutcome = "pass"
	TestFail  TestOutcome = "fail"
	TestError TestOutcome = "error"
	TestSkip  TestOutcome = "skip"
)

// TestResult is the result of one unit test.
type TestResult struct {
	Name     string        `json:"name"` // data.package.test_name
	Outcome  TestOutcome   `json:"outcome"`
	Detail   string        `json:"detail"` // the error, or why it failed where that is known
	Output   string        `json:"output"` // the output of print
	File     string        `json:"file"`
	Row      int           `json:"row"`
	Duration time.Duration `json:"duration_ns"`
}

// Test runs Rego unit tests in process, with the capabilities and the strictness of decisions.
// Results come in the order of files. That no test matches the filter is an error, and so is a
// test over cases that has none: it would pass without having looked at anything.
func Test(ctx context.Context, opts TestOptions) (TestReport, error) {
	if _, err := regexp.Compile(opts.Filter); err != nil {
		return TestReport{}, fmt.Errorf("read test filter: %w: give an RE2 expression", err)
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
		return TestReport{}, err
	}
	if err != nil {
		return TestReport{}, err
	}
	report, err := set.runTests(ctx, newCompiler(), opts, rules, data)
	if err != nil {
		return TestReport{}, err
	}
	if len(report.Results) == 0 {
		return TestReport{}, fmt.Errorf("run tests: %w", ErrNoTests)
	}
	slices.SortStableFunc(report.Results, func(a, b TestResult) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Row, b.Row))
	})
	return report, nil
}

func (s *fileSet) runTests(
	ctx context.Context, compiler *ast.Compiler, opts TestOptions, rules []*rule, data map[string]any,
) (TestReport, error) {
	modules, err := s.modules(registry(rules, (*rule).waitsFor))
	if err != nil {
		return TestReport{}, err
	}
	byCases := s.testsOverCases()
	store := inmem.NewFromObjectWithOpts(data, inmem.OptRoundTripOnWrite(false))
	txn, err := store.NewTransaction(ctx, storage.TransactionParams{})
	if err != nil {
		return TestReport{}, fmt.Errorf("run tests: %w", err)
	}
	defer store.Abort(ctx, txn)
	runner := tester.NewRunner().
		SetCompiler(compiler.WithEnablePrintStatements(true)).
		SetStore(store).
		SetModules(modules).
		CapturePrintOutput(true).
		RaiseBuiltinErrors(true).
		SetTimeout(cmp.Or(opts.Timeout, DefaultTimeout)).
		Filter(opts.Filter)
	lines := cover.New()
	if opts.Coverage {
		runner.SetCoverageQueryTracer(lines)
	}
	results, err := runner.RunTests(ctx, txn)
	if err != nil {
		s.failed("", err)
		return TestReport{}, s.err()
	}
	var report TestReport
	for r := range results {
		report.Results = append(report.Results, testResult(r, byCases))
	}
	if opts.Coverage {
		report.Coverage = s.coverage(lines.Report(modules), opts.Builtin != "")
	}
	return report, ctx.Err()
}

// spans are ranges of lines as a person writes them.
func spans(ranges []cover.Range) []string {
	texts := []string{}
	for i := 0; i < len(ranges); {
		first, last := ranges[i].Start.Row, ranges[i].End.Row
		for i++; i < len(ranges) && ranges[i].Start.Row <= last+1; i++ {
			last = max(last, ranges[i].End.Row)
		}
		text := fmt.Sprint(first)
		if last > first {
			text += fmt.Sprintf("-%d", last)
		}
		texts = append(texts, text)
	}
	return texts
}

// coverage picks the files under test.
func (s *fileSet) coverage(report cover.Report, builtin bool) []FileCoverage {
	all := []FileCoverage{}
	for _, src := range s.sources {
		found := report.Files[src.name]
		if found == nil || src.test() || !src.custom && !builtin {
			continue
		}
		all = append(all, FileCoverage{src.name, found.Coverage, spans(found.NotCovered)})
	}
	slices.SortFunc(all, func(a, b FileCoverage) int { return cmp.Compare(a.File, b.File) })
	return all
}

func testResult(r *tester.Result, byCases map[string]bool) TestResult {
	result := TestResult{Name: r.Package + "." + r.Name, Outcome: TestPass, Output: string(r.Output),
		Duration: r.Duration}
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
