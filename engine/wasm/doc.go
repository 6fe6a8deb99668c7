// Package wasm judges inputs by rules that are compiled to WebAssembly: rule plugins, which are
// written in any language, get the policy input as JSON and give back findings as JSON, and policies
// that OPA has compiled.
//
// It is the only package that imports wazero. A module gets nothing of the machine: no files, no
// network, no environment, no clock, no randomness. Stubs answer the WASI calls of a toolchain's
// start code: they refuse or give the same answer each time. Before it is compiled, every module is
// rewritten so that it counts its steps and asks the host now and then whether it may go on
// (meter.go): that bounds its time, and keeps a loop in it from stopping the garbage collector of
// the whole process. Memory, output and time have limits. No state survives a call (pool.go).
//
// It judges nothing itself. Every result that is not a sound list of its own rules'
// findings is an error, and callers refuse on errors: a trap, a deadline, an effect that nobody
// knows, an index that points nowhere, a rule of another's.
package wasm
