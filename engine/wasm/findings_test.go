package wasm

import (
	"testing"

	"github.com/sallyport-dev/sallyport/engine"
)

// FuzzFindings: whatever a plugin gives back is a fault, or a judgement that does not contradict itself
// and points into the input.
func FuzzFindings(f *testing.F) {
	f.Add(nothing)
	f.Add(one("", ""))
	f.Add(one("deny", "warn"))
	f.Add(one(`"command":0`, `"path":0,"message":"\ud800"`))
	f.Add(`{"findings":[{}]}`)
	f.Add(`{"findings":null}x`)
	p := &Plugin{manifest: Manifest{Name: "test"}, rules: map[string]bool{"plugin/test/rule": true}}
	f.Fuzz(func(t *testing.T, output string) {
		in := sampleInput()
		j, err := p.judgement(in, [][]byte{[]byte(output)})
		if err != nil {
			if j.Effect == engine.Allow {
				t.Errorf("an error that allows: %v", err)
			}
			return
		}
		worst := engine.Allow
		for _, r := range j.Reasons {
			if r.Rule != "plugin/test/rule" || r.Title == "" || r.Command < -1 || r.Command >= len(in.Commands) || r.Path < -1 || r.Path >= len(in.Paths) {
				t.Errorf("an unsound reason: %+v", r)
			}
			switch {
			case r.Effect == engine.Deny:
				worst = engine.Deny
			case r.Effect == engine.Ask && worst == engine.Allow:
				worst = engine.Ask
			}
		}
		if j.Effect != worst {
			t.Errorf("effect %s, its reasons say %s", j.Effect, worst)
		}
	})
}
