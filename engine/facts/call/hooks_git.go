package call

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// runsProgram reports whether setting a git configuration key makes git run something.
func runsProgram(key, value string) bool {
	key = strings.ToLower(key)
	value = strings.TrimSpace(value)
	if strings.HasPrefix(key, "alias.") {
		return strings.HasPrefix(value, "!")
	}
	running := func(end string) bool { return strings.HasSuffix(key, end) }
	section, _, _ := strings.Cut(key, ".")
	switch {
	case section == "gpg" && quiet("", Exact(value)):
		return false
	case slices.ContainsFunc(commands.Words("git-running"), running), running(".command") && (section == "diff" || section == "tar" || section == "hook"),
		section == "submodule" && running(".update") && strings.HasPrefix(value, "!"):
		return true
	case section == "credential" && running(".helper"):
		key = "credential.helper"
	}
	for _, name := range commands.Words("git-runners") {
		if key != name && !(strings.HasSuffix(name, ".") && strings.HasPrefix(key, name)) {
			continue
		}
		switch {
		case key == "protocol.ext.allow":
			return value != "never"
		case key == "core.hookspath":
			return value != "" && value != "/dev/null"
		case value == "" || value == "true" || value == "false":
			return false
		case key == "credential.helper":
			return strings.HasPrefix(value, "!") || strings.HasPrefix(value, "/") || strings.HasPrefix(value, ".")
		default:
			return !quiet("", Exact(value))
		}
	}
	return false
}

// git reads the options in front of the subcommand: -c NAME=VALUE can name a program, and --config-env
// takes a value that is not known here.
func git(c *Call) {
	for _, o := range c.Options {
		if key, _, ok := strings.Cut(o.Value.Text, "="); o.Name == "config-env" && o.Given {
			if !ok || o.Value.Certainty != value.Exact || runsProgram(key, "!") {
				c.Flags.Add(term.FlagConfigExec)
			}
			continue
		}
		if !o.Given || o.Name != "c" && o.Name != "config" {
			continue
		}
		key, val, ok := strings.Cut(o.Value.Text, "=")
		if strings.EqualFold(key, "core.hookspath") {
			c.Flags.Add(term.FlagBypassesHooks)
		}
		c.storesPasswords(key, val)
		own := ok && o.Known == c.Base.short['c']
		if own && slices.Contains(commands.Words("git-files"), strings.ToLower(key)) {
			c.path(Cut(o.Value, len(key)+1), term.Reads)
		}
		if o.Value.Certainty != value.Exact && o.Value.Prefix == "" || ok && (runsProgram(key, val) || strings.HasPrefix(strings.ToLower(key), "alias.")) {
			if sub := strings.Join(c.Sub, " "); o.Name == "c" && sub != "clone" && o.Known != c.Base.short['c'] {
				continue // -c of commit, switch and branch is something else
			}
			c.Flags.Add(term.FlagConfigExec)
			c.Effects |= term.Execute
		}
	}
	if c.Flags.Has(term.FlagConfigExec) {
		c.Effects |= term.Execute
	}
	if c.Flags.Has(term.FlagDryRun) {
		for _, f := range []term.Flag{term.FlagForcePush, term.FlagDeletesRef, term.FlagRemovesUntracked} {
			c.Flags.Remove(f)
		}
	}
}

// gitRemoteURL adds the host of a remote that is given by its URL; ext:: runs a program.
func gitRemoteURL(c *Call) {
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "ext::") {
			c.Flags.Add(term.FlagConfigExec)
			c.Effects |= term.Execute
			continue
		}
		if host, ok := RemoteHost(w.Text); ok && w.Certainty != value.Unknown {
			c.Hosts = AppendHost(c.Hosts, host)
		}
	}
}

func gitRemote(c *Call) {
	if len(c.Operands) > 0 {
		first := *c
		first.Operands = c.Operands[:1]
		gitRemoteURL(&first)
		c.Hosts, c.Flags, c.Effects = first.Hosts, first.Flags, first.Effects
	}
}

