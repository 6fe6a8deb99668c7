package show

import (
	"fmt"
	"io"

	"github.com/sallyport-dev/sallyport/engine"
)

// Exit codes of check.
const (
	ExitDenied = 3
	ExitAsk    = 4
)

// CheckStatus is the exit code of check for an effect.
func CheckStatus(e engine.Effect) int {
	switch e {
	case engine.Allow:
		return 0
	case engine.Ask:
		return ExitAsk
	}
	return ExitDenied
}

// WriteDecision prints a decision and its reasons; of one that was not made, that it was not.
func WriteDecision(w io.Writer, out engine.Outcome) error {
	if out.Fault != nil {
		_, err := fmt.Fprintln(w, StyleOf(w).Red("error")) // no rule denied it
		return err
	}
	mode := ""
	if out.Decision.Mode == engine.Monitor {
		mode = " (monitor mode: it would run all the same)"
	}
	if _, err := fmt.Fprintf(w, "%s%s\n", StyleOf(w).Effect(out.Decision.Effect), mode); err != nil {
		return err
	}
	WriteReasons(w, "  ", JudgedText(out), out.Decision)
	return nil
}

// JudgedText is the text that an outcome is about; "" where it was not read.
func JudgedText(out engine.Outcome) string {
	if out.Input == nil {
		return ""
	}
	return out.Input.Request.Command
}
