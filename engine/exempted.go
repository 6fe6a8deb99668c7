package engine

import (
	"time"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Exempted is a finding that refuses nothing because an exemption of the operator's says so, and that
// exemption.
type Exempted struct {
	Rule    string    `json:"rule"`
	Effect  Effect    `json:"effect"` // that the rule gives it
	Message string    `json:"message"`
	Command int       `json:"command"` // index into the input's commands
	Match   string    `json:"match"`   // of the exemption, as are the next two
	Reason  string    `json:"reason"`
	Expires time.Time `json:"expires"`
}

// exempted joins findings that were taken away with the exemptions that did it. A finding without one stays
// among them: it is on record that it was there.
func (g *Gate) exempted(in *facts.Input, found []Reason) []Exempted {
	all := make([]Exempted, len(found))
	for n, r := range found {
		all[n] = Exempted{Rule: r.Rule, Effect: r.Effect, Message: r.Message, Command: r.Command}
		if r.Command < 0 || r.Command >= len(in.Commands) {
			continue
		}
		for _, i := range in.Commands[r.Command].Matches.Exempt {
			if i < 0 || i >= len(g.o.Layout.Exemptions) {
				continue
			}
			if e := g.o.Layout.Exemptions[i]; e.Rule == r.Rule {
				all[n].Match, all[n].Reason, all[n].Expires = e.Text, e.Reason, e.Expires
				break
			}
		}
	}
	return all
}
