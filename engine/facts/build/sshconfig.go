package build

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/facts/call"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Bounds of reading ssh_config(5) files.
const (
	sshConfigBytes = 1 << 18
	sshConfigFiles = 32 // with those that they include
	sshConfigDepth = 4
)

// sshSettings are the settings of ssh for one host; of several values the first counts.
type sshSettings struct {
	host, real, jump string
	command          bool // a ProxyCommand
	unclear          bool
	files            int
}

// sshTargets adds the places to which ssh settings lead the hosts of a command.
func (w *build) sshTargets(i int, c *call.Call) {
	row := c.Table.Rows.Command(c.Cmd.Name)
	if row == nil || !row.SSH && c.Cmd.Name != "git" {
		return
	}
	hosts, unclear := w.sshHosts(i, c)
	files, read := []string{disk.Join(w.HomeDir(), ".ssh/config"), "/etc/ssh/ssh_config"}, true
	if o, ok := c.Option1("F"); ok && row.SSH && o.Given {
		file := disk.Absolute(o.Value.Text, c.Cmd.Dir)
		files, read = []string{disk.Clean(file)}, o.Value.Certainty == value.Exact && file != ""
		if o.Value.Text == "none" {
			return
		}
	}
	unclear = unclear || !read || w.HomeDir() == "" || c.Cmd.Elevated || !c.Cmd.Dir.Known ||
		w.filesWritten(i, files)
	given := func(name string) bool {
		return slices.ContainsFunc(c.Options, func(o call.OptionUse) bool {
			return o.Name == "o" && strings.HasPrefix(strings.ToLower(o.Value.Text), name)
		})
	}
	for at := 0; at < len(hosts) && at < call.MaxOptions; at++ {
		s := &sshSettings{host: hosts[at], unclear: unclear}
		for _, file := range files {
			if !s.unclear {
				w.readSSH(s, file, c.Has("F"), true, 0)
			}
		}
		if s.unclear {
			c.Target(call.TargetAddress, "", "unknown")
			return
		}
		if real := strings.ReplaceAll(s.real, "%h", s.host); real != "" && !given("hostname") {
			if strings.Contains(real, "%") {
				c.Target(call.TargetAddress, "", "unknown")
			} else if host := call.HostOf(real); host != s.host {
				c.Target(call.TargetAddress, host, "exact")
			}
		}
		if at > 0 && !slices.Contains(c.Hosts, s.host) || c.Has("J") ||
			given("proxyjump") || given("proxycommand") {
			continue // jumps of a jump host are those of the first; an option counts before the settings
		}
		if s.command {
			c.Target(call.TargetProxy, "", "unknown")
		}
		if s.jump != "" && !strings.EqualFold(s.jump, "none") {
			for part := range strings.SplitSeq(s.jump, ",") {
				c.TargetWord(call.TargetProxy, call.Exact(part))
				if host := call.HostOf(part); host != "" && !slices.Contains(hosts, host) {
					hosts = append(hosts, host)
				}
			}
		}
	}
}

// sshHosts are the hosts that a command reaches by ssh. unclear: it may use other settings than its user's.
func (w *build) sshHosts(i int, c *call.Call) (hosts []string, unclear bool) {
	if c.Cmd.Name != "git" {
		shell := c.Value("e", "rsh")
		if c.Cmd.Name == "rsync" && shell != "" && shell != "ssh" {
			unclear = true
		}
		return slices.Clone(c.Hosts), unclear
	}
	add := func(url string) {
		scheme, _, ok := strings.Cut(url, "://")
		if host, away := call.RemoteHost(url); away && (!ok || strings.Contains(scheme, "ssh")) {
			hosts = call.AppendHost(hosts, host)
		}
	}
	for _, o := range c.Operands {
		add(o.Text)
	}
	for _, url := range c.Remotes {
		add(url)
	}
	for _, name := range []string{"GIT_SSH", "GIT_SSH_COMMAND"} {
		unclear = unclear || w.variable(i, name).Text != ""
	}
	if r := w.repos.Repository(c.Dir.Path); len(hosts) > 0 && r != nil {
		unclear = unclear || r.Last("core", "", "sshCommand") != ""
	}
	return hosts, unclear
}

