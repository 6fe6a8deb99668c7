//go:build !race

package policies_test

const underRace = false