// gitPush: REMOTE REFSPEC…; "+ref" forces, ":ref" deletes.
func gitPush(c *Call) {
	gitRemote(c)
	if len(c.Operands) < 2 {
		return
	}
	for _, w := range c.Operands[1:] {
		switch {
		case strings.HasPrefix(w.Text, "+"):
			c.Flags.Add(term.FlagForcePush)
		case strings.HasPrefix(w.Text, ":") && len(w.Text) > 1:
			c.Flags.Add(term.FlagDeletesRef)
		}
	}
}

// gitClone writes a directory that is named after the repository.
func gitClone(c *Call) {
	gitRemote(c)
	if len(c.Operands) != 1 || c.Operands[0].Certainty != value.Exact {
		return
	}
	text := strings.TrimSuffix(strings.TrimRight(c.Operands[0].Text, "/"), ".git")
	if i := strings.LastIndexAny(text, "/:"); i >= 0 {
		text = text[i+1:]
	}
	if text != "" {
		c.path(Exact(text), term.Writes)
	}
}

// gitCheckout: paths behind "--" are overwritten; so is all with "." alone.
func gitCheckout(c *Call) {
	behind := false
	for _, w := range c.Cmd.Words {
		if w.Text == "--" && !behind {
			behind = true
			continue
		}
		if behind {
			c.Flags.Add(term.FlagDiscardsChanges)
			c.touch(w, Role{Access: term.Writes, recursive: true})
		}
	}
	creates := c.Has("b", "B", "orphan", "t", "track", "detach")
	if c.Has("pathspec-from-file") || !behind && !creates && len(c.Operands) > 1 { // the words after a commit are paths
		c.Flags.Add(term.FlagDiscardsChanges)
		for _, w := range c.Operands[min(1, len(c.Operands)):] {
			c.touch(w, Role{Access: term.Writes, recursive: true})
		}
		return
	}
	if !behind && len(c.Operands) > 0 {
		if last := c.Operands[len(c.Operands)-1]; last.Text == "." || last.Text == ":/" || strings.HasPrefix(last.Text, "./") || strings.HasPrefix(last.Text, "*") {
			c.Flags.Add(term.FlagDiscardsChanges)
			c.touch(last, Role{Access: term.Writes, recursive: true})
			return
		}
		if !creates {
			for _, w := range c.Operands {
				switch {
				case namesSource(w):
					c.Flags.Add(term.FlagDiscardsChanges)
					c.path(w, term.Writes)
				case strings.ContainsAny(w.Text, "./"): // a branch called like a file is rare, a file without dot and slash too
					c.touchFile(w, term.Writes, term.FlagDiscardsChanges)
				}
			}
		}
	}
}

func namesSource(w value.Word) bool {
	ext := strings.TrimPrefix(path.Ext(w.Text), ".")
	return w.Certainty == value.Exact && strings.Contains(w.Text, "/") && ext != "" && commands.Listed("source-endings", ext)
}

// gitNoIndex: with --no-index git compares and searches any files, and those outside of a repository without
// it.
func gitNoIndex(c *Call) {
	words := c.Operands
	if c.Sub[len(c.Sub)-1] == "grep" && !c.Has("e", "f") && len(words) > 0 {
		words = words[1:]
	}
	none := c.Has("no-index")
	for _, w := range words {
		if none || LooksLikePath(w.Text) {
			c.touch(w, Role{Access: term.Reads, recursive: none})
		}
	}
	if none && len(words) == 0 {
		c.touch(Exact("."), Role{Access: term.Reads, recursive: true})
	}
}

// gitInit makes a repository in its operand, or in its directory.
func gitInit(c *Call) {
	made := len(c.Operands) == 0
	for _, o := range c.Options {
		if o.Name == "git-dir" && o.Given {
			c.path(o.Value, term.Writes)
			made = false
		}
	}
	for _, a := range c.Cmd.Assigns {
		if a.Name == "GIT_DIR" || a.Name == "GIT_OBJECT_DIRECTORY" {
			c.path(a.Value, term.Writes)
			made = made && a.Name != "GIT_DIR"
		}
	}
	if made {
		c.path(Exact(".git"), term.Writes)
	}
}

