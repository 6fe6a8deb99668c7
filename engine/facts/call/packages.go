package call

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/lazyregexp"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

var (
	oneVersion = lazyregexp.New(`^[=v]*[0-9]+(\.[0-9]+)*([-+.~:_][0-9A-Za-z.+~:_-]*)?$`)
	oneCommit  = lazyregexp.New(`(?:#|@|\?rev=|&rev=)[0-9a-f]{40}\b`)
	// The end of the name of a Python package (PEP 508, "dependency specifiers").
	pypiEnd = lazyregexp.New(`[\[<>=!~;@ ]`)
)

// PackageFacts lists the packages that a command installs, or fetches to run them, and notes the hosts from
// which they come.
func (c *Call) PackageFacts() []facts.Package {
	list := []facts.Package{}
	switch {
	case c.Packages != nil:
		return c.Packages // a hook has found them
	case c.Base == nil || !c.Flags.Has(term.FlagPackageInstall):
		return list
	}
	row := c.Table.Rows.Command(c.Cmd.Name)
	if row == nil || row.Packages == nil {
		return list
	}
	p := row.Packages
	add := func(w value.Word) {
		switch {
		case w.Text == "" && w.Certainty == value.Exact || len(list) == MaxOptions:
		case len(list) == MaxOptions-1: // the list ends with this one
			list = append(list, facts.Package{Manager: p.Type, Certainty: value.Unknown.String()})
		default:
			list = append(list, c.packageOf(p.Type, w))
		}
	}
	named := false // an option names the packages: the operand is a program in them
	for _, o := range c.Options {
		switch {
		case !o.Given || o.Known == nil:
		case o.Known.Value != nil && o.Known.Value.Word == "package":
			add(o.Value)
			named = named || o.Full != "--with"
		case p.Type == "pypi" && (o.Name == "e" || o.Name == "editable"):
			add(o.Value)
		case slices.Contains(p.Files, o.Name) || slices.Contains(p.Files, strings.TrimLeft(o.Full, "-")):
			text, certainty := Shown(o.Value)
			list = append(list, facts.Package{Manager: p.Type, Source: text, Certainty: worse(certainty, "partial")})
		}
	}
	for i, w := range c.Operands {
		r := c.RoleOf(i, i > 0 && i == len(c.Operands)-1)
		verb := i == 0 && c.Base.subs == nil && listedWord("install add get i upgrade update", w.Text)
		if r.Word == "package" && !verb && !(r.Stop && named) {
			add(w)
		}
		if r.Stop {
			break
		}
	}
	c.completed(p, list)
	return list
}

// completed adds the version and the source that options give.
func (c *Call) completed(p *commands.Packages, list []facts.Package) {
	for _, o := range c.Options {
		name := strings.TrimLeft(o.Full, "-")
		if !o.Given || o.Value.Certainty != value.Exact {
			continue
		}
		for i := range list {
			switch {
			case list[i].Source == "" && (slices.Contains(p.Sources, o.Name) || slices.Contains(p.Sources, name)):
				list[i].Source, _ = Shown(o.Value)
			case list[i].Version == "" && (slices.Contains(p.Version, o.Name) || slices.Contains(p.Version, name)):
				list[i].Version, _ = Shown(o.Value)
				list[i].Pinned = oneVersion.MatchString(list[i].Version)
			}
		}
	}
}

func worse(a, b string) string {
	if a == "unknown" {
		return a
	}
	return b
}

// packageOf reads a word that names a package.
func (c *Call) packageOf(manager string, w value.Word) facts.Package {
	text, certainty := Shown(w)
	out := facts.Package{Manager: manager, Certainty: certainty}
	if w.Certainty != value.Exact {
		// A name is known once its end is.
		if w.Prefix == "" {
			return out
		}
		readPackage(&out, w.Prefix)
		if out.Pinned = false; out.Version == "" && out.Source == "" {
			out.Name = ""
		}
		out.Version = ""
		return out
	}
	if text == "" {
		return out
	}
	readPackage(&out, text)
	if from, _, _ := strings.Cut(out.Source, "#"); strings.Contains(from, "://") && !strings.HasPrefix(from, "file:") {
		c.host(from)
	} else if host, ok := RemoteHost(out.Source); ok {
		c.Hosts = AppendHost(c.Hosts, host)
	} else if host, _, _ := strings.Cut(out.Name, "/"); manager == "golang" && strings.Contains(host, ".") {
		c.host(host)
	}
	return out
}

