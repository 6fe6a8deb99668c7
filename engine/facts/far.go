package facts

import (
	"io/fs"
	"time"
)

// Far is an FS whose every answer is a journey, such as that of another machine. It is asked for all
// that can be foreseen at once.
type Far interface {
	FS
	// Walk tells what the function Walk finds there. What it leaves out is asked for one by one.
	Walk(paths []string) map[string]Node
	// Until returns the same files, which from t on, and not before, are errors at once. Whoever waits for facts
	// must not wait as long as a place that answers slowly likes.
	Until(t time.Time) FS
}

// Node is what lies at a path.
type Node struct {
	Exists bool
	Absent bool // it surely does not exist; with neither, it cannot be told
	Mode   fs.FileMode
	Link   string // target of a symbolic link
}
