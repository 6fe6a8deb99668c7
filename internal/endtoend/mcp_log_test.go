package endtoend

import (
	"encoding/json"
	"strings"
)

// record is what the tests look at of an audit record.
type record struct {
	Kind     string `json:"kind"`
	Decision string `json:"decision_id"`
	Killed   string `json:"killed"`
	Signal   string `json:"signal"`
	TimedOut bool   `json:"timed_out"`
	Input    struct {
		Request struct {
			Command string `json:"command"`
		} `json:"request"`
	} `json:"input"`
}

// records verifies the log and returns what it holds.
func (s *server) records() []record {
	s.t.Helper()
	if r := run(s.t, s.workspace, s.env, program, "audit", "verify"); r.code != 0 {
		s.t.Errorf("the log does not verify: exit %d\n%s%s", r.code, r.stdout, r.stderr)
	}
	r := run(s.t, s.workspace, s.env, program, "audit", "list", "--format", "json")
	if r.code != 0 {
		s.t.Fatalf("list the log: exit %d\n%s", r.code, r.stderr)
	}
	var all []record
	for line := range strings.Lines(r.stdout) {
		var rec record
		if err := json.Unmarshal([]byte(line), &rec); err != nil {
			s.t.Fatal(err)
		}
		all = append(all, rec)
	}
	return all
}

// balanced checks that the log tells a whole story: one start and one stop, and for each of so many calls
// one decision with one outcome.
func (s *server) balanced(calls int) []record {
	s.t.Helper()
	all := s.records()
	kinds := map[string]int{}
	of := map[string][2]int{}
	for _, r := range all {
		kinds[r.Kind]++
		n := of[r.Decision]
		switch r.Kind {
		case "decision":
			n[0]++
		case "outcome":
			n[1]++
		default:
			continue
		}
		of[r.Decision] = n
	}
	if kinds["start"] != 1 || kinds["stop"] != 1 || len(of) != calls {
		s.t.Errorf("%d starts, %d stops, %d decisions, want 1, 1, %d", kinds["start"], kinds["stop"], len(of), calls)
	}
	for id, n := range of {
		if n != [2]int{1, 1} {
			s.t.Errorf("decision %s: %d decisions and %d outcomes", id, n[0], n[1])
		}
	}
	return all
}