// readPackage takes a word apart, as the manager would.
func readPackage(p *facts.Package, text string) {
	switch {
	case strings.HasPrefix(text, "npm:") || strings.HasPrefix(text, "jsr:"):
		p.Manager, text = text[:3], text[4:] // deno names the registry first
	case p.Manager == "pypi":
		if name, from, ok := strings.Cut(text, " @ "); ok {
			p.Name, p.Source, p.Pinned = strings.TrimSpace(name), strings.TrimSpace(from), oneCommit.MatchString(from)
			return
		}
	case p.Manager == "npm":
		if at := strings.LastIndex(text, "@npm:"); at > 0 { // an alias
			text = text[at+5:]
		}
		if at := strings.Index(text, "@http"); at > 0 {
			p.Name, text = text[:at], text[at+1:]
		}
	}
	if elsewhere(p.Manager, text) {
		p.Source, p.Pinned = text, oneCommit.MatchString(text)
		if p.Manager == "npm" && !strings.Contains(text, ":") && !LooksLikePath(text) {
			p.Source = "https://github.com/" + text // as npm reads user/repository
		}
		return
	}
	if p.Manager == "pypi" {
		readPython(p, text)
		return
	}
	syntax, ok := packageSyntax[p.Manager]
	if !ok {
		syntax.ends = "@="
	}
	p.Name = text
	if end := strings.IndexAny(text[1:], syntax.ends); end >= 0 { // "@" begins a scope of npm
		p.Name = text[:end+1]
	}
	rest := text[len(p.Name):]
	p.Version = strings.TrimLeft(rest, syntax.ends)
	full := syntax.exact == "" && strings.Count(p.Version, ".") > 1
	p.Pinned = oneVersion.MatchString(p.Version) && (full || syntax.exact != "" && strings.HasPrefix(rest, syntax.exact))
	if p.Manager == "deb" {
		p.Name, _, _ = strings.Cut(p.Name, ":") // the architecture
	}
}

// packageSyntax says for managers which characters end a name, and how a version begins that is only that
// one. Without such a beginning, three numbers are one version.
var packageSyntax = map[string]struct{ ends, exact string }{
	"npm": {ends: "@"}, "jsr": {ends: "@"}, "golang": {ends: "@"}, "cargo": {ends: "@="},
	"composer": {ends: ":= "}, "gem": {ends: ":"}, "nuget": {ends: "@"},
	"deb": {ends: "=/", exact: "="}, "apk": {ends: "=<>~@", exact: "="}, "conda": {ends: "=<>!~ ", exact: "="},
	"rpm": {ends: " "}, "alpm": {ends: " "}, "brew": {ends: " "},
}

// readPython reads a dependency specifier (PEP 508), or a package with a version as uvx takes it.
func readPython(p *facts.Package, text string) {
	p.Name = text
	if at := pypiEnd.Get().FindStringIndex(text); at != nil {
		p.Name, p.Version = text[:at[0]], text[at[0]:]
	}
	if strings.HasPrefix(p.Version, "[") {
		_, p.Version, _ = strings.Cut(p.Version, "]")
	}
	p.Version, _, _ = strings.Cut(p.Version, ";")
	p.Version = strings.TrimSpace(p.Version)
	one, exact := strings.CutPrefix(p.Version, "==")
	if at, ok := strings.CutPrefix(p.Version, "@"); ok {
		one, exact, p.Version = at, true, at
	}
	p.Pinned = exact && oneVersion.MatchString(strings.TrimSpace(one))
	p.Name = strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(p.Name)) // PEP 503
}

// elsewhere reports a word that says where the package comes from: a URL, a repository, a path.
func elsewhere(manager, text string) bool {
	for _, prefix := range []string{"git@", "git+", "github:", "gitlab:", "bitbucket:", "gist:", "file:", "link:"} {
		if strings.HasPrefix(text, prefix) {
			return true
		}
	}
	archives := []string{".whl", ".tar.gz", ".tgz", ".deb", ".rpm", ".apk", ".gem"}
	isArchive := func(end string) bool { return strings.HasSuffix(text, end) }
	archive := manager != "golang" && slices.ContainsFunc(archives, isArchive)
	return archive || strings.Contains(text, "://") || text == "." || LooksLikePath(text) ||
		manager == "npm" && text[0] != '@' && strings.Contains(text, "/")
}
