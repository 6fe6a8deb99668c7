package config

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/sallyport-dev/sallyport/engine/facts"
)

// Layout returns places and patterns as facts need them.
func (l *Loaded) Layout() facts.Layout {
	out := facts.Layout{
		Workspace: l.there(),
		Home:      l.host.Home,
		Roots:     []facts.Root{{Path: l.there(), Write: true, Zone: "workspace"}},
		Temporary: l.temporary(),
		Self:      l.self(),
		Generated: l.Generated,
		Table:     l.table,
		YAML:      func(content []byte, into any) error { return yaml.Unmarshal(content, into) },
	}
	for _, name := range slices.Sorted(maps.Keys(l.Labels)) {
		label := facts.PathLabel{Name: name}
		for _, p := range l.Labels[name] {
			if rest, home := strings.CutPrefix(p, "~/"); home {
				p = path.Join(filepath.ToSlash(l.host.Home), rest)
			} else if !path.IsAbs(p) && !filepath.IsAbs(p) {
				p = path.Join(filepath.ToSlash(l.there()), p)
			}
			label.Patterns = append(label.Patterns, filepath.ToSlash(p))
		}
		out.Labels = append(out.Labels, label)
	}
	for _, g := range l.Paths {
		out.Roots = append(out.Roots, facts.Root{
			Path: string(g.Path), Write: g.Access == "write", Zone: g.Zone, Protected: g.Protected,
			File: isFile(string(g.Path)),
		})
	}
	for _, p := range l.Commands.Allow {
		out.Allow = append(out.Allow, p.whole())
	}
	for _, p := range l.Commands.Deny {
		out.Deny = append(out.Deny, p.prefix())
	}
	for _, e := range l.Exemptions {
		out.Exemptions = append(out.Exemptions, facts.Exemption{Rule: e.Rule, Reason: e.Reason,
			Text: string(e.Match), Match: e.Match.whole(), Expires: e.Expires.Time})
	}
	return out
}

func isFile(p string) bool {
	info, err := os.Stat(p)
	return err == nil && !info.IsDir()
}

func (l *Loaded) temporary() []string {
	places := []string{"/tmp", "/var/tmp"}
	if t := l.host.Getenv("TMPDIR"); filepath.IsAbs(t) {
		places = append(places, filepath.Clean(t))
	}
	return places
}

// self lists the places that an agent must not change, because they are sallyport's own.
func (l *Loaded) self() []facts.Place {
	var places []facts.Place
	add := func(p, label string) {
		if p == "" {
			return
		}
		places = append(places, facts.Place{Path: p, Label: label})
		if r := real(p); r != p {
			places = append(places, facts.Place{Path: r, Label: label})
		}
	}
	add(l.host.Executable, "self_binary")
	add(string(l.Supervisor), "self_binary")
	add(l.File, "self_config")
	// Files that would be found at the next start count too, whether or not they are there.
	for _, p := range Places(l.host) {
		if p != l.File && filepath.IsAbs(p) {
			add(p, "self_config")
		}
	}
	for _, p := range l.Policies {
		if filepath.IsAbs(p) {
			add(p, "self_policy")
		}
	}
	for _, p := range l.PolicyKeys {
		add(string(p), "self_policy")
	}
	for _, p := range l.Commands.Table {
		add(string(p), "self_config")
	}
	for _, p := range l.Plugins {
		add(string(p), "self_policy")
		add(PluginManifest(string(p)), "self_policy")
	}
	for _, s := range l.PolicyServers {
		add(string(s.CAFile), "self_policy")
		for _, p := range []Path{s.TokenFile, s.CertFile, s.KeyFile} {
			add(string(p), "self_key")
		}
	}
	add(l.PoliciesDir(), "self_policy")
	add(l.CompiledDir(), "self_policy") // its files are run in this process
	add(string(l.Audit.Dir), "self_audit")
	add(filepath.Join(filepath.Dir(string(l.Audit.Dir)), "keys"), "self_key") // where the log keeps its keys
	add(l.SessionsDir(), "self_audit")
	add(l.HooksDir(), "self_audit")
	add(l.EnvironmentsDir(), "self_audit")
	add(l.SandboxDir(), "self_audit")
	add(l.HeldDir(), "self_audit")
	add(l.UndoDir(), "self_audit")
	add(l.UndoSharedDir(), "self_audit")
	add(l.ApprovalsDir(), "self_socket")
	add(l.ResidentDir(), "self_socket")
	add(l.CompiledDir(), "self_policy")
	return places
}

// PluginManifest is where the manifest of a plugin stands (docs/writing-plugins.md).
func PluginManifest(module string) string {
	return strings.TrimSuffix(strings.TrimSuffix(module, ".wasm"), ".tar.gz") + ".manifest.json"
}
