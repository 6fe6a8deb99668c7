package mcpclients

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The official conformance suite serves SDKs: most of its scenarios call tools, resources and prompts of
// fixed names that a server made for the suite has. A product has others. Those scenarios are left out by
// name, with the reason, and a scenario that is in neither list fails the test.
const (
	fixtureTool     = "calls a tool that only a server made for the suite has"
	fixtureResource = "reads a resource that only a server made for the suite has"
	noPrompts       = "we have no prompts"
	noLogging       = "we send no log messages to clients: the audit log is the operator's"
	noCompletion    = "our tools have no arguments that could be completed"
	noSubscription  = "our resources are read when they are wanted: nobody is told of changes"
	noTasks         = "we have no tasks: what lasts is a background shell"
	noSkills        = "we have no skills, so the suite finds nothing to check"
)

// suite is one version of it.
type suite struct {
	pkg string
	run []string          // scenarios that must pass
	not map[string]string // scenarios that are left out, with the reason
	but map[string]string // single checks that do not hold in scenarios that run, with the reason
}

func suites() []suite {
	before := suite{
		pkg: "conformance-2025-11-25",
		run: []string{
			"dns-rebinding-protection", "ping", "resources-list", "server-initialize", "server-sse-multiple-streams", "tools-list",
		},
		not: map[string]string{
			"completion-complete":           noCompletion,
			"elicitation-sep1034-defaults":  fixtureTool,
			"elicitation-sep1330-enums":     fixtureTool,
			"json-schema-2020-12":           fixtureTool,
			"logging-set-level":             noLogging,
			"prompts-get-embedded-resource": noPrompts,
			"prompts-get-simple":            noPrompts,
			"prompts-get-with-args":         noPrompts,
			"prompts-get-with-image":        noPrompts,
			"prompts-list":                  noPrompts,
			"resources-read-binary":         fixtureResource,
			"resources-read-text":           fixtureResource,
			"resources-subscribe":           noSubscription,
			"resources-unsubscribe":         noSubscription,
			"resources-templates-read":      fixtureResource,
			"server-sse-polling":            fixtureTool,
			"tools-call-audio":              fixtureTool,
			"tools-call-elicitation":        fixtureTool,
			"tools-call-embedded-resource":  fixtureTool,
			"tools-call-error":              fixtureTool,
			"tools-call-image":              fixtureTool,
			"tools-call-mixed-content":      fixtureTool,
			"tools-call-sampling":           fixtureTool,
			"tools-call-simple-text":        fixtureTool,
			"tools-call-with-logging":       fixtureTool,
			"tools-call-with-progress":      fixtureTool,
		},
	}
	since := suite{
		pkg: "@modelcontextprotocol/conformance",
		run: append([]string{
			"caching", "http-header-validation", "input-required-result-unsupported-methods",
			"input-required-result-validate-input", "sep-2164-resource-not-found", "server-session-lifecycle", "server-stateless",
		}, before.run...),
		not: map[string]string{
			"http-custom-header-server-validation":          fixtureTool,
			"input-required-result-basic-elicitation":       fixtureTool,
			"input-required-result-basic-list-roots":        fixtureTool,
			"input-required-result-basic-sampling":          fixtureTool,
			"input-required-result-capability-check":        fixtureTool,
			"input-required-result-ignore-extra-params":     fixtureTool,
			"input-required-result-missing-input-response":  fixtureTool,
			"input-required-result-multi-round":             fixtureTool,
			"input-required-result-multiple-input-requests": fixtureTool,
			"input-required-result-non-tool-request":        noPrompts,
			"input-required-result-request-state":           fixtureTool,
			"input-required-result-result-type":             fixtureTool,
			"input-required-result-tampered-state":          fixtureTool,
			"sep-2640-skills-directory":                     noSkills,
			"sep-2640-skills-enumeration":                   noSkills,
			"sep-2640-skills-manifest":                      noSkills,
			"tasks-capability-negotiation":                  noTasks,
			"tasks-dispatch-and-envelope":                   noTasks,
			"tasks-lifecycle":                               noTasks,
			"tasks-mrtr-composition":                        noTasks,
			"tasks-mrtr-input":                              noTasks,
			"tasks-request-headers":                         noTasks,
			"tasks-request-state-removal":                   noTasks,
			"tasks-required-task-error":                     noTasks,
			"tasks-status-notifications":                    noTasks,
			"tasks-wire-fields":                             noTasks,
		},
		but: map[string]string{
			"sep-2549-prompts-list-caching-hints":                    noPrompts,
			"sep-2164-data-uri":                                      "the library's error does not repeat the URI; the specification recommends it",
			"sep-2575-server-rejects-undeclared-capability":          fixtureTool,
			"sep-2575-missing-capability-http-400":                   fixtureTool,
			"sep-2575-http-server-no-independent-requests-on-stream": fixtureTool,
			"sep-2575-server-no-log-without-loglevel":                fixtureTool,
		},
	}
	maps.Copy(since.not, before.not)
	return []suite{before, since}
}

