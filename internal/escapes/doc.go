// Package escapes tries to get out of every environment that is there to confine: a corpus of attacks,
// each with the mechanism that stops it, run against the real runners.
//
// Each case is first shown to succeed where nothing confines it; otherwise its failure elsewhere would
// show nothing. What would harm the machine is shown in namespaces of its own. A case got out when the
// host shows it: a secret came back, a file changed, a listener was called, a process of the host was
// touched, something stayed behind, or the kernel permitted a call that it must refuse.
//
// It has no code of its own, and all tries are part of the full run. docs/escapes.md is made from the corpus.
// Its subject is a command that runs. Policies decide which commands may run; their own tests show that.
package escapes
