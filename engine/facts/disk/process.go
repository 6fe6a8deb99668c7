package disk

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// User is the process that will use a path, as far as paths depend on it: /proc/self is another place for
// each process. The zero value is our own, in which file tools use paths.
type User struct {
	Other bool
	Cwd   shell.Dir // of the other one
}

// ownPlaces are the links that lead each process to itself.
var ownPlaces = []string{"/proc/self", "/proc/thread-self"}

// follow continues a path that has come to an own place: from which root, and with which rest. Not ok:
// where it leads cannot be known before the process is there.
func (u User) follow(rest string) (root, onward string, ok bool) {
	name, rest, _ := strings.Cut(strings.TrimLeft(rest, "/"), "/")
	switch name {
	case ".":
		return u.follow(rest)
	case "root":
		return "/", rest, true
	case "cwd":
		if !u.Cwd.Known || !IsAbs(u.Cwd.Path) {
			return "", "", false
		}
		root = volume(u.Cwd.Path)
		return root, Join(u.Cwd.Path[len(root):], rest), true
	case "task":
		if thread, more, _ := strings.Cut(rest, "/"); thread != "" && thread != "." && thread != ".." {
			return u.follow(more)
		}
	}
	return "", "", false
}

// Unplaced reports a resolved path of another process that goes on below its working directory or below
// an open file of it: the place of that is not known.
func Unplaced(real string) bool {
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
