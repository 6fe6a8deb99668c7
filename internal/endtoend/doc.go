// Package endtoend holds the tests that run the built program as a user would: against a real shell, a
// throw-away root in which destructive texts may really run, sudden death, and the commands of the README.
//
// It has no code of its own.
package endtoend
