package facts

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// user is the process that will use a path, as far as paths depend on it: /proc/self is another place for
// each process. The zero value is our own, which is what file tools use paths in.
type user struct {
	other bool
	cwd   shell.Dir // of the other one
}

// ownPlaces are the links that lead each process to itself.
var ownPlaces = []string{"/proc/self", "/proc/thread-self"}

// follow continues a path that has come to an own place: from which root, and with which rest. Not ok:
// where it leads cannot be known before the process is there.
func (u user) follow(rest string) (root, onward string, ok bool) {
	name, rest, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
	switch name {
	case ".":
		return u.follow(rest)
	case "root":
		return "/", rest, true
	case "cwd":
		if !u.cwd.Known || !isAbs(u.cwd.Path) {
			return "", "", false
		}
		root = volume(u.cwd.Path)
		return root, join(u.cwd.Path[len(root):], rest), true
	case "task":
		if thread, more, _ := strings.Cut(rest, "/"); thread != "" && thread != "." && thread != ".." {
			return u.follow(more)
		}
	}
	return "", "", false
}

// unplaced reports a resolved path of another process that goes on below its working directory or below
// what it has open: nothing can be said of where that is.
func unplaced(real string) bool {
	for _, own := range append([]string{"/dev"}, ownPlaces...) { // /dev/fd is no link everywhere
		rest, ok := strings.CutPrefix(real, own+"/")
		if !ok {
			continue
		}
		names := strings.Split(rest, "/")
		if len(names) > 2 && names[0] == "task" {
			names = names[2:]
		}
		return names[0] == "cwd" || names[0] == "fd" && len(names) > 2
	}
	return false
}
