//go:build race

package audit

// underRace: exhaustive tests take ten times as long and are not about concurrency. See thin.
const underRace = true
