package undo

import (
	"cmp"
	"path/filepath"
	"time"
)

// Options say where the stores of sessions are.
type Options struct {
	Dir  string        // directory of stores; "" for none
	Most int64         // bytes of all stores there
	Keep time.Duration // how long a store that nobody uses is kept
}

// Session describes the store of an environment.
type Session struct {
	ID        string    `json:"id"`
	Runner    string    `json:"runner"`
	Workspace string    `json:"workspace"`
	Roots     []string  `json:"roots"`     // where its commands write: real paths
	ReadOnly  []string  `json:"read_only"` // places below these where they do not
	Opened    time.Time `json:"opened"`
	// Shared is a directory in which the Recorder's part of the store lies, as a directory of its own that
	// every user may write to; "" for a part that its owner alone can reach. The directory around Shared must
	// keep others out.
	Shared string `json:"shared,omitempty"`
}

// kept is the directory of the Recorder, for a session whose store is at home.
func (s Session) kept(home string) string {
	if s.Shared != "" {
		return filepath.Join(s.Shared, s.ID)
	}
	return filepath.Join(home, keptDir)
}

// Result is the fate of a file in Undo.
type Result struct {
	Decision string `json:"decision"`
	Path     string `json:"path"`
	Result   string `json:"result"`
	Message  string `json:"message"` // why it is left; "" otherwise
}

// Results.
const (
	Restored = "restored" // it is as it was
	Removed  = "removed"  // the command made it
	Conflict = "conflict" // somebody changed it since: it is left
	Lost     = "lost"     // it is left: its earlier version was not kept
	Failed   = "failed"
)

// Left reports a file that was not taken back.
func (r Result) Left() bool { return r.Result != Restored && r.Result != Removed }

// rank orders the results of one file: the highest one is told.
func (r Result) rank() int {
	return map[string]int{Removed: 1, Restored: 2, Lost: 3, Conflict: 4, Failed: 5}[r.Result]
}

func worse(a, b Result) int { return cmp.Compare(a.rank(), b.rank()) }
