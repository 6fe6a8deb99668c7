// Package baddays tests environments when something outside of them fails: no
// engine, an engine that dies, a container that somebody stops, a full disk, a command that takes all
// that it can get.
//
// It has no code of its own, and all of it is part of the full run. The tests run the real runners against a
// real engine; a test that ends an engine starts its own. Each asserts a clear error or result that names the
// remedy, no hang, no lost result and no surviving process.
package baddays
