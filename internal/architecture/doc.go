// Package architecture holds the tests that keep the structure of the tree: which package may import
// which, who alone may import a large dependency, and what every package owes its readers.
//
// It has no code of its own.
package architecture
