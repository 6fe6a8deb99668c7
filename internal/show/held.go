package show

import (
	"fmt"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// shownHeld bounds the held files that are named one by one.
const shownHeld = 10

// Held says, line by line, which files a command left that were moved aside, and how a person puts them back.
func Held(all []engine.Held) []string {
	if len(all) == 0 {
		return nil
	}
	var lines []string
	for _, h := range all[:min(len(all), shownHeld)] {
		lines = append(lines, h.String())
	}
	if more := len(all) - shownHeld; more > 0 {
		lines = append(lines, fmt.Sprintf("held: %d more files", more))
	}
	decision, _, _ := strings.Cut(all[0].ID, ".")
	return append(lines, "look at them, then put them back with: sallyport env release "+decision)
}