// gitConfig: with a name and a value it writes; some names are programs.
func gitConfig(c *Call) {
	args := c.Operands
	if len(args) > 0 && (args[0].Text == "set" || args[0].Text == "get") {
		args = args[1:]
	}
	if c.Has("get", "get-all", "get-regexp", "list", "l", "get-urlmatch") || c.Sub[len(c.Sub)-1] == "get" || c.Sub[len(c.Sub)-1] == "list" {
		return
	}
	unsets := c.Has("unset", "unset-all", "remove-section", "rename-section", "edit", "e")
	if len(args) < 2 && !unsets {
		return
	}
	c.Effects |= term.Write
	switch {
	case c.Has("global"):
		c.writeHome(".gitconfig")
	case c.Has("system"):
		c.path(Exact("/etc/gitconfig"), term.Writes)
	case c.Value("f", "file") == "":
		c.path(Exact(".git/config"), term.Writes)
	}
	if len(args) < 2 || unsets {
		return
	}
	if runsProgram(args[0].Text, args[1].Text) {
		c.Flags.Add(term.FlagConfigExec)
	}
	c.storesPasswords(args[0].Text, args[1].Text)
	if leadsElsewhere(args[0], args[1]) {
		c.Flags.Add(term.FlagNetworkConfig)
	}
}

// storesPasswords notes the file in which a credential helper keeps passwords as they are (git-credential-store(1)).
func (c *Call) storesPasswords(key, val string) {
	key = strings.ToLower(key)
	fields := strings.Fields(val)
	if !strings.HasPrefix(key, "credential.") || !strings.HasSuffix(key, ".helper") || len(fields) == 0 || fields[0] != "store" {
		return
	}
	for i, word := range fields {
		if file, ok := strings.CutPrefix(word, "--file="); ok {
			c.path(Exact(file), term.Writes)
			return
		} else if word == "--file" && i+1 < len(fields) {
			c.path(Exact(fields[i+1]), term.Writes)
			return
		}
	}
	c.writeHome(".git-credentials")
}

// leadsElsewhere reports a setting by which git reaches its hosts through a proxy, or other hosts in their
// place.
func leadsElsewhere(key, val value.Word) bool {
	name := strings.ToLower(key.Text)
	base, ok := strings.CutSuffix(strings.TrimPrefix(name, "url."), "insteadof")
	if ok && key.Certainty == value.Exact {
		to, known := RemoteHost(strings.TrimSuffix(base, "."))
		from, replaced := RemoteHost(strings.ToLower(val.Text))
		return known && replaced && strings.Contains(from, ".") && to != from
	}
	section, _, _ := strings.Cut(name, ".")
	return strings.HasSuffix(name, ".proxy") && listedWord("http https remote", section) && val.Text != ""
}

// writeHome notes a write below the home directory of the child.
func (c *Call) writeHome(rel string) {
	t := Touch{Word: Exact(rel), Access: term.Writes, Source: "argument", AtHome: true}
	c.Touches = append(c.Touches, t)
}

// otherVCS adds the hosts from which other systems fetch, and the directory that they make.
func otherVCS(c *Call) {
	if !listedWord("clone pull checkout co update export branch", c.operand(0)) {
		return
	}
	last := c.Operands[len(c.Operands)-1]
	makes := len(c.Operands) > 2 && !listedWord("pull update", c.operand(0))
	if _, remote := RemoteHost(last.Text); makes && !remote {
		c.path(last, term.Writes)
	}
	for _, w := range c.Operands[1:] {
		if host, ok := RemoteHost(w.Text); ok {
			c.Hosts = AppendHost(c.Hosts, host)
		}
	}
}
