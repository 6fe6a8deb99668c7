package rego

import (
	"strings"
	"testing"
)

func TestUnitTestsOfBuiltinPolicies(t *testing.T) {
	t.Parallel()
	report, err := Test(t.Context(), TestOptions{Builtin: "../../policies"})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range report.Results {
		if r.Outcome != TestPass {
			t.Errorf("%s:%d: %s: %s %s %s", r.File, r.Row, r.Name, r.Outcome, r.Detail, r.Output)
		}
	}
}

func TestUnitTests(t *testing.T) {
	t.Parallel()
	dir := directory(t, map[string]string{
		"x.rego": metadataText + "package custom.team.x\n\ndeny contains {\"command\": i} if input.commands[i].name == \"ls\"\n\nwarn contains {} if {\n\tinput.version == 7\n\tinput.version == 8\n}\n",
		"x_test.rego": `package custom.team.x_test

import data.custom.team.x

test_denies if x.deny == {{"command": 0}} with input as {"commands": [{"name": "ls"}]}

test_fails if {
	print("hello")
	count(x.deny) == 7 with input as {}
}

test_errs if 1 / count([]) == 1

todo_test_later if false

test_cases[name] if {
	some name, command in {"one": "ls", "two": "cat"}
	count(x.deny) == 1 with input as {"commands": [{"name": command}]}
}

test_no_cases[name] if {
	some name in data.custom.missing
	x.deny == set() with input as name
}

test_whole_decision if data.sallyport.main.decision.effect == "deny" with input as {}
`,
	})
	report, err := Test(t.Context(), TestOptions{Bundle: small(), Dirs: []string{dir}, Filter: "custom", Coverage: true})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range report.Results {
		_, name, _ := strings.Cut(r.Name, "x_test.")
		got = append(got, strings.TrimSpace(name+" "+string(r.Outcome)+" "+strings.TrimSpace(r.Output)+r.Detail))
		if r.File != dir+"/x_test.rego" || r.Row == 0 {
			t.Errorf("%s stands at %s:%d", r.Name, r.File, r.Row)
		}
	}
	for i := range got {
		if strings.HasPrefix(got[i], "test_errs error") {
			got[i] = "test_errs error"
		}
	}
	equal(t, got, []string{
		"test_denies pass", "test_fails fail hello", "test_errs error", "todo_test_later skip",
		"test_cases fail two", "test_no_cases fail it has no cases", "test_whole_decision pass",
	})
	equal(t, report.Coverage, []FileCoverage{{dir + "/x.rego", 25, []string{"10-12"}}})
}

func TestUnitTestsThatCannotRun(t *testing.T) {
	t.Parallel()
	broken := directory(t, map[string]string{"x.rego": "package custom.x\n\ndeny := 1\n"})
	undefined := directory(t, map[string]string{"x.rego": metadataText + "package custom.x\n\ndeny contains {} if false\n", "x_test.rego": "package custom.x_test\n\ntest_x if nowhere(1)\n"})
	for want, opts := range map[string]TestOptions{
		"no test matches":      {Filter: "^nothing$"},
		"read test filter":     {Filter: "("},
		"must be a set":        {Dirs: []string{broken}},
		"undefined function":   {Dirs: []string{undefined}},
		"not sallyport's":      {Builtin: undefined},
		"no such file or dire": {Dirs: []string{broken + "/missing"}},
	} {
		if opts.Builtin == "" {
			opts.Bundle = small()
		}
		if want == "not sallyport's" {
			want = "does not match its directory"
		}
		if _, err := Test(t.Context(), opts); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error about %q", err, want)
		}
	}
}
