// Package mounts turns granted places into mounts: what an environment with a view of its own shows at
// which path, what of it can be written to, and what lies read-only on top. Docker and bubblewrap are
// given the same list.
//
// It also guards: a place that would hand over the machine (its root, the engine's socket, somebody's
// keys) is refused with the reason, and a path that an agent could have bent with a symbolic link is
// never followed. It mounts nothing itself.
package mounts

// Mount shows Source at Target. Mounts come in the order in which they are made: what lies on top of
// another comes after it.
type Mount struct {
	Source string // without symbolic links
	Target string
	Write  bool
}

// Access names what a mount lets do, for people.
func (m Mount) Access() string {
	if m.Write {
		return "rw"
	}
	return "ro"
}
