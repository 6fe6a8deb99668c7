package call

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Kinds of targets.
const (
	TargetHost     = "host"     // named in the words of the command
	TargetProxy    = "proxy"    // a proxy or a jump host, by an option, a variable or a setting
	TargetAddress  = "address"  // the command connects there in place of a host that it names
	TargetRemote   = "remote"   // of a remote of the git repository
	TargetRegistry = "registry" // of packages or images
	TargetCluster  = "cluster"  // the server of a Kubernetes cluster
)

// Target notes a place to which a command connects. A word that is not wholly known is a target without a
// host.
func (c *Call) Target(kind, host, certainty string) {
	t := facts.Target{Kind: kind, Host: host, Certainty: certainty}
	if len(c.Targets) == MaxOptions-1 && !slices.Contains(c.Targets, t) {
		t = facts.Target{Kind: TargetHost, Certainty: value.Unknown.String()} // the list ends with this one
	}
	if len(c.Targets) < MaxOptions && !slices.Contains(c.Targets, t) {
		c.Targets = append(c.Targets, t)
	}
}

// TargetWord notes the target that a word names.
func (c *Call) TargetWord(kind string, w value.Word) {
	host := HostOf(w.Text)
	_, rest, _ := strings.Cut(w.Text, "://")
	// In quotes, an unknown part behind the host leaves the host as it is.
	whole := w.Certainty == value.Exact || w.Quoted && strings.Contains(rest, "/")
	switch {
	case host != "" && whole:
		c.Target(kind, host, "exact")
	case w.Certainty != value.Exact:
		c.Target(kind, "", w.Certainty.String())
	}
}

// Through notes proxies or jump hosts, separated by commas: ssh -J a,b.
func (c *Call) Through(w value.Word) {
	if w.Certainty != value.Exact {
		c.Target(TargetProxy, "", w.Certainty.String())
		return
	}
	for part := range strings.SplitSeq(w.Text, ",") {
		if part == "" || part == "none" {
			continue
		}
		c.TargetWord(TargetProxy, Exact(part))
		c.host(part)
	}
}

// address notes where curl connects in place of a host: HOST:PORT:HOST2:PORT2 of --connect-to, and
// HOST:PORT:ADDRESS[,ADDRESS…] of --resolve.
func (c *Call) address(w value.Word) {
	if w.Certainty != value.Exact {
		c.Target(TargetAddress, "", w.Certainty.String())
		return
	}
	parts := splitAddress(w.Text)
	if len(parts) < 3 {
		return
	}
	for host := range strings.SplitSeq(parts[2], ",") {
		if host = CanonicalHost(strings.Trim(host, "[]")); host != "" {
			c.Target(TargetAddress, host, "exact")
			c.Hosts = AppendHost(c.Hosts, host)
		}
	}
}

// splitAddress cuts at colons, but not at those in brackets.
func splitAddress(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '[':
			depth++
		case text[i] == ']':
			depth--
		case text[i] == ':' && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}

// ImageTarget notes the registry of an image (github.com/distribution/reference). Where a name has none,
// docker takes docker.io; podman and its relatives ask registries.conf.
func (c *Call) ImageTarget(r Role, w value.Word) {
	short := r.Word == "reference" || r.Word == "image" && c.Cmd.Name == "podman"
	if r.Word != "image" && !short {
		return
	}
	text := w.Text
	if short {
		transport, rest, _ := strings.Cut(text, ":")
		const local = "dir oci oci-archive docker-archive docker-daemon containers-storage sif ostree tarball"
		if Listed(local, transport) {
			return
		}
		if transport == "docker" {
			text, short = strings.TrimPrefix(rest, "//"), false
		}
	}
	host, _, named := strings.Cut(text, "/")
	named = named && (host == "localhost" || strings.ContainsAny(host, ".:"))
	known := w.Certainty == value.Exact || w.Quoted && strings.Contains(w.Prefix, host+"/")
	switch {
	case !known:
		c.Target(TargetRegistry, "", w.Certainty.String())
	case named && HostOf(host) == "index.docker.io":
		c.Target(TargetRegistry, "docker.io", "exact")
	case named:
		c.Target(TargetRegistry, HostOf(host), "exact")
	case short:
		c.Target(TargetRegistry, "", "unknown")
	default:
		c.Target(TargetRegistry, "docker.io", "exact")
	}
}

// NamesHost reports the role of a word that names a host.
func (r Role) NamesHost() bool { return r.Word == "host" || r.Word == "url" }

// RemoteSetting notes the host in a setting that gives a remote its address: NAME=URL, URL or
// url.BASE.insteadOf.
func (c *Call) RemoteSetting(w value.Word) {
	text := w.Text
	if base, ok := strings.CutPrefix(text, "url."); ok {
		text = base
	} else if _, url, ok := strings.Cut(text, "="); ok {
		text = url
	}
	if host, ok := RemoteHost(text); ok && host != "" && w.Certainty == value.Exact {
		c.Target(TargetRemote, host, "exact")
	}
}
