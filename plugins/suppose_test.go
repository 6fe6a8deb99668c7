package plugins_test

import (
	"testing"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/plugins"
)

func TestSupposed(t *testing.T) {
	t.Parallel()
	own := facts.Runner{Name: "local", Isolation: "none", Programs: facts.Unseen}
	got, err := plugins.Supposed(own, map[string]string{"isolation": "container", "programs": "judged",
		"write": "holds"})
	want := facts.Runner{
		Name: "local", Isolation: "container", Programs: facts.Judged,
		Confinement: facts.Confinement{Write: facts.Holds},
	}
	if err != nil || got != want {
		t.Errorf("supposed: %+v, %v", got, err)
	}
	for stated, said := range map[string]string{
		"program":  `suppose: unknown fact "program": want one of connect, isolation, programs, read, write`,
		"programs": `suppose: programs: unknown value "yes": want judged, unseen, missing`,
	} {
		if _, err := plugins.Supposed(own, map[string]string{stated: "yes"}); err == nil || err.Error() != said {
			t.Errorf("%s: %v", stated, err)
		}
	}
}
