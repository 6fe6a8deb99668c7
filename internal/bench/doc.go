// Package bench holds the benchmarks of whole paths through the program, each beside the baseline that it
// is compared with: the two take turns in one run, so that a machine whose speed drifts slows both.
//
// It has no code of its own. `make bench` runs it.
package bench