// argv is the start of a command line of the suite.
func (s suite) argv(t *testing.T) []string {
	t.Helper()
	return tool(t, s.pkg+"/dist/index.js")
}

func TestConformanceListsAreComplete(t *testing.T) {
	installed(t)
	t.Parallel()
	p := newPlace(t)
	for _, s := range suites() {
		var listed []string
		for line := range strings.Lines(p.mustRun(t, "", append(s.argv(t), "list", "--server")...)) {
			if name, ok := strings.CutPrefix(line, "  - "); ok {
				listed = append(listed, strings.Fields(name)[0])
			}
		}
		known := slices.Concat(s.run, slices.Collect(maps.Keys(s.not)))
		slices.Sort(known)
		slices.Sort(listed)
		if !slices.Equal(known, listed) {
			t.Errorf("%s has the scenarios\n%v\nhere are\n%v", s.pkg, listed, known)
		}
	}
}

// TestConformance runs the scenarios that a product can pass. One server sees them all.
func TestConformance(t *testing.T) {
	installed(t)
	t.Parallel()
	p := newPlace(t)
	server := p.serve(t)
	url := server.bearing(t)
	for _, s := range suites() {
		failed := map[string]bool{}
		for _, scenario := range s.run {
			t.Run(s.pkg+"/"+scenario, func(t *testing.T) {
				dir := t.TempDir()
				r := p.run(t, "", append(s.argv(t), "server", "--url", url, "--scenario", scenario, "-o", dir)...)
				results, err := filepath.Glob(filepath.Join(dir, "*", "checks.json"))
				if err != nil || len(results) != 1 {
					t.Fatalf("no result: %v, exit %d\n%s%s", err, r.code, r.stdout, r.stderr)
				}
				var checks []struct{ ID, Status, ErrorMessage string }
				readJSON(t, results[0], &checks)
				passed := 0
				for _, c := range checks {
					switch c.Status {
					case "SUCCESS":
						passed++
					case "SKIPPED", "INFO":
					default:
						failed[c.ID] = true
						if s.but[c.ID] == "" {
							t.Errorf("%s %s: %s", c.Status, c.ID, c.ErrorMessage)
						}
					}
				}
				if passed == 0 {
					t.Errorf("nothing was checked:\n%s", r.stdout)
				}
			})
		}
		for _, check := range slices.Sorted(maps.Keys(s.but)) {
			if !failed[check] {
				t.Errorf("%s: the check %s holds now: take it off the list of those that do not", s.pkg, check)
			}
		}
	}
	server.stop(t)
	if all := p.records(t); len(ofKind(all, "outcome")) != 0 {
		t.Error(fmt.Sprint("the suite runs no command, but on record is ", ofKind(all, "outcome")))
	}
}
