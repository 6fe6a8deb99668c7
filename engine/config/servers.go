package config

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"path"
	"slices"
	"strings"
)

// PoliciesDir is the cache of bundles from servers, and of facts about bundles that judged. It is "" if there
// is neither $XDG_STATE_HOME nor a home directory.
func (l *Loaded) PoliciesDir() string {
	return xdg(l.host, "XDG_STATE_HOME", ".local/state", "policies")
}

// Servers are the servers of policies with the addresses of the bundles that come from each: those under
// policy_servers, and one for each host that only policies names.
func (l *Loaded) Servers() []Served {
	var all []Served
	for _, s := range l.PolicyServers {
		all = append(all, Served{PolicyServer: s})
	}
	for _, p := range l.Policies {
		if !strings.Contains(p, "://") {
			continue
		}
		at := serverOf(l.PolicyServers, p)
		if at < 0 {
			u, err := url.Parse(p)
			if err != nil {
				continue // refused by check
			}
			host := u.Scheme + "://" + u.Host
			if at = slices.IndexFunc(all, func(s Served) bool { return s.URL == host }); at < 0 {
				s := PolicyServer{URL: host}
				s.fill()
				at, all = len(all), append(all, Served{PolicyServer: s})
			}
		}
		all[at].Bundles = append(all[at].Bundles, p)
	}
	return slices.DeleteFunc(all, func(s Served) bool {
		return len(s.Bundles) == 0 && s.Discovery == "" && !s.Status && !s.DecisionLogs
	})
}

// Served is a server of policies and the addresses of the bundles that come from it.
type Served struct {
	PolicyServer
	Bundles []string
}

// serverOf is the index of the server that covers an address: of several the one with the longest url. -1 for
// none.
func serverOf(servers []PolicyServer, address string) int {
	best := -1
	for i, s := range servers {
		if strings.HasPrefix(address, s.URL+"/") && (best < 0 || len(s.URL) > len(servers[best].URL)) {
			best = i
		}
	}
	return best
}

func (s *PolicyServer) fill() {
	s.Polling.Min = cmp.Or(s.Polling.Min, defaultPollMin)
	s.Polling.Max = cmp.Or(s.Polling.Max, max(defaultPollMax, s.Polling.Min))
	s.Timeout = cmp.Or(s.Timeout, defaultFetchTimeout)
	s.MaxSize = cmp.Or(s.MaxSize, defaultBundleSize)
}

// servers checks the policy servers and fills in their defaults.
func (c checker) servers() {
	seen := map[string]bool{}
	for i := range c.l.PolicyServers {
		key, s := fmt.Sprintf("policy_servers[%d]", i), &c.l.PolicyServers[i]
		if c.bad(key) {
			continue // a key is missing: told already
		}
		s.URL = strings.TrimRight(s.URL, "/")
		if problem := address(s.URL, s.InsecureHTTP); problem != "" {
			c.problem(key+".url", "%s", problem)
		} else if seen[s.URL] {
			c.problem(key+".url", "%s is there already", s.URL)
		}
		seen[s.URL] = true
		for _, f := range []struct {
			key  string
			path Path
		}{{"token_file", s.TokenFile}, {"ca_file", s.CAFile}, {"cert_file", s.CertFile}, {"key_file", s.KeyFile}} {
			if f.path != "" {
				c.exists(key+"."+f.key, string(f.path))
			}
		}
		if (s.CertFile == "") != (s.KeyFile == "") {
			c.problem(key+".cert_file", "cert_file and key_file belong together: name both or none")
		}
		if s.Discovery != "" && (path.Clean("/"+s.Discovery) != "/"+s.Discovery ||
			strings.ContainsAny(s.Discovery, "?#%\\")) {
			c.problem(key+".discovery", "%q is not a plain path below url", s.Discovery)
		}
		c.serverTimes(key, s)
		if s.MaxSize < 0 || s.MaxSize > 1<<30 {
			c.problem(key+".max_size", "%s is out of range: at most 1GiB", text(s.MaxSize))
		}
		s.fill()
	}
}

func (c checker) serverTimes(key string, s *PolicyServer) {
	const second = Duration(1e9)
	for _, t := range []struct {
		key   string
		value Duration
	}{{"polling.min", s.Polling.Min}, {"polling.max", s.Polling.Max}, {"timeout", s.Timeout}} {
		if t.value < 0 || t.value > 0 && t.value < second || t.value%second != 0 {
			c.problem(key+"."+t.key, "%s: want whole seconds, at least one", text(t.value))
		}
	}
	if s.Polling.Max > 0 && s.Polling.Max < cmp.Or(s.Polling.Min, defaultPollMin) {
		c.problem(key+".polling.max", "%s is less than polling.min, which is %s", text(s.Polling.Max),
			text(cmp.Or(s.Polling.Min, defaultPollMin)))
	}
}

// remote checks an address of a bundle.
func (c checker) remote(key, p string) {
	at := serverOf(c.l.PolicyServers, p)
	if problem := address(p, at >= 0 && c.l.PolicyServers[at].InsecureHTTP); problem != "" {
		c.problem(key, "%s", problem)
		return
	}
	if u, err := url.Parse(p); err == nil && (u.Path == "" || u.Path == "/") || strings.HasSuffix(p, "/") {
		c.problem(key, "%s names a server and no bundle on it", p)
	}
	if at >= 0 && c.l.PolicyServers[at].Discovery != "" {
		c.problem(key, "the bundles of %s are named by its discovery bundle: take this out, or discovery",
			c.l.PolicyServers[at].URL)
	}
}

// address reports the problem with the address of a bundle or a server; "" for none. Logs and records contain
// it, so it must hold no secret.
func address(p string, insecure bool) string {
	u, err := url.Parse(p)
	switch {
	case err != nil || u.Host == "":
		return fmt.Sprintf("%q is not an address such as https://policies.example.com/team.tar.gz", p)
	case u.User != nil:
		return "it holds a password or a name: use token_file under policy_servers"
	case u.RawQuery != "" || u.Fragment != "" || u.ForceQuery:
		return "it holds a query or a fragment: use token_file under policy_servers for what is secret"
	case u.Path != "" && path.Clean(u.Path) != u.Path || u.RawPath != "":
		return fmt.Sprintf("%q is not a plain path: write it without \"..\", \"//\" and escapes", u.Path)
	case u.Scheme == "https", u.Scheme == "http" && (insecure || loopback(u.Hostname())):
		return ""
	case u.Scheme == "http":
		return "http is taken from this machine only: use https, or insecure_http under policy_servers"
	default:
		return fmt.Sprintf("the scheme %s is not taken: bundles come by https", u.Scheme)
	}
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
