// Package mounts turns granted places into mounts for an environment with a view of its own: sources,
// targets, access, and the read-only places on top. Docker and bubblewrap get the same list.
//
// It also guards: a place that would hand over the machine (its root, the engine's socket, somebody's
// keys) is refused with the reason, and a path that an agent could have bent with a symbolic link is
// never followed. It mounts nothing itself.
package mounts

// Mount shows Source at Target. Mounts come in the order in which they are made: an upper one comes after the
// one below.
type Mount struct {
	Source string // without symbolic links
	Target string
	Write  bool
}

// Access names the access that a mount gives, for people.
func (m Mount) Access() string {
	if m.Write {
		return "rw"
	}
	return "ro"
}
