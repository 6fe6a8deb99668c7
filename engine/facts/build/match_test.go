package build

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// An exemption ends with its time, in a process that goes on as in one that starts, and a recorded request is
// judged by those that held then.
func TestExemptionsExpire(t *testing.T) {
	t.Parallel()
	end := time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	layout := testLayout()
	layout.Exemptions = []facts.Exemption{{}, {Match: regexp.MustCompile(`^(?:rm -rf build)$`), Expires: end}, {Match: regexp.MustCompile(`^(?:rm -rf build)$`), Expires: time.Time{}}}
	b := NewBuilder(layout, testBuilder().Files, nil)
	for at, want := range map[time.Time][]int{
		end.Add(-time.Nanosecond): {1}, end: {}, end.Add(time.Hour): {}, end.Add(-time.Hour).In(time.FixedZone("x", 3600*12)): {1},
	} {
		ask := testAsk("rm -rf build")
		ask.Request.Time = at
		in := b.Build(ask)
		if got := in.Commands[0].Matches.Exempt; !slices.Equal(got, want) {
			t.Errorf("at %v: exempt by %v, want %v", at, got, want)
		}
		in.Rematch(&layout)
		if got := in.Commands[0].Matches.Exempt; !slices.Equal(got, want) {
			t.Errorf("again, at %v: exempt by %v, want %v", at, got, want)
		}
	}
}
