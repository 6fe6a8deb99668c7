// Package architecture holds the tests that keep the structure of the tree: which package may import
// which, the sole importers of large dependencies, and the documentation of every package.
//
// It has no code of its own.
package architecture
