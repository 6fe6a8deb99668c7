// Command entropy is a rule plugin that asks before a command is given something that looks like a
// secret: a long word without rhyme or reason. Rego cannot say that; a few lines of Go can.
package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/sallyport-dev/sallyport/plugins/sdk"
)

func main() {} // a plugin is a library: sallyport calls evaluate

//go:wasmexport sallyport_evaluate
func evaluate(at, size uint32) uint64 { return sdk.Evaluate(at, size, judge) }

func judge(in *sdk.Input) []sdk.Finding {
	var found []sdk.Finding
	for i, c := range in.Commands {
		for n, word := range c.Argv {
			if n > 0 && random(word) {
				found = append(found, sdk.Finding{
					Rule:     "plugin/entropy/secret_argument",
					Effect:   sdk.Ask,
					Severity: sdk.Medium,
					Title:    "An argument looks like a secret",
					Message: fmt.Sprintf(
						"argument %d of %s looks like a secret: it would be seen in the list of processes", n, c.Name),
					Remediation: "Put the secret into a variable of the environment and name the variable.",
					Command:     i,
					Path:        sdk.None,
				})
			}
		}
	}
	return found
}

// The threshold lies between words of a language and of a path, and keys.
const (
	leastLength = 20
	leastBits   = 4.0 // per character
)

// random reports whether some part of a word is long and has much information per character.
func random(word string) bool {
	for _, part := range strings.FieldsFunc(word,
		func(r rune) bool { return strings.ContainsRune("/=:@,.?&", r) }) {
		if len(part) >= leastLength && strings.ContainsAny(part, "0123456789") && bits(part) >= leastBits {
			return true
		}
	}
	return false
}

// bits is the information in one character of s, after Shannon.
func bits(s string) float64 {
	var count [256]float64
	for i := range len(s) {
		count[s[i]]++
	}
	var sum float64
	for _, n := range count {
		if n > 0 {
			p := n / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
