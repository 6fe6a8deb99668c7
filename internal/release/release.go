// Package release tells which release of Sallyport a program is, and of which commit. All programs of a
// release say the same, so that a supervisor elsewhere can be compared with the sallyport that speaks to it.
// It is no proof: the builder of a program chooses its version.
package release

import "runtime/debug"

// The linker sets both where a release is built (packaging/release).
var version, commit string

// unknown stands for data that a build did not record.
const unknown = "unknown"

// Version is the version that was built: the one of the release, else the one that the go command recorded.
func Version() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return unknown
}

// Commit is the commit that was built, with " (modified)" where the tree had other changes.
func Commit() string {
	if commit != "" {
		return commit
	}
	info, _ := debug.ReadBuildInfo()
	if info == nil {
		return unknown
	}
	out := unknown
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			out = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			out += " (modified)"
		}
	}
	return out
}
