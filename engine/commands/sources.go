package commands

import (
	_ "embed"
	"slices"
	"strings"
	"sync"
)

//go:embed sources.yaml
var sourcesFile string

// Sources are the places where packages come from.
type Sources struct {
	variables []string
	hosts     []string
}

// PackageSources returns the list that comes with the program.
var PackageSources = sync.OnceValue(func() *Sources {
	s := &Sources{}
	list, _ := split(sourcesFile, "") // a test reads the file
	for _, part := range list {
		n, _ := part.node("")
		switch part.key {
		case "variables":
			s.variables = n.texts()
		case "hosts":
			s.hosts = n.texts()
		}
	}
	return s
})

// Variable reports whether a variable of the environment names a source of packages.
func (s *Sources) Variable(name string) bool {
	return slices.ContainsFunc(s.variables, func(v string) bool {
		prefix, open := strings.CutSuffix(v, "*")
		return v == name || open && strings.HasPrefix(name, prefix)
	})
}

// Public reports whether a host, in lower case, is one that everybody uses.
func (s *Sources) Public(host string) bool {
	return slices.ContainsFunc(s.hosts, func(p string) bool { return host == p || strings.HasSuffix(host, "."+p) })
}
