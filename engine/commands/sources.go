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

//go:embed variables.yaml
var variablesFile string

// Variables are the lists of variables of the environment; the file describes each.
var Variables = sync.OnceValue(func() map[string][]string { return lists(variablesFile) })

//go:embed empties.yaml
var emptiesFile string

// Empties are the words by which tools empty a database.
var Empties = sync.OnceValue(func() map[string][]string { return lists(emptiesFile) })

//go:embed network.yaml
var networkFile string

// NetworkChanges are the words with which tools of the network change it.
var NetworkChanges = sync.OnceValue(func() map[string][]string { return lists(networkFile) })

//go:embed bus.yaml
var busFile string

// BusCalls are the effects of calls over D-Bus.
var BusCalls = sync.OnceValue(func() []string { return lists(busFile)["calls"] })

//go:embed lists.yaml
var listsFile string

// wordLists are the lists of words by name, and each as a set.
var wordLists = sync.OnceValues(func() (map[string][]string, map[string]map[string]bool) {
	all, sets := map[string][]string{}, map[string]map[string]bool{}
	for name, items := range lists(listsFile) {
		all[name], sets[name] = strings.Fields(strings.Join(items, " ")), map[string]bool{}
		for _, word := range all[name] {
			sets[name][word] = true
		}
	}
	return all, sets
})

// Words returns a list of lists.yaml.
func Words(list string) []string {
	all, _ := wordLists()
	return all[list]
}

// Listed reports whether a list of lists.yaml has a word.
func Listed(list, word string) bool {
	_, sets := wordLists()
	return sets[list][word]
}

// PackageSources returns the list that comes with the program.
var PackageSources = sync.OnceValue(func() *Sources {
	all := lists(sourcesFile)
	words := func(key string) []string { return strings.Fields(strings.Join(all[key], " ")) }
	return &Sources{variables: words("variables"), hosts: words("hosts")}
})

// lists reads a file of lists. Tests compare the files with a reader of YAML.
func lists(file string) map[string][]string {
	all := map[string][]string{}
	parts, _ := split(file, "")
	for _, part := range parts {
		n, _ := part.node("")
		for _, item := range n.list {
			all[part.key] = append(all[part.key], item.scalar)
		}
	}
	return all
}

// Variable reports whether a variable of the environment names a source of packages.
func (s *Sources) Variable(name string) bool {
	return slices.ContainsFunc(s.variables, func(v string) bool {
		prefix, open := strings.CutSuffix(v, "*")
		return v == name || open && strings.HasPrefix(name, prefix)
	})
}

// Public reports whether a host, in lower case, is one that everybody uses.
func (s *Sources) Public(host string) bool {
	return slices.ContainsFunc(
		s.hosts, func(p string) bool { return host == p || strings.HasSuffix(host, "."+p) })
}
