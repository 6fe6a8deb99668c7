package supervisor

// marks tell the processes of commands apart by something that a process hands down to everything that it
// starts, and that it cannot get rid of: it can leave its session, lose its parent and clear its environment.
//
// Marks are numbers that all begin with the same decimal digits, those of one Supervisor.
type marks interface {
	// next chooses the mark of a command. The caller holds host.mu.
	next(live map[int]*root) uint64
	// of returns the mark field of a process, marked or not. The error is ESRCH if the process does not
	// exist.
	of(pid int) (uint64, error)
	mine(mark uint64) bool
	// foreign reports whether it is the mark of another Supervisor, in this process or around it.
	foreign(mark uint64) bool
	// changed reports whether a process, or one before it, did something about its mark.
	changed(mark uint64) bool
	// shown says where /proc tells the mark of a process: the name of a file, and how lines with a mark of
	// ours look to grep.
	shown() (file, pattern string)
}
