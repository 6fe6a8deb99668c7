// Command report reads the output of `go test -json` on standard input and prints it for a person: a line
// for each package as it ends, one line for each cause of skipped tests, and the output of failed tests last.
//
// It does not run anything. It exits with status 1 when a test, a package or a build failed, or when no
// test ran. The list of skipped tests and the output of failed tests go to the files that the flags name.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

const module = "github.com/sallyport-dev/sallyport"

func main() {
	skips := flag.String("skipped", "", "`file` for the list of skipped tests")
	failures := flag.String("failed", "", "`file` to which the output of failed tests is appended")
	flag.Parse()
	ok, err := report(os.Stdin, os.Stdout, *skips, *failures)
	if err != nil {
		fmt.Fprintf(os.Stderr, "report: %v\n", err)
	}
	if !ok || err != nil {
		os.Exit(1)
	}
}

// report returns whether a test passed and nothing failed.
func report(in io.Reader, out io.Writer, skips, failures string) (ok bool, err error) {
	r := &run{out: out, tests: map[key]*result{}, skipped: map[string][]string{}}
	if err := r.read(in); err != nil {
		return false, fmt.Errorf("read the output of go test: %w", err)
	}
	return len(r.failed) == 0 && r.passed > 0, r.finish(skips, failures)
}

// event is one line of `go test -json`; see `go doc test2json`.
type event struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
	Elapsed                                                float64 // seconds
}

type key struct{ pkg, test string }

type result struct {
	output                  strings.Builder
	passed, failed, skipped int // of a package: its tests
}

// failure is one failed test, package or build with its output.
type failure struct{ name, output string }

type run struct {
	out     io.Writer
	tests   map[key]*result
	skipped map[string][]string // tests by cause
	failed  []failure
	passed  int
}

// A reader of -json meets a line of another form where a program writes to the standard output of go test.
func (r *run) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) != nil {
				fmt.Fprintf(r.out, "%s", line)
			} else {
				r.add(e)
			}
		}
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func (r *run) of(pkg, test string) *result {
	k := key{pkg, test}
	if r.tests[k] == nil {
		r.tests[k] = &result{}
	}
	return r.tests[k]
}

var reason = regexp.MustCompile(`left out: (.*?) \((.*)\)\n`)

func (r *run) add(e event) {
	pkg := short(cmp.Or(e.Package, e.ImportPath))
	res, all := r.of(pkg, e.Test), r.of(pkg, "")
	switch e.Action {
	case "output", "build-output":
		res.output.WriteString(e.Output)
	case "pass", "skip", "fail":
		if e.Test == "" {
			r.endPackage(pkg, e, all)
			return
		}
		r.endTest(pkg, e, res, all)
		delete(r.tests, key{pkg, e.Test})
	}
}

// short is the path of a package below the module. That of a build may go on with " [package.test]".
func short(path string) string {
	path, _, _ = strings.Cut(path, " ")
	return strings.TrimPrefix(path, module+"/")
}

func (r *run) endTest(pkg string, e event, res, all *result) {
	switch e.Action {
	case "pass":
		all.passed++
		r.passed++
	case "skip":
		all.skipped++
		cause, detail := "skipped without a cause", ""
		if m := reason.FindStringSubmatch(res.output.String()); m != nil {
			cause, detail = m[1], m[2]
		}
		r.skipped[cause] = append(r.skipped[cause], fmt.Sprintf("%s %s (%s)", pkg, e.Test, detail))
	case "fail":
		all.failed++
		r.failed = append(r.failed, failure{pkg + " " + e.Test, res.output.String()})
	}
}

func (r *run) endPackage(pkg string, e event, all *result) {
	if e.Action != "fail" && all.passed+all.skipped == 0 {
		return // it has no tests, or none that this run selects
	}
	word := "ok"
	if e.Action == "fail" {
		word = "FAIL"
		// A build, a panic or a timeout: the output of the package, and of tests that did not end, says which.
		if unfinished := r.unfinished(pkg); all.failed == 0 || unfinished != "" {
			output := all.output.String() + unfinished
			if from := short(e.FailedBuild); from != "" && from != pkg {
				output = r.of(from, "").output.String() + output
			}
			r.failed = append(r.failed, failure{pkg, output})
		}
	}
	note := fmt.Sprintf("%d passed", all.passed)
	if all.failed > 0 {
		note += fmt.Sprintf(", %d failed", all.failed)
	}
	if all.skipped > 0 {
		note += fmt.Sprintf(", %d skipped", all.skipped)
	}
	if strings.Contains(all.output.String(), "\t(cached)") {
		note += ", cached"
	}
	fmt.Fprintf(r.out, "%-4s %7.1f s  %-32s %s\n", word, e.Elapsed, pkg, note)
}

// unfinished is the output of those tests of a package that did not end, in the order of their names.
func (r *run) unfinished(pkg string) string {
	var left []string
	for k := range r.tests {
		if k.pkg == pkg && k.test != "" {
			left = append(left, k.test)
		}
	}
	slices.Sort(left)
	var output strings.Builder
	for _, test := range left {
		output.WriteString(r.of(pkg, test).output.String())
	}
	return output.String()
}

// finish prints the summary, failures last.
func (r *run) finish(skips, failures string) error {
	var list strings.Builder
	count := 0
	causes := make([]string, 0, len(r.skipped))
	for cause, tests := range r.skipped {
		causes, count = append(causes, cause), count+len(tests)
	}
	slices.SortFunc(causes, func(a, b string) int {
		return cmp.Or(len(r.skipped[b])-len(r.skipped[a]), strings.Compare(a, b))
	})
	for i, cause := range causes {
		if i == 0 {
			fmt.Fprintf(r.out, "\nSkipped tests by cause")
			if skips != "" {
				fmt.Fprintf(r.out, " (the list is in %s)", skips)
			}
			fmt.Fprintln(r.out, ":")
		}
		fmt.Fprintf(r.out, "%5d  %s\n", len(r.skipped[cause]), cause)
		fmt.Fprintf(&list, "%s\n  %s\n", cause, strings.Join(r.skipped[cause], "\n  "))
	}
	var failed strings.Builder
	for _, f := range r.failed {
		fmt.Fprintf(&failed, "\nFAIL %s\n%s", f.name, f.output)
	}
	fmt.Fprint(r.out, failed.String())
	if r.passed+len(r.failed) == 0 {
		fmt.Fprintln(r.out, "no test ran")
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, len(r.failed), count)
	if skips != "" {
		if err := os.WriteFile(skips, []byte(list.String()), 0o644); err != nil {
			return fmt.Errorf("write the list of skipped tests: %w", err)
		}
	}
	if failures == "" || failed.Len() == 0 {
		return nil
	}
	f, err := os.OpenFile(failures, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("write the output of failed tests: %w", err)
	}
	if _, err := f.WriteString(failed.String()); err != nil {
		return fmt.Errorf("write the output of failed tests: %w", err)
	}
	return f.Close()
}
