package looks

import (
	"fmt"
	"io/fs"
	"os"
	"path"
)

// Shown is the place of this machine that an environment shows at a path.
type Shown struct {
	Source string // the mount's source
	Rest   string // below it; "" for itself
}

// place returns a path by which to look at a shown place. It begins at the mount, as in the environment: the
// way to it on this machine may be closed to the commands' user.
func (e *Environment) place(s Shown) (string, *os.File, error) {
	e.placing.Lock()
	defer e.placing.Unlock()
	f := e.places[s.Source]
	if f == nil {
		var err error
		if f, err = openPlace(s.Source); err != nil {
			return "", nil, err
		}
		e.places[s.Source] = f
	}
	return path.Join(fmt.Sprintf("/proc/self/fd/%d", f.Fd()), s.Rest), f, nil
}

// lstat describes something that is shown.
func (e *Environment) lstat(s Shown) (fs.FileInfo, error) {
	source, f, err := e.place(s)
	switch {
	case err != nil:
		return nil, err
	case s.Rest == "":
		return f.Stat()
	}
	return e.o.Host.Lstat(source)
}

// leave closes the files that were opened.
func (e *Environment) leave() {
	e.placing.Lock()
	defer e.placing.Unlock()
	for _, f := range e.places {
		_ = f.Close()
	}
	clear(e.places)
	e.o.Free()
}
