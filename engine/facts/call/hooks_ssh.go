package call

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// sshForward notes the ends of a forward (ssh(1)): the host that it reaches, a listener for other machines, and
// a socket of this machine that it opens to the other end, the target of -R and that of -L to this machine.
func sshForward(c *Call, name string, v value.Word) {
	if v.Certainty != value.Exact {
		c.Target(TargetHost, "", v.Certainty.String())
	}
	if at := strings.LastIndexAny(v.Text, ": "); at > 0 && strings.HasPrefix(v.Text[at+1:], "/") {
		if name == "R" || loopback(HostOf(c.operand(0))) {
			c.touch(Cut(v, at+1), Role{Word: "read", Access: term.Reads})
			c.Effects |= term.Read
		}
	}
	ends := forwardEnds(v.Text)
	n := len(ends)
	from, to := []string(nil), ""
	switch {
	case v.Certainty != value.Exact:
	case name == "W":
		to = ends[0]
	case name == "D":
		from = ends
	case strings.HasPrefix(ends[n-1], "/"):
		from = ends[:n-1]
	case n > 2:
		from, to = ends[:n-2], ends[n-2]
	}
	if !loopback(to) {
		c.host(to)
		c.Target(TargetHost, HostOf(to), "exact")
	}
	if name != "R" && (len(from) == 2 && !loopback(from[0]) || len(from) == 1 && c.Has("g", "")) {
		c.Flags.Add(term.FlagListens)
	}
}

// forwardEnds cuts a forward at its colons and spaces, but not within brackets.
func forwardEnds(text string) []string {
	inside := false
	ends := strings.FieldsFunc(strings.ReplaceAll(text, " ", ":")+"\n", func(r rune) bool {
		inside = r == '[' || inside && r != ']'
		return r == ':' && !inside
	})
	for i, end := range ends {
		ends[i] = strings.Trim(end, "[]\n")
	}
	if strings.HasPrefix(text, ":") { // all addresses
		ends = append([]string{"*"}, ends...)
	}
	return ends
}

// loopback reports whether a host is the machine itself. No host counts, too.
func loopback(host string) bool {
	return host == "" || host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
}

// sshOptions: -o ProxyCommand and its like start a program here, -o IdentityFile names a key.
func sshOptions(c *Call) {
	for _, o := range c.Options {
		if o.Given && strings.Contains("L R D W", o.Name) {
			sshForward(c, o.Name, o.Value)
		}
		if o.Name != "o" || !o.Given {
			continue
		}
		text := strings.ToLower(o.Value.Text)
		switch {
		case strings.HasPrefix(text, "localforward") || strings.HasPrefix(text, "remoteforward") || strings.HasPrefix(text, "dynamicforward"):
			c.Flags.Add(term.FlagTunnel)
			spec := strings.TrimLeft(text[strings.Index(text, "forward")+len("forward"):], "= ")
			sshForward(c, strings.ToUpper(text[:1]), Cut(o.Value, len(text)-len(spec)))
		case strings.HasPrefix(text, "proxycommand") || strings.HasPrefix(text, "localcommand") || strings.HasPrefix(text, "knownhostscommand"):
			c.Flags.Add(term.FlagEscape)
			c.Effects |= term.Execute
		case strings.HasPrefix(text, "identityfile") && len(text) > len("identityfile="):
			c.touch(Cut(o.Value, len("identityfile=")), Role{Word: "key", Access: term.Reads})
		case strings.HasPrefix(text, "proxyjump") && len(text) > len("proxyjump="):
			c.Through(Cut(o.Value, len("proxyjump=")))
		case strings.HasPrefix(text, "hostname") && len(text) > len("hostname="):
			c.TargetWord(TargetAddress, Cut(o.Value, len("hostname=")))
			c.host(o.Value.Text[len("hostname="):])
		case strings.HasPrefix(text, "stricthostkeychecking") && strings.HasSuffix(text, "no"):
			c.Flags.Add(term.FlagInsecureTLS)
		}
	}
}
