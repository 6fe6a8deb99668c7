package facts

import (
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/term"
)

const (
	eventMost  = 16  // hosts, and likewise commands, of one event
	eventBytes = 255 // of one of these
)

// NoSession is a session without earlier requests.
func NoSession() Session {
	return Session{Labels: []string{}, OperatorLabels: []string{}, Recent: []Event{}, Approved: []Approved{}}
}

// EventOf returns the facts of a request that later requests of its session see. The request
// has no decision yet.
func EventOf(in *Input) Event {
	e := Event{
		ID: in.Request.ID, Time: in.Request.Time, Tool: in.Request.Tool,
		Effect: "pending", State: "deciding", Exit: -1,
		Certainty: in.Shell.Certainty, Commands: []string{},
	}
	effects, hosts, labels := map[string]bool{}, map[string]bool{}, map[string]bool{}
	operator := map[string]bool{}
	for i := range in.Commands {
		c := &in.Commands[i]
		for _, effect := range c.Effects {
			effects[effect] = true
		}
		for _, host := range c.Hosts {
			hosts[host] = true
		}
		for _, t := range c.Targets {
			hosts[t.Host] = true
		}
		if c.downloads() {
			labels[term.LabelNames[term.LabelDownloaded]] = true
		}
		name := c.Name
		if c.Subcommand != "" {
			name += " " + c.Subcommand
		}
		if !slices.Contains(e.Commands, name) {
			e.Commands = append(e.Commands, name)
		}
	}
	for i := range in.Paths {
		p := &in.Paths[i]
		if p.Certainty != "exact" && e.Certainty != "unknown" {
			e.Certainty = p.Certainty
		}
		if p.Command < 0 {
			effects[p.Access] = true
		}
		if p.Access != "read" || slices.Contains(p.Labels, term.LabelNames[term.LabelMetadata]) {
			continue
		}
		add(labels, p.Labels)
		add(operator, p.OperatorLabels)
	}
	e.Effects, e.Hosts = Sorted(effects), Sorted(hosts)
	e.Labels, e.OperatorLabels = Sorted(labels), Sorted(operator)
	e.Hosts, e.Cut = bounded(e.Hosts, e.Cut)
	e.Commands, e.Cut = bounded(e.Commands, e.Cut)
	return e
}

// Downloads reports whether any command of a request takes data from the network.
func Downloads(in *Input) bool {
	return slices.ContainsFunc(in.Commands, func(c Command) bool { return c.downloads() })
}

func (c *Command) downloads() bool {
	return slices.Contains(c.Flags, term.FlagNames[term.FlagDownloads])
}

// ApprovalOf returns the programs that the session remembers once a person has approved the request: those of
// the text that are not known, and all that run code which could not be looked through. A program whose
// name is not known, is longer than 255 bytes or depends on a directory that is not known is left out.
func ApprovalOf(in *Input) []Approved {
	var all []Approved
	for i := range in.Commands {
		c := &in.Commands[i]
		unknown := !c.Known && len(c.Argv) > 0 && c.Script == ""
		unread := c.Code.From != "" && !c.Code.Resolved
		if !unknown && !unread || c.Name == "" || len(c.Program) > eventBytes {
			continue
		}
		a := Approved{Program: c.Program, Unread: unread}
		if strings.Contains(c.Program, "/") && !strings.HasPrefix(c.Program, "/") {
			if a.Dir = c.Dir; a.Dir == "" {
				continue
			}
		}
		all = append(all, a)
	}
	return all
}

// Sorted lists a set in order. An empty set is an empty list, which JSON writes as [].
func Sorted(set map[string]bool) []string {
	list := slices.AppendSeq(make([]string, 0, len(set)), maps.Keys(set))
	slices.Sort(list)
	return list
}

// bounded drops texts that are too long and those above the limit, and reports whether any is missing.
func bounded(list []string, already bool) ([]string, bool) {
	all := len(list)
	list = slices.DeleteFunc(list, func(s string) bool { return len(s) > eventBytes })
	list = list[:min(len(list), eventMost)]
	return list, already || len(list) < all
}
