//go:build race

package mcpclients

// raceDetector says whether the program is built with the race detector, as the tests are.
const raceDetector = true
