// Package confirm runs shell texts with the real bash and dash, and compares them with the list of
// engine/shell.
//
// It promises: for each text, every argument vector that was run, the directory and the here-document of each
// command, and every file that the shell opened for writing and changed, is in the list, equal where the list
// is exact, and otherwise covered by an entry that says partial or unknown. A text that is not understood as
// a whole counts as unknown. Whatever is not covered is a disagreement, and a fault of engine/shell; there is
// no list of exceptions.
//
// Its tests also ask the built-in policies about each program after which something of the home directory
// outside of the workspace is changed or gone: they must not allow it.
//
// It is no proof: it sees the texts that it runs, one way through each of them. It does not compare builtins
// or assignments, and a list that holds too much is no disagreement.
//
// The programs come from the tables of this module, from a generator (Generate), and from operators that
// rewrite texts so that bash does the same or something near to it (Mutate). Everything is made from a seed.
package confirm
