package facts

import (
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Kinds of targets.
const (
	targetHost     = "host"     // named in the words of the command
	targetProxy    = "proxy"    // a proxy or a jump host, by an option, a variable or a setting
	targetAddress  = "address"  // the command connects there in place of a host that it names
	targetRemote   = "remote"   // of a remote of the git repository
	targetRegistry = "registry" // of packages or images
	targetCluster  = "cluster"  // the server of a Kubernetes cluster
)

// proxyVariables name a proxy for the programs that read them.
const proxyVariables = `http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY ftp_proxy FTP_PROXY
	npm_config_proxy npm_config_https_proxy NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY
	PIP_PROXY CARGO_HTTP_PROXY`

// target notes a place to which a command connects. A word that is not wholly known is a target without a
// host.
func (c *call) target(kind, host, certainty string) {
	t := Target{Kind: kind, Host: host, Certainty: certainty}
	if len(c.targets) == maxOptions-1 && !slices.Contains(c.targets, t) {
		t = Target{Kind: targetHost, Certainty: value.Unknown.String()} // the list ends with this one
	}
	if len(c.targets) < maxOptions && !slices.Contains(c.targets, t) {
		c.targets = append(c.targets, t)
	}
}

// targetWord notes the target that a word names.
func (c *call) targetWord(kind string, w value.Word) {
	host := hostOf(w.Text)
	_, rest, _ := strings.Cut(w.Text, "://")
	// In quotes, an unknown part behind the host leaves the host as it is.
	whole := w.Certainty == value.Exact || w.Quoted && strings.Contains(rest, "/")
	switch {
	case host != "" && whole:
		c.target(kind, host, "exact")
	case w.Certainty != value.Exact:
		c.target(kind, "", w.Certainty.String())
	}
}

// through notes proxies or jump hosts, separated by commas: ssh -J a,b.
func (c *call) through(w value.Word) {
	if w.Certainty != value.Exact {
		c.target(targetProxy, "", w.Certainty.String())
		return
	}
	for part := range strings.SplitSeq(w.Text, ",") {
		if part == "" || part == "none" {
			continue
		}
		c.targetWord(targetProxy, exact(part))
		c.host(part)
	}
}

// address notes where curl connects in place of a host: HOST:PORT:HOST2:PORT2 of --connect-to, and
// HOST:PORT:ADDRESS[,ADDRESS…] of --resolve.
func (c *call) address(w value.Word) {
	if w.Certainty != value.Exact {
		c.target(targetAddress, "", w.Certainty.String())
		return
	}
	parts := splitAddress(w.Text)
	if len(parts) < 3 {
		return
	}
	for host := range strings.SplitSeq(parts[2], ",") {
		if host = canonicalHost(strings.Trim(host, "[]")); host != "" {
			c.target(targetAddress, host, "exact")
			c.hosts = appendHost(c.hosts, host)
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

// targetFacts lists the places to which command i connects.
func (w *build) targetFacts(i int, c *call) []Target {
	if c.effects&doesNetwork != 0 {
		set := w.variables(i)
		w.variableTargets(c, set)
		w.optionTargets(c)
		w.gitTargets(i, c, set)
		w.sshTargets(i, c)
	}
	for _, host := range c.hosts {
		if !slices.ContainsFunc(c.targets, func(t Target) bool { return t.Host == host }) {
			c.target(targetHost, host, "exact")
		}
	}
	if c.targets == nil {
		return []Target{}
	}
	return c.targets
}

// variables are those that hold for command i: its own, those that an earlier command sets for the shell, and
// those of the child.
func (w *build) variables(i int) map[string]value.Word {
	set := map[string]value.Word{}
	for name, text := range w.env {
		set[name] = exact(text)
	}
	for j := range w.calls[:i+1] {
		cmd := w.calls[j].cmd
		if j == i || len(cmd.Words) == 0 || listed("export declare typeset", cmd.Name) {
			for _, a := range cmd.Assigns {
				set[a.Name] = a.Value
			}
		}
	}
	return set
}

// variableTargets are the proxies and registries that variables name.
func (w *build) variableTargets(c *call, set map[string]value.Word) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		switch v := set[name]; {
		case v.Certainty == value.Exact && v.Text == "":
		case listed(proxyVariables, name):
			c.targetWord(targetProxy, v)
		case c.flags.has(flagPackageInstall) && commands.PackageSources().Variable(name):
			for _, part := range strings.FieldsFunc(v.Text, separates) {
				if strings.Contains(part, "://") {
					c.targetWord(targetRegistry, value.Word{Text: part, Prefix: part, Certainty: v.Certainty})
				}
			}
			if v.Certainty != value.Exact {
				c.target(targetRegistry, "", v.Certainty.String())
			}
		}
	}
}

// optionTargets are registries that options name, and words for hosts that are not known.
func (w *build) optionTargets(c *call) {
	row := c.table.rows.Command(c.cmd.Name)
	for _, o := range c.options {
		if !o.given {
			continue
		}
		source := row != nil && row.Packages != nil &&
			slices.Contains(row.Packages.Sources, strings.TrimLeft(o.full, "-"))
		switch {
		case source && (strings.Contains(o.value.Text, "://") || o.value.Certainty != value.Exact):
			c.targetWord(targetRegistry, o.value)
		case o.known != nil && o.known.value != nil && o.known.value.namesHost():
			c.targetWord(targetHost, o.value)
		// The tag of a build that is pushed.
		case o.known != nil && o.known.value != nil && c.flags.has(flagUploads):
			c.imageTarget(*o.known.value, o.value)
		}
	}
	for i, word := range c.operands {
		if c.spec == nil {
			break
		}
		r := c.roleOf(i, i > 0 && i == len(c.operands)-1)
		if r.namesHost() {
			c.targetWord(targetHost, word)
		}
		c.imageTarget(r, word)
		if r.stop {
			break
		}
	}
}

// imageTarget notes the registry of an image (github.com/distribution/reference). Where a name has none,
// docker takes docker.io; podman and its relatives ask registries.conf.
func (c *call) imageTarget(r role, w value.Word) {
	short := r.word == "reference" || r.word == "image" && c.cmd.Name == "podman"
	if r.word != "image" && !short {
		return
	}
	text := w.Text
	if short {
		transport, rest, _ := strings.Cut(text, ":")
		const local = "dir oci oci-archive docker-archive docker-daemon containers-storage sif ostree tarball"
		if listed(local, transport) {
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
		c.target(targetRegistry, "", w.Certainty.String())
	case named && hostOf(host) == "index.docker.io":
		c.target(targetRegistry, "docker.io", "exact")
	case named:
		c.target(targetRegistry, hostOf(host), "exact")
	case short:
		c.target(targetRegistry, "", "unknown")
	default:
		c.target(targetRegistry, "docker.io", "exact")
	}
}

// namesHost reports the role of a word that names a host.
func (r role) namesHost() bool { return r.word == "host" || r.word == "url" }

// gitVariables lead git to another repository or to other settings.
const gitVariables = "GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_CONFIG GIT_CONFIG_* GIT_PROXY_COMMAND"

// gitTargets are the places of the remotes with which git talks, and of the proxies on the way there.
func (w *build) gitTargets(i int, c *call, set map[string]value.Word) {
	if c.cmd.Name != "git" || len(c.sub) == 0 {
		return
	}
	for _, o := range c.options {
		key, text, _ := strings.Cut(o.value.Text, "=")
		key = strings.ToLower(key)
		if o.name == "c" && strings.HasPrefix(key, "http.") && strings.HasSuffix(key, "proxy") {
			c.through(value.Word{Text: text, Prefix: text, Certainty: o.value.Certainty})
		} else if o.name == "c" {
			c.remoteSetting(o.value)
		}
	}
	switch c.sub[0] {
	case "push", "fetch", "pull", "ls-remote", "submodule", "remote":
	default:
		return
	}
	push := c.sub[0] == "push"
	led := func(name string) bool { return listed(gitVariables, name) }
	if !c.dir.Known || c.has("git-dir") || slices.ContainsFunc(slices.Collect(maps.Keys(set)), led) {
		c.target(targetRemote, "", "unknown")
		return
	}
	if w.reconfigures(i, c) {
		c.target(targetRemote, "", "unknown")
	}
	r := w.repository(c.dir.Path)
	if r == nil {
		return
	}
	names := []string{r.remoteFor(push)}
	switch {
	case c.sub[0] == "submodule":
		names = r.submodules(w.fs)
	case c.has("all") || c.sub[0] == "remote" || c.has("multiple"):
		names = r.remotes()
	case len(c.operands) > 0 && c.operands[0].Certainty == value.Exact:
		names = []string{c.operands[0].Text}
	case len(c.operands) > 0:
		c.target(targetRemote, "", c.operands[0].Certainty.String())
		return
	}
	for _, name := range names {
		for _, url := range r.urls(name, push) {
			c.remotes = append(c.remotes, url)
			host, elsewhere := remoteHost(url)
			switch {
			case elsewhere:
				c.target(targetRemote, host, "exact")
			case url == name && !looksLikePath(name):
				c.target(targetRemote, "", "unknown") // no such remote, as far as the files say
			}
		}
		if proxy := r.last("remote", name, "proxy"); proxy != "" {
			c.through(exact(proxy))
		}
	}
	if proxy := r.last("http", "", "proxy"); proxy != "" {
		c.through(exact(proxy))
	}
	if r.unclear {
		c.target(targetRemote, "", "unknown")
	}
}

// reconfigures notes the hosts that earlier commands of the text give to remotes. It reports whether one of
// these may set an address that is not known.
func (w *build) reconfigures(i int, c *call) (unclear bool) {
	for _, before := range w.calls[:i] {
		if before.cmd.Name != "git" || len(before.sub) == 0 {
			continue
		}
		settings := before.sub[0] == "config" || before.sub[0] == "remote" && len(before.operands) > 0
		if !settings {
			continue
		}
		for _, word := range before.operands {
			c.remoteSetting(word)
			unclear = unclear || word.Certainty != value.Exact
		}
	}
	return unclear
}

// remoteSetting notes the host in a setting that gives a remote its address: NAME=URL, URL or
// url.BASE.insteadOf.
func (c *call) remoteSetting(w value.Word) {
	text := w.Text
	if base, ok := strings.CutPrefix(text, "url."); ok {
		text = base
	} else if _, url, ok := strings.Cut(text, "="); ok {
		text = url
	}
	if host, ok := remoteHost(text); ok && host != "" && w.Certainty == value.Exact {
		c.target(targetRemote, host, "exact")
	}
}

// git fills in the repository of the working directory for texts in which git runs.
func (w *build) git() {
	usesGit := func(c *call) bool { return slices.Contains([]string{"git", "gh", "glab", "hub"}, c.cmd.Name) }
	if !slices.ContainsFunc(w.calls, usesGit) || w.in.Request.WorkDirState != "dir" {
		return
	}
	r := w.repository(w.in.Request.WorkDir)
	if r == nil {
		return
	}
	w.in.Git.Top, w.in.Git.Branch, w.in.Git.Upstream = r.top, r.branch, r.upstream()
	for _, name := range r.remotes() {
		if len(w.in.Git.Remotes) < maxOptions {
			remote := Remote{Name: name, URLs: r.urls(name, false), Push: r.urls(name, true)}
			w.in.Git.Remotes = append(w.in.Git.Remotes, remote)
		}
	}
}
