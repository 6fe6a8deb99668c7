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

// Checked is the JSON form of the decision about a command that does not run.
type Checked struct {
	engine.Decision
	Isolation string `json:"isolation"` // of the environment in which it would run, as in facts.Runner; "" if unknown
}

// CheckedOf is the JSON form of an outcome of Check.
func CheckedOf(out engine.Outcome) Checked {
	c := Checked{Decision: out.Decision}
	if out.Input != nil {
		c.Isolation = out.Input.Runner.Isolation
	}
	return c
}

// WarnMissing tells a person that exec would refuse a command which the policies let run, because there is no
// sandbox. why is nil where the sandbox is available, or where the configuration asks for none.
func WarnMissing(w io.Writer, out engine.Outcome, why error) {
	runs := out.Decision.Effect != engine.Deny || out.Decision.Mode == engine.Monitor
	if why != nil && runs && out.Fault == nil {
		fmt.Fprintf(w, "sallyport: warning: exec would not run it: %s\n", Printable(why.Error()))
	}
}

// JudgedText is the text that an outcome is about; "" where it was not read.
func JudgedText(out engine.Outcome) string {
	if out.Input == nil {
		return ""
	}
	return out.Input.Request.Command
}
