package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// line is an action, a package, a test and an output.
type line [4]string

// lines makes the output of go test -json.
func lines(events ...line) string {
	var text strings.Builder
	for _, e := range events {
		out := strings.NewReplacer("\n", `\n`, "\t", `\t`).Replace(e[3])
		text.WriteString(`{"Action":"` + e[0] + `","Package":"` + module + "/" + e[1] + `","Test":"` + e[2])
		text.WriteString(`","Elapsed":1.5,"Output":"` + out + `"}` + "\n")
	}
	return text.String()
}

func TestReport(t *testing.T) {
	t.Parallel()
	build := `{"ImportPath":"` + module + `/dep [` + module + `/a.test]","Action":"build-output","Output":"dep.go:1: oops\n"}` + "\n"
	for name, tc := range map[string]struct {
		in                       string
		out, skipped, failed     string // without the last line
		passes, fails, leavesOut string
		ok                       bool
	}{
		"passes": {
			in:     lines(line{"output", "a", "T", "noise\n"}, line{"pass", "a", "T"}, line{"pass", "a"}),
			out:    "ok       1.5 s  a                                1 passed\n",
			passes: "1", ok: true,
		},
		"cached": {
			in:     lines(line{"pass", "a", "T"}, line{"output", "a", "", "ok  \ta\t(cached)\n"}, line{"pass", "a"}),
			out:    "ok       1.5 s  a                                1 passed, cached\n",
			passes: "1", ok: true,
		},
		"no test files": {in: lines(line{"output", "a", "", "?\n"}, line{"skip", "a"}), out: "no test ran\n"},
		"nothing":       {out: "no test ran\n"},
		"skips by cause, the most frequent first": {
			in: lines(
				line{"pass", "a", "T"}, line{"skip", "a", "bare"},
				line{"output", "a", "U", "    a_test.go:1: left out: needs x: get (it) (no x on PATH)\n"}, line{"skip", "a", "U"},
				line{"output", "a", "V", "    a_test.go:2: left out: needs y (no (old) y)\n"}, line{"skip", "a", "V"},
				line{"output", "a", "W", "    a_test.go:2: left out: needs y (none)\n"}, line{"skip", "a", "W"},
				line{"pass", "a"}),
			out: "ok       1.5 s  a                                1 passed, 4 skipped\n" +
				"\nSkipped tests by cause (the list is in SKIPPED):\n" +
				"    2  needs y\n    1  needs x: get\n    1  skipped without a cause\n",
			skipped: "needs y\n  a V (no (old) y)\n  a W (none)\nneeds x: get\n  a U (it) (no x on PATH)\n" +
				"skipped without a cause\n  a bare ()\n",
			passes: "1", leavesOut: "4", ok: true,
		},
		"fails, among others": {
			in: lines(
				line{"output", "a", "T", "    a_test.go:1: wrong\n"}, line{"fail", "a", "T"},
				line{"output", "a", "U", "    a_test.go:9: left out: needs y (none)\n"}, line{"skip", "a", "U"},
				line{"output", "a", "", "FAIL\n"}, line{"fail", "a"}, line{"pass", "b", "T"}, line{"pass", "b"}),
			out: "FAIL     1.5 s  a                                0 passed, 1 failed, 1 skipped\n" +
				"ok       1.5 s  b                                1 passed\n" +
				"\nSkipped tests by cause (the list is in SKIPPED):\n    1  needs y\n",
			skipped: "needs y\n  a U (none)\n",
			failed:  "\nFAIL a T\n    a_test.go:1: wrong\n",
			passes:  "1", fails: "1", leavesOut: "1",
		},
		"does not build": {
			in:     build + strings.Replace(lines(line{"fail", "a"}), "{", `{"FailedBuild":"`+module+`/dep [`+module+`/a.test]",`, 1),
			out:    "FAIL     1.5 s  a                                0 passed\n",
			failed: "\nFAIL a\ndep.go:1: oops\n", fails: "1",
		},
		"runs into the time limit after a failure": {
			in: lines(line{"output", "a", "T", "wrong\n"}, line{"fail", "a", "T"}, line{"output", "a", "V", "V waits\n"},
				line{"output", "a", "U", "panic: test timed out\n"}, line{"fail", "a"}),
			out:    "FAIL     1.5 s  a                                0 passed, 1 failed\n",
			failed: "\nFAIL a T\nwrong\n\nFAIL a\npanic: test timed out\nV waits\n", fails: "2",
		},
		"words of another program": {
			in:  "# warning\n" + lines(line{"pass", "a", "T"}, line{"pass", "a"}),
			out: "# warning\nok       1.5 s  a                                1 passed\n", passes: "1", ok: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var out strings.Builder
			dir := t.TempDir()
			skips, failures := filepath.Join(dir, "skipped"), filepath.Join(dir, "failed")
			ok, err := report(strings.NewReader(tc.in), &out, skips, failures)
			if err != nil || ok != tc.ok {
				t.Errorf("ok %v, %v", ok, err)
			}
			count := func(s string) string {
				if s == "" {
					return "0"
				}
				return s
			}
			want := tc.out + tc.failed + "\n" + count(tc.passes) + " passed, " + count(tc.fails) + " failed, " +
				count(tc.leavesOut) + " skipped\n"
			if diff := cmp.Diff(want, strings.ReplaceAll(out.String(), skips, "SKIPPED")); diff != "" {
				t.Errorf("printed (-want +got):\n%s", diff)
			}
			for file, want := range map[string]string{skips: tc.skipped, failures: tc.failed} {
				if got, _ := os.ReadFile(file); string(got) != want {
					t.Errorf("%s holds %q, want %q", filepath.Base(file), got, want)
				}
			}
		})
	}
}

// TestFilesOfTheReport: the list of skips is written anew, and failures are appended. A file that cannot be
// written is an error.
func TestFilesOfTheReport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	skips, failures := filepath.Join(dir, "skipped"), filepath.Join(dir, "failed")
	in := lines(line{"output", "a", "T", "wrong\n"}, line{"fail", "a", "T"}, line{"skip", "a", "U"}, line{"fail", "a"})
	for range 2 {
		if _, err := report(strings.NewReader(in), &strings.Builder{}, skips, failures); err != nil {
			t.Fatal(err)
		}
	}
	for file, times := range map[string]int{skips: 1, failures: 2} {
		if text, err := os.ReadFile(file); err != nil || strings.Count(string(text), "  a U")+strings.Count(string(text), "FAIL a T") != times {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
	for _, files := range [][2]string{{dir, ""}, {"", dir}} {
		if _, err := report(strings.NewReader(in), &strings.Builder{}, files[0], files[1]); err == nil {
			t.Errorf("a directory is written to: %q", files)
		}
	}
}
