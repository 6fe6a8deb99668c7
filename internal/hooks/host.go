// Package hooks answers the hooks of agents that keep their own tools: it reads one event of a host, has the
// gate judge the call that the event announces, and answers in the host's own form.
//
// The common parts of hosts are code, and their differences are data: hosts.yaml. The package judges nothing.
// It promises that a host gets exactly one JSON object on standard output, or none and the exit code 2 with a
// text on standard error, by which all hosts refuse a call: after an event, a tool or a field that is not in
// the table, after a fault or a panic of Sallyport, and when its time is over.
//
// A hook only explains and refuses. A host that does not call its hook, or does not obey it, is not held.
package hooks

import (
	"bytes"
	_ "embed" // of the table
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"go.yaml.in/yaml/v3"
)

//go:embed hosts.yaml
var table []byte

// Host is an agent with hooks.
type Host struct {
	Name    string        `yaml:"-"`
	Title   string        `yaml:"title"`
	Version string        `yaml:"version"` // the release that the row describes
	Source  string        `yaml:"source"`  // URL of its documentation
	Seen    bool          `yaml:"seen"`    // events of this release were recorded
	Limit   time.Duration `yaml:"limit"`   // its own time limit of a hook
	Ask     bool          `yaml:"ask"`     // it asks its user, and refuses without an answer
	// Attended is a condition for sh, in hosts that do not refuse where nobody can answer; "" for all others.
	Attended string   `yaml:"attended"`
	Project  string   `yaml:"project"` // variable with the directory of the project; "" for none
	Single   bool     `yaml:"single"`  // a process has one session, whose hooks and MCP servers it starts
	Several  []string `yaml:"several"` // words of the command line with which it has several
	Event    struct {
		Name    string `yaml:"name"`
		Session string `yaml:"session"`
		Dir     string `yaml:"dir"`
		Tool    string `yaml:"tool"`
		Input   string `yaml:"input"`
		Call    string `yaml:"call"`
		Text    bool   `yaml:"text"` // an input may be a text
	} `yaml:"event"` // where an event has its parts
	Before   []string        `yaml:"before"` // events before a tool runs
	After    map[string]bool `yaml:"after"`  // events after it: whether it succeeded
	Reported struct {
		Stdout       string   `yaml:"stdout"`
		Stderr       string   `yaml:"stderr"`
		Interrupted  []string `yaml:"interrupted"`
		Error        string   `yaml:"error"`
		Failed       string   `yaml:"failed"` // a field that only failures have
		Milliseconds string   `yaml:"milliseconds"`
	} `yaml:"reported"` // where an event after a tool has the result
	// Pairs are the events before a tool by those after it, where the tool is told by the event.
	Pairs map[string]string `yaml:"pairs"`
	MCP   struct {
		Prefix    string `yaml:"prefix"`
		Separator string `yaml:"separator"`
		Server    string `yaml:"server"`
		Tool      string `yaml:"tool"`
		Input     string `yaml:"input"`
		Only      string `yaml:"only"` // the event of MCP tools, where there is one
	} `yaml:"mcp"`
	Settings Settings          `yaml:"settings"`
	Program  string            `yaml:"program"` // its name in PATH
	Open     []string          `yaml:"open"`    // the ways past its hooks
	Places   []Place           `yaml:"places"`
	Wrap     *Wrap             `yaml:"wrap"` // nil where sallyport wrap does not know the host
	Answers  map[string]Answer `yaml:"answers"`
	Tools    map[string]Tool   `yaml:"tools"`
}

// Place is a place of the host, which its own tools may use.
type Place struct {
	Path   string `yaml:"path"` // "~/" is the home directory
	Access string `yaml:"access"`
}

// Answer is the form of an answer: a JSON object with $event, $reason and $input, or an exit code with the
// reason on standard error.
type Answer struct {
	JSON map[string]any `yaml:"json"`
	Exit int            `yaml:"exit"`
}

// Tool is a tool of a host: the fields of its input, by their meaning.
type Tool struct {
	Kind       string `yaml:"kind"`
	Command    string `yaml:"command"`
	Background string `yaml:"background"`
	// Milliseconds is the field with the time limit of a command.
	Milliseconds string   `yaml:"milliseconds"`
	Dir          string   `yaml:"dir"` // the directory of the call; else that of the event
	Path         string   `yaml:"path"`
	Paths        string   `yaml:"paths"` // a list
	Pattern      string   `yaml:"pattern"`
	Patch        string   `yaml:"patch"`
	URL          string   `yaml:"url"`
	URLs         string   `yaml:"urls"`   // a list
	Text         string   `yaml:"text"`   // prose with URLs
	Beside       []string `yaml:"beside"` // fields without an effect of their own
}

// fields are all fields of its input that are known.
func (t Tool) fields() []string {
	judged := []string{
		t.Command, t.Background, t.Milliseconds, t.Dir, t.Path, t.Paths, t.Pattern, t.Patch, t.URL, t.URLs,
		t.Text,
	}
	return append(judged, t.Beside...)
}

// kinds are the kinds of tools.
var kinds = []string{"command", "write", "read", "search", "fetch", "patch", "none"}

var hosts = sync.OnceValues(func() (map[string]*Host, error) { return parseHosts(table) })

func parseHosts(text []byte) (map[string]*Host, error) {
	from := yaml.NewDecoder(bytes.NewReader(text))
	from.KnownFields(true)
	var all map[string]*Host
	if err := from.Decode(&all); err != nil {
		return nil, fmt.Errorf("read hosts.yaml: %w", err)
	}
	for name, h := range all {
		h.Name = name
		for tool, t := range h.Tools {
			if !slices.Contains(kinds, t.Kind) {
				return nil, fmt.Errorf("read hosts.yaml: %s: %s: unknown kind %q", name, tool, t.Kind)
			}
		}
		for _, answer := range []string{"allow", "deny", "after"} {
			if a, ok := h.Answers[answer]; !ok || a.JSON == nil && a.Exit == 0 {
				return nil, fmt.Errorf("read hosts.yaml: %s: no answer %s", name, answer)
			}
		}
	}
	return all, nil
}

// Names lists the hosts in alphabetical order.
func Names() []string {
	all, err := hosts()
	if err != nil {
		return nil
	}
	return slices.Sorted(maps.Keys(all))
}

// Named finds a host. The error names those that there are.
func Named(name string) (*Host, error) {
	all, err := hosts()
	if err != nil {
		return nil, err
	}
	if h := all[name]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("no host %q: use %s", name, strings.Join(Names(), ", "))
}
