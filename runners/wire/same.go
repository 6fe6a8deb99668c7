package wire

import "io/fs"

// SameFile reports whether a file that an environment told of is one of this machine, by the numbers that
// the kernel gives it: true only where both run on one kernel, as a container and its host do.
func SameFile(there, here fs.FileInfo) bool {
	f, ok := there.(fileInfo)
	return ok && f.ID != "" && string(f.ID) == identity(here)
}

// Live is how many commands run.
func (e *Environment) Live() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.live)
}
