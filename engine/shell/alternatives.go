package shell

import (
	"slices"
	"strconv"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// maxDirs is how many directories a command may run in before its directory counts as unknown.
const maxDirs = 4

// place puts the shell into the directory d, unless a trap may change it at any time.
func (st *state) place(d Dir) {
	if st.restless.dir {
		d = Dir{}
	}
	st.dir, st.dirs = d, nil
	st.nowhere()
}

// nowhere numbers a directory that is not known.
func (st *state) nowhere() {
	*st.spots++
	st.spot = *st.spots
}

// unplaced begins the paths of files in directories that are not known.
const unplaced = "/\x00"

// here is the directory in which files are looked up. One that is not known has a name that no file has.
func (st *state) here() Dir {
	if st.dir.Known {
		return st.dir
	}
	return Dir{Path: unplaced + strconv.Itoa(st.spot), Known: true}
}

// possible returns the directories that a state leaves open, nil when these are not known.
func (st *state) possible() []string {
	if st.dir.Known {
		return []string{st.dir.Path}
	}
	return st.dirs
}

// mergeDirs makes the directory of m the one in which both a and b are, or else leaves both open.
func (st *state) mergeDirs(a, b *state) {
	if st.dir, st.dirs = a.dir, a.dirs; a.dir == b.dir && slices.Equal(a.dirs, b.dirs) && (a.dir.Known || a.spot == b.spot) {
		return
	}
	st.dir, st.dirs = Dir{}, nil
	st.nowhere()
	x, y := a.possible(), b.possible()
	if x == nil || y == nil {
		return
	}
	all := slices.Concat(x, y)
	slices.Sort(all)
	if all = slices.Compact(all); len(all) <= maxDirs {
		st.dirs = all
	}
}

// alternatives lists each command once for each directory in which it may run. Nested commands follow their
// carrier and share its directory.
func alternatives(commands []Command, dirs map[int][]string, limit int) ([]Command, bool) {
	if len(dirs) == 0 {
		return commands, true
	}
	type copied struct{ from, to, turn int } // the block that starts at from, in the given turn
	var out []Command
	var made []copied
	at := make([][]int, len(commands)) // where a command stands in out
	for from := 0; from < len(commands); {
		to := from + 1
		for to < len(commands) && len(commands[to].Via) > len(commands[from].Via) {
			to++
		}
		turns := 1
		for i := from; i < to; i++ {
			turns = max(turns, len(dirs[i]))
		}
		for turn := range turns {
			for i := from; i < to; i++ {
				c := commands[i]
				if d := dirs[i]; len(d) > 0 {
					c.Dir = Dir{Path: d[turn%len(d)], Known: true}
				}
				at[i] = append(at[i], len(out))
				out = append(out, c)
				made = append(made, copied{from, to, turn})
			}
		}
		from = to
	}
	if len(out) > limit {
		return commands, false
	}
	for n := range out {
		var inputs []int
		for _, i := range out[n].Inputs {
			if i >= made[n].from && i < made[n].to {
				inputs = append(inputs, at[i][made[n].turn])
			} else {
				inputs = append(inputs, at[i]...)
			}
		}
		out[n].Inputs = value.Set(inputs)
	}
	return out, true
}
