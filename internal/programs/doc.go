// Package programs tries the judgement of programs that commands start, with the built program: that it sees
// every program that the kernel starts, that no way to write or to start a destructive program gets one past
// it, and that it refuses nothing in the builds and tests of real projects.
//
// It has no code of its own.
package programs
