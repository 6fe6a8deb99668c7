package show

import (
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// Programs draws, line by line, the programs that a command started, each below those that started it.
func Programs(all *engine.Programs) []string {
	if all == nil {
		return nil
	}
	head := fmt.Sprintf("programs: %d started, %d refused", all.Started, len(all.Refused))
	if all.Uncompared > 0 {
		head += fmt.Sprintf(", %d ended before they were compared", all.Uncompared)
	}
	if !all.Whole {
		head += "; the first of them:"
	}
	lines := []string{head}
	for _, p := range all.List {
		line := strings.Repeat("  ", len(p.Way)+1) + p.Words
		if p.Times > 1 {
			line += fmt.Sprintf("  (%d times)", p.Times)
		}
		lines = append(lines, line)
	}
	for _, r := range all.Refused {
		lines = append(lines, fmt.Sprintf("  %s (decision %s)", r, r.Decision))
	}
	return lines
}

// shownRefused bounds the refused programs that are named one by one.
const shownRefused = 10

// RefusedPrograms lists, line by line, the refused programs of a command, and the alternatives.
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
