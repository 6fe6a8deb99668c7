package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

func (c checker) workspace() {
	if c.l.Workspace == "" {
		c.problem("workspace", "the path is empty: leave the key out for the working directory")
		return
	}
	switch info, err := os.Stat(string(c.l.Workspace)); {
	case c.bad("workspace"):
	case err != nil:
		c.problem("workspace", "%s", missing(string(c.l.Workspace), err))
	case !info.IsDir():
		c.problem("workspace", "%s is not a directory", c.l.Workspace)
	}
}

// missing words an error of looking at a path.
func missing(p string, err error) string {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s does not exist: create it or correct the path", p)
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		err = pathErr.Err
	}
	return fmt.Sprintf("%s cannot be looked at: %v", p, err)
}

// grants fills in the defaults of entries and drops missing optional places.
func (c checker) grants() {
	held := map[string]string{real(string(c.l.Workspace)): "workspace"}
	kept := make([]Grant, 0, len(c.l.Paths))
	for i, g := range c.l.Paths {
		key := fmt.Sprintf("paths[%d]", i)
		if g.Access == "" {
			g.Access = defaultAccess
		}
		if g.Zone == "" {
			g.Zone = defaultZone
		}
		if g.Path == "" {
			if !c.bad(key) && !c.bad(key+".path") {
				c.problem(key+".path", "the path is empty")
			}
			continue
		}
		info, err := os.Stat(string(g.Path))
		if errors.Is(err, fs.ErrNotExist) && g.Optional {
			c.l.Notes = append(c.l.Notes, fmt.Sprintf("%s: %s does not exist and is not granted", key, g.Path))
			continue
		}
		_, elsewhere := c.l.Elsewhere()
		if err != nil && !elsewhere { // it need not be here if it is to be there
			if !c.bad(key + ".path") {
				c.problem(key+".path", "%s, or set \"optional: true\"", missing(string(g.Path), err))
			}
			continue
		}
		if other, twice := held[real(string(g.Path))]; twice {
			c.problem(key+".path", "%s is already granted by %s", g.Path, other)
		}
		held[real(string(g.Path))] = key
		c.protected(key, &g, elsewhere || info.IsDir())
		kept = append(kept, g)
	}
	c.l.Paths = kept
}

func (c checker) protected(key string, g *Grant, dir bool) {
	if !dir && len(g.Protected) > 0 {
		c.problem(key+".protected", "%s is a file: nothing lies below it", g.Path)
		return
	}
	for i, p := range g.Protected {
		at := fmt.Sprintf("%s.protected[%d]", key, i)
		full, err := absolute(p, string(g.Path), c.home)
		switch {
		case err != nil:
			c.problem(at, "%s", err)
		case p == "":
			c.problem(at, "the path is empty")
		case full == string(g.Path):
			c.problem(at, "it is the granted place itself: use \"access: read\"")
		case !below(full, string(g.Path)):
			c.problem(at, "%s does not lie below %s", full, g.Path)
		}
		g.Protected[i] = full
	}
}

// below reports whether p lies in dir, lexically.
func below(p, dir string) bool {
	rel, err := filepath.Rel(dir, p)
	return err == nil && rel != "." && filepath.IsLocal(rel)
}

// real resolves symlinks as far as p exists.
func real(p string) string {
	if r, err := filepath.EvalSymlinks(p); err == nil {
		return r
	}
	return p
}

func (c checker) exists(key, p string) {
	if _, err := os.Stat(p); err != nil && !c.bad(key) {
		c.problem(key, "%s", missing(p, err))
	}
}
