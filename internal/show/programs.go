package show

import (
	"fmt"

	"github.com/sallyport-dev/sallyport/engine"
)

// shownRefused bounds the refused programs that are named one by one.
const shownRefused = 10

// RefusedPrograms says, line by line, which programs of a command were refused, and what to do instead.
func RefusedPrograms(all *engine.Programs) []string {
	if all == nil {
		return nil
	}
	var lines []string
	for _, r := range all.Refused[:min(len(all.Refused), shownRefused)] {
		lines = append(lines, r.String())
		if r.Remediation != "" {
			lines = append(lines, "  instead: "+r.Remediation)
		}
	}
	if more := len(all.Refused) - shownRefused; more > 0 {
		lines = append(lines, fmt.Sprintf("refused to start: %d more programs", more))
	}
	return lines
}
