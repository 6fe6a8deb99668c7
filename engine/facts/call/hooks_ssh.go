package call

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// sshForward opens a socket of this machine to the other end: the target of -R, and that of -L to this machine.
func sshForward(c *Call, name string, v value.Word) {
	_, host, _ := strings.Cut("@"+c.operand(0), "@")
	if at := strings.LastIndex(host, "@"); at >= 0 {
		host = host[at+1:]
	}
	here := host == "localhost" || host == "::1" || strings.HasPrefix(host, "127.")
	if at := strings.LastIndexAny(v.Text, ": "); at > 0 && strings.HasPrefix(v.Text[at+1:], "/") && (name == "R" || here) {
		c.touch(Cut(v, at+1), Role{Word: "read", Access: term.Reads})
		c.Effects |= term.Read
	}
}

// sshOptions: -o ProxyCommand and its like start a program here, -o IdentityFile names a key.
func sshOptions(c *Call) {
	for _, o := range c.Options {
		if o.Given && (o.Name == "L" || o.Name == "R") {
			sshForward(c, o.Name, o.Value)
		}
		if o.Name != "o" || !o.Given {
			continue
		}
		text := strings.ToLower(o.Value.Text)
		switch {
		case strings.HasPrefix(text, "localforward") || strings.HasPrefix(text, "remoteforward") || strings.HasPrefix(text, "dynamicforward"):
			c.Flags.Add(term.FlagTunnel)
			sshForward(c, strings.ToUpper(text[:1]), o.Value)
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
