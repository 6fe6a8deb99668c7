package build

import (
	"maps"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// proxyVariables name a proxy for the programs that read them.
const proxyVariables = `http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy ALL_PROXY ftp_proxy FTP_PROXY
	npm_config_proxy npm_config_https_proxy NPM_CONFIG_PROXY NPM_CONFIG_HTTPS_PROXY
	PIP_PROXY CARGO_HTTP_PROXY`

// targetFacts lists the places to which command i connects.
func (w *build) targetFacts(i int, c *call.Call) []facts.Target {
	if c.Effects&term.Network != 0 {
		set := w.variables(i)
		w.variableTargets(c, set)
		w.optionTargets(c)
		w.gitTargets(i, c, set)
		w.sshTargets(i, c)
	}
	for _, host := range c.Hosts {
		if !slices.ContainsFunc(c.Targets, func(t facts.Target) bool { return t.Host == host }) {
			c.Target(call.TargetHost, host, "exact")
		}
	}
	if c.Targets == nil {
		return []facts.Target{}
	}
	return c.Targets
}

// variables are those that hold for command i: its own, those that an earlier command sets for the shell, and
// those of the child.
func (w *build) variables(i int) map[string]value.Word {
	set := map[string]value.Word{}
	for name, text := range w.env {
		set[name] = call.Exact(text)
	}
	for j := range w.calls[:i+1] {
		cmd := w.calls[j].Cmd
		if j == i || len(cmd.Words) == 0 || call.Listed("export declare typeset", cmd.Name) {
			for _, a := range cmd.Assigns {
				set[a.Name] = a.Value
			}
		}
	}
	return set
}

// variableTargets are the proxies and registries that variables name.
func (w *build) variableTargets(c *call.Call, set map[string]value.Word) {
	for _, name := range slices.Sorted(maps.Keys(set)) {
		switch v := set[name]; {
		case v.Certainty == value.Exact && v.Text == "":
		case call.Listed(proxyVariables, name):
			c.TargetWord(call.TargetProxy, v)
		case c.Flags.Has(term.FlagPackageInstall) && commands.PackageSources().Variable(name):
			for _, part := range strings.FieldsFunc(v.Text, call.Separates) {
				if strings.Contains(part, "://") {
					w := value.Word{Text: part, Prefix: part, Certainty: v.Certainty}
					c.TargetWord(call.TargetRegistry, w)
				}
			}
			if v.Certainty != value.Exact {
				c.Target(call.TargetRegistry, "", v.Certainty.String())
			}
		}
	}
}

// optionTargets are registries that options name, and words for hosts that are not known.
func (w *build) optionTargets(c *call.Call) {
	row := c.Table.Rows.Command(c.Cmd.Name)
	for _, o := range c.Options {
		if !o.Given {
			continue
		}
		source := row != nil && row.Packages != nil &&
			slices.Contains(row.Packages.Sources, strings.TrimLeft(o.Full, "-"))
		switch {
		case source && (strings.Contains(o.Value.Text, "://") || o.Value.Certainty != value.Exact):
			c.TargetWord(call.TargetRegistry, o.Value)
		case o.Known != nil && o.Known.Value != nil && o.Known.Value.NamesHost():
			c.TargetWord(call.TargetHost, o.Value)
		// The tag of a build that is pushed.
		case o.Known != nil && o.Known.Value != nil && c.Flags.Has(term.FlagUploads):
			c.ImageTarget(*o.Known.Value, o.Value)
		}
	}
	for i, word := range c.Operands {
		if c.Spec == nil {
			break
		}
		r := c.RoleOf(i, i > 0 && i == len(c.Operands)-1)
		if r.NamesHost() {
			c.TargetWord(call.TargetHost, word)
		}
		c.ImageTarget(r, word)
		if r.Stop {
			break
		}
	}
}

// gitVariables lead git to another repository or to other settings.
const gitVariables = "GIT_DIR GIT_COMMON_DIR GIT_WORK_TREE GIT_CONFIG GIT_CONFIG_* GIT_PROXY_COMMAND"

// gitTargets are the places of the remotes with which git talks, and of the proxies on the way there.
func (w *build) gitTargets(i int, c *call.Call, set map[string]value.Word) {
	if c.Cmd.Name != "git" || len(c.Sub) == 0 {
		return
	}
	for _, o := range c.Options {
		key, text, _ := strings.Cut(o.Value.Text, "=")
		key = strings.ToLower(key)
		if o.Name == "c" && strings.HasPrefix(key, "http.") && strings.HasSuffix(key, "proxy") {
			c.Through(value.Word{Text: text, Prefix: text, Certainty: o.Value.Certainty})
		} else if o.Name == "c" {
			c.RemoteSetting(o.Value)
		}
	}
	switch c.Sub[0] {
	case "push", "fetch", "pull", "ls-remote", "submodule", "remote":
	default:
		return
	}
	push := c.Sub[0] == "push"
	led := func(name string) bool { return call.Listed(gitVariables, name) }
	if !c.Dir.Known || c.Has("git-dir") || slices.ContainsFunc(slices.Collect(maps.Keys(set)), led) {
		c.Target(call.TargetRemote, "", "unknown")
		return
	}
	if w.reconfigures(i, c) {
		c.Target(call.TargetRemote, "", "unknown")
	}
	r := w.repos.Repository(c.Dir.Path)
	if r == nil {
		return
	}
	names := []string{r.RemoteFor(push)}
	switch {
	case c.Sub[0] == "submodule":
		names = r.Submodules(w.Files)
	case c.Has("all") || c.Sub[0] == "remote" || c.Has("multiple"):
		names = r.Remotes()
	case len(c.Operands) > 0 && c.Operands[0].Certainty == value.Exact:
		names = []string{c.Operands[0].Text}
	case len(c.Operands) > 0:
		c.Target(call.TargetRemote, "", c.Operands[0].Certainty.String())
		return
	}
	for _, name := range names {
		for _, url := range r.URLs(name, push) {
			c.Remotes = append(c.Remotes, url)
			host, elsewhere := call.RemoteHost(url)
			switch {
			case elsewhere:
				c.Target(call.TargetRemote, host, "exact")
			case url == name && !call.LooksLikePath(name):
				c.Target(call.TargetRemote, "", "unknown") // no such remote, as far as the files say
			}
		}
		if proxy := r.Last("remote", name, "proxy"); proxy != "" {
			c.Through(call.Exact(proxy))
		}
	}
	if proxy := r.Last("http", "", "proxy"); proxy != "" {
		c.Through(call.Exact(proxy))
	}
	if r.Unclear {
		c.Target(call.TargetRemote, "", "unknown")
	}
}

// reconfigures notes the hosts that earlier commands of the text give to remotes. It reports whether one of
// these may set an address that is not known.
func (w *build) reconfigures(i int, c *call.Call) (unclear bool) {
	for _, before := range w.calls[:i] {
		if before.Cmd.Name != "git" || len(before.Sub) == 0 {
			continue
		}
		settings := before.Sub[0] == "config" || before.Sub[0] == "remote" && len(before.Operands) > 0
		if !settings {
			continue
		}
		for _, word := range before.Operands {
			c.RemoteSetting(word)
			unclear = unclear || word.Certainty != value.Exact
		}
	}
	return unclear
}

// git fills in the repository of the working directory for texts in which git runs.
func (w *build) git() {
	usesGit := func(c *call.Call) bool { return call.Listed("git gh glab hub", c.Cmd.Name) }
	if !slices.ContainsFunc(w.calls, usesGit) || w.in.Request.WorkDirState != "dir" {
		return
	}
	r := w.repos.Repository(w.in.Request.WorkDir)
	if r == nil {
		return
	}
	w.in.Git.Top, w.in.Git.Branch, w.in.Git.Upstream = r.Top, r.Branch, r.Upstream()
	for _, name := range r.Remotes() {
		if len(w.in.Git.Remotes) < call.MaxOptions {
			remote := facts.Remote{Name: name, URLs: r.URLs(name, false), Push: r.URLs(name, true)}
			w.in.Git.Remotes = append(w.in.Git.Remotes, remote)
		}
	}
}