// readSSH reads a file of settings for s.host. active: the section around an Include holds for the host.
func (w *build) readSSH(s *sshSettings, file string, named, active bool, depth int) {
	content, whole, err := w.Files.ReadFile(file, sshConfigBytes)
	if errors.Is(err, fs.ErrNotExist) && !named {
		return
	}
	if s.files++; err != nil || !whole || s.files > sshConfigFiles || depth > sshConfigDepth {
		s.unclear = true
		return
	}
	around, match := active, false
	for line := range strings.Lines(string(content)) {
		key, text := sshLine(line)
		switch key {
		case "host":
			active, match = around && sshMatches(text, s.host), false
			continue
		case "match":
			match = !strings.EqualFold(text, "all")
			active = around
			continue
		}
		if !active {
			continue
		}
		jumps := (key == "proxyjump" || key == "proxycommand") && s.jump == "" && !s.command
		if match && (jumps || key == "hostname" && s.real == "" ||
			key == "include" || key == "canonicalizehostname") {
			s.unclear = true // its condition is not followed
			return
		}
		switch {
		case key == "hostname" && s.real == "":
			s.real = text
		case key == "proxyjump" && s.jump == "" && !s.command:
			s.jump = text
		case key == "proxycommand" && s.jump == "" && !strings.EqualFold(text, "none"):
			s.command = true
		case key == "canonicalizehostname" && !strings.EqualFold(text, "no"):
			s.unclear = true
		case key == "include":
			w.includeSSH(s, text, depth)
		}
		if s.unclear {
			return
		}
	}
}

// includeSSH reads the files of an Include line.
func (w *build) includeSSH(s *sshSettings, text string, depth int) {
	for name := range strings.FieldsSeq(text) {
		name = strings.Trim(name, `"`)
		if rest, ok := strings.CutPrefix(name, "~/"); ok {
			name = disk.Join(w.HomeDir(), rest)
		} else if !disk.IsAbs(name) {
			name = disk.Join(disk.Join(w.HomeDir(), ".ssh"), name)
		}
		dir, base := path.Split(disk.Clean(name))
		switch {
		case strings.ContainsAny(dir, "*?[%$"):
			s.unclear = true
		case strings.ContainsAny(base, "*?["):
			entries, err := w.Files.ReadDir(disk.Clean(dir))
			s.unclear = s.unclear || err != nil && !errors.Is(err, fs.ErrNotExist)
			for _, e := range entries {
				if ok, err := path.Match(base, e.Name()); ok && err == nil && !s.unclear {
					w.readSSH(s, disk.Join(disk.Clean(dir), e.Name()), false, true, depth+1)
				}
			}
		default:
			w.readSSH(s, disk.Clean(name), false, true, depth+1)
		}
	}
}

// sshLine splits a line of settings into its key, in lower case, and the rest.
func sshLine(line string) (key, text string) {
	line = strings.TrimSpace(line)
	end := strings.IndexAny(line, " \t=")
	if end < 0 || strings.HasPrefix(line, "#") {
		return "", ""
	}
	text = strings.TrimSpace(line[end:])
	text = strings.TrimSpace(strings.TrimPrefix(text, "="))
	return strings.ToLower(line[:end]), strings.Trim(text, `"`)
}

// sshMatches reports whether a host fits the patterns of a Host line: any, and none behind "!".
func sshMatches(patterns, host string) bool {
	found := false
	for p := range strings.FieldsSeq(patterns) {
		p, not := strings.CutPrefix(strings.ToLower(strings.Trim(p, `"`)), "!")
		fits, err := path.Match(strings.ReplaceAll(p, "[", `\[`), host)
		if fits && err == nil && not {
			return false
		}
		found = found || fits && err == nil
	}
	return found
}
