package show

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine"
)

// shownHeld bounds the held files that are named one by one.
const shownHeld = 10

// Held says, line by line, which files were refused to a command or moved aside at its end, and how a person
// puts these back.
func Held(all []engine.Held) []string {
	if len(all) == 0 {
		return nil
	}
	var lines []string
	for _, h := range all[:min(len(all), shownHeld)] {
		lines = append(lines, h.String())
	}
	if more := len(all) - shownHeld; more > 0 {
		lines = append(lines, fmt.Sprintf("held or refused: %d more files", more))
	}
	kept := slices.IndexFunc(all, func(h engine.Held) bool { return !h.Refused })
	if kept < 0 {
		return append(lines, "to allow it, approve a command that names the file")
	}
	decision, _, _ := strings.Cut(all[kept].ID, ".")
	return append(lines, "look at them, then put them back with: sallyport env release "+decision)
}
