// Package sdk is for rule plugins that are written in Go: it speaks the interface between a plugin
// and sallyport (docs/writing-plugins.md), so that a plugin is one function from an Input to
// Findings:
//
//	package main
//
//	import "github.com/sallyport-dev/sallyport/plugins/sdk"
//
//	func main() {}
//
//	//go:wasmexport sallyport_evaluate
//	func evaluate(at, size uint32) uint64 { return sdk.Evaluate(at, size, judge) }
//
//	func judge(in *sdk.Input) []sdk.Finding { … }
//
// and is built by
//
//	GOOS=wasip1 GOARCH=wasm go build -buildmode=c-shared -ldflags='-s -w' -o name.wasm .
//
// The package needs nothing beyond the standard library. On other systems than wasip1 it holds the
// types and Judge, for tests of a plugin in plain Go.
package sdk

import (
	"encoding/json"
	"fmt"
)

// Effect is the effect that a finding asks for.
type Effect string

// The effects. Deny beats ask, and both beat all that others allow; warn refuses nothing.
const (
	Deny Effect = "deny"
	Ask  Effect = "ask"
	Warn Effect = "warn"
)

// Severity says how bad a finding is.
type Severity string

// The severities.
const (
	Low      Severity = "low"
	Medium   Severity = "medium"
	High     Severity = "high"
	Critical Severity = "critical"
)

// None is the index of a finding that concerns no command or no path.
const None = -1

// Finding is one finding of a rule in an input.
type Finding struct {
	Rule        string   `json:"rule"` // "plugin/<name>/<rule>", as the manifest names it
	Effect      Effect   `json:"effect"`
	Severity    Severity `json:"severity"`
	Title       string   `json:"title"`
	Message     string   `json:"message"`     // "" for the title
	Remediation string   `json:"remediation"` // the allowed way to the same goal
	Command     int      `json:"command"`     // index into the input's commands, or None
	Path        int      `json:"path"`        // index into the input's paths, or None
}

// Judge serves a call of the plugin: it decodes an input, judges it and encodes the findings.
func Judge(input []byte, judge func(*Input) []Finding) ([]byte, error) {
	var in Input
	if err := json.Unmarshal(input, &in); err != nil {
		return nil, fmt.Errorf("decode input: %w", err)
	}
	found := judge(&in)
	if found == nil {
		found = []Finding{} // null would say nothing, and nothing said is a fault
	}
	return json.Marshal(struct {
		Findings []Finding `json:"findings"`
	}{found})
}
