//go:build !race

package mcpclients

const raceDetector = false
