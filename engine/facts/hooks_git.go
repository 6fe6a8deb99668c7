package facts

import (
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// gitRunners are the keys of git's configuration whose value is a program that git starts.
var gitRunners = []string{
	"core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.hookspath", "core.askpass", "core.gitproxy", "core.alternaterefscommand",
	"diff.external", "sequence.editor", "credential.helper", "gpg.program", "gpg.ssh.program", "uploadpack.packobjectshook", "http.proxycommand",
	"interactive.difffilter", "ssh.variant", "sendemail.smtpserver", "web.browser", "gc.recentobjectshook", "trailer.", "pager.", "filter.", "difftool.", "mergetool.",
	"man.", "browser.", "guitool.", "instaweb.", "protocol.ext.allow", "init.templatedir", "include.path", "includeif.", "imap.tunnel",
}

// gitRunning are the last names of keys whose value is a program: remote.NAME.uploadpack.
var gitRunning = []string{
	".textconv", ".driver", ".uploadpack", ".receivepack", ".program", ".tocmd", ".cccmd", ".headercmd", ".clean", ".smudge", ".process",
	".vcs",
}

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
	case section == "gpg" && quiet("", exact(value)):
		return false
	case slices.ContainsFunc(gitRunning, running), running(".command") && (section == "diff" || section == "tar" || section == "hook"),
		section == "submodule" && running(".update") && strings.HasPrefix(value, "!"):
		return true
	case section == "credential" && running(".helper"):
		key = "credential.helper"
	}
	for _, name := range gitRunners {
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
			return !quiet("", exact(value))
		}
	}
	return false
}

// git reads the options in front of the subcommand: -c NAME=VALUE can name a program, and --config-env
// takes a value that is not known here.
func git(c *call) {
	for _, o := range c.options {
		if key, _, ok := strings.Cut(o.value.Text, "="); o.name == "config-env" && o.given {
			if !ok || o.value.Certainty != value.Exact || runsProgram(key, "!") {
				c.flags.add(flagConfigExec)
			}
			continue
		}
		if !o.given || o.name != "c" && o.name != "config" {
			continue
		}
		key, val, ok := strings.Cut(o.value.Text, "=")
		if strings.EqualFold(key, "core.hookspath") {
			c.flags.add(flagBypassesHooks)
		}
		if o.value.Certainty != value.Exact && o.value.Prefix == "" || ok && (runsProgram(key, val) || strings.HasPrefix(strings.ToLower(key), "alias.")) {
			if sub := strings.Join(c.sub, " "); o.name == "c" && sub != "clone" && o.known != c.base.short['c'] {
				continue // -c of commit, switch and branch is something else
			}
			c.flags.add(flagConfigExec)
			c.effects |= doesExecute
		}
	}
	if c.flags.has(flagConfigExec) {
		c.effects |= doesExecute
	}
	if c.flags.has(flagDryRun) {
		for _, f := range []flag{flagForcePush, flagDeletesRef, flagRemovesUntracked} {
			c.flags.remove(f)
		}
	}
}

// gitRemoteURL adds the host of a remote that is given by its URL; ext:: runs a program.
func gitRemoteURL(c *call) {
	for _, w := range c.operands {
		if strings.HasPrefix(w.Text, "ext::") {
			c.flags.add(flagConfigExec)
			c.effects |= doesExecute
			continue
		}
		if host, ok := remoteHost(w.Text); ok && w.Certainty != value.Unknown {
			c.hosts = appendHost(c.hosts, host)
		}
	}
}

func gitRemote(c *call) {
	if len(c.operands) > 0 {
		first := *c
		first.operands = c.operands[:1]
		gitRemoteURL(&first)
		c.hosts, c.flags, c.effects = first.hosts, first.flags, first.effects
	}
}

// gitPush: REMOTE REFSPEC…; "+ref" forces, ":ref" deletes.
func gitPush(c *call) {
	gitRemote(c)
	if len(c.operands) < 2 {
		return
	}
	for _, w := range c.operands[1:] {
		switch {
		case strings.HasPrefix(w.Text, "+"):
			c.flags.add(flagForcePush)
		case strings.HasPrefix(w.Text, ":") && len(w.Text) > 1:
			c.flags.add(flagDeletesRef)
		}
	}
}

// gitClone writes a directory that is named after the repository.
func gitClone(c *call) {
	gitRemote(c)
	if len(c.operands) != 1 || c.operands[0].Certainty != value.Exact {
		return
	}
	text := strings.TrimSuffix(strings.TrimRight(c.operands[0].Text, "/"), ".git")
	if i := strings.LastIndexAny(text, "/:"); i >= 0 {
		text = text[i+1:]
	}
	if text != "" {
		c.path(exact(text), writes)
	}
}

// gitCheckout: paths behind "--" are overwritten; so is all with "." alone.
func gitCheckout(c *call) {
	behind := false
	for _, w := range c.cmd.Words {
		if w.Text == "--" && !behind {
			behind = true
			continue
		}
		if behind {
			c.flags.add(flagDiscardsChanges)
			c.touch(w, role{access: writes, recursive: true})
		}
	}
	creates := c.has("b", "B", "orphan", "t", "track", "detach")
	if c.has("pathspec-from-file") || !behind && !creates && len(c.operands) > 1 { // what follows a commit is paths
		c.flags.add(flagDiscardsChanges)
		for _, w := range c.operands[min(1, len(c.operands)):] {
			c.touch(w, role{access: writes, recursive: true})
		}
		return
	}
	if !behind && len(c.operands) > 0 {
		if last := c.operands[len(c.operands)-1]; last.Text == "." || last.Text == ":/" || strings.HasPrefix(last.Text, "./") || strings.HasPrefix(last.Text, "*") {
			c.flags.add(flagDiscardsChanges)
			c.touch(last, role{access: writes, recursive: true})
			return
		}
		if !creates {
			for _, w := range c.operands {
				switch {
				case namesSource(w):
					c.flags.add(flagDiscardsChanges)
					c.path(w, writes)
				case strings.ContainsAny(w.Text, "./"): // a branch called like a file is rare, a file without dot and slash too
					c.touchFile(w, writes, flagDiscardsChanges)
				}
			}
		}
	}
}

// sourceNames are the extensions by which a word with a directory is a file and no branch, though there may
// be no such file any more. Branches are called topic/parser or release/v1.2.
const sourceNames = " c h cc cpp cxx hpp go rs py js mjs ts tsx jsx java kt rb php cs swift scala sh sql md txt json yaml yml toml xml html css scss vue svelte lock ini cfg "

func namesSource(w value.Word) bool {
	ext := strings.TrimPrefix(path.Ext(w.Text), ".")
	return w.Certainty == value.Exact && strings.Contains(w.Text, "/") && ext != "" && strings.Contains(sourceNames, " "+ext+" ")
}

// gitRestore: --staged alone leaves the files as they are.
func gitRestore(c *call) {
	if c.has("S", "staged") && !c.has("W", "worktree") {
		c.flags.remove(flagDiscardsChanges)
		c.touches = nil
	}
}

// gitClean removes what is not tracked below the working directory.
func gitClean(c *call) {
	if c.flags.has(flagDryRun) {
		c.flags.remove(flagRemovesUntracked)
		c.effects &^= doesDelete
		c.each(deletes, func(t *touch) { t.access = reads; t.role.metadata = true })
		return
	}
	if c.has("i", "interactive") || c.sets("clean.requireforce") {
		c.flags.add(flagRemovesUntracked)
	}
}

// sets reports whether git is given a setting for this one run.
func (c *call) sets(key string) bool {
	for _, o := range c.options {
		if name, _, _ := strings.Cut(o.value.Text, "="); (o.name == "c" || o.name == "config-env") && strings.EqualFold(name, key) {
			return true
		}
	}
	return false
}

// gitNoIndex: with --no-index git compares and searches any files, and those outside of a repository without
// it.
func gitNoIndex(c *call) {
	words := c.operands
	if c.sub[len(c.sub)-1] == "grep" && !c.has("e", "f") && len(words) > 0 {
		words = words[1:]
	}
	none := c.has("no-index")
	for _, w := range words {
		if none || looksLikePath(w.Text) {
			c.touch(w, role{access: reads, recursive: none})
		}
	}
	if none && len(words) == 0 {
		c.touch(exact("."), role{access: reads, recursive: true})
	}
}

// gitInit makes a repository in its operand, or in its directory.
func gitInit(c *call) {
	made := len(c.operands) == 0
	for _, o := range c.options {
		if o.name == "git-dir" && o.given {
			c.path(o.value, writes)
			made = false
		}
	}
	for _, a := range c.cmd.Assigns {
		if a.Name == "GIT_DIR" || a.Name == "GIT_OBJECT_DIRECTORY" {
			c.path(a.Value, writes)
			made = made && a.Name != "GIT_DIR"
		}
	}
	if made {
		c.path(exact(".git"), writes)
	}
}

// gitRm: --cached leaves the files alone.
func gitRm(c *call) {
	if c.has("cached") || c.flags.has(flagDryRun) {
		c.effects &^= doesDelete
		c.touches = nil
	}
}

// gitBranch: -d with -f is -D; -d alone only deletes what is merged.
func gitBranch(c *call) {
	if c.has("d", "delete") && c.has("f", "force") {
		c.flags.add(flagDeletesRef)
	}
	if c.has("M", "C") {
		c.flags.add(flagForce)
	}
}

// gitGC: objects without a name are lost at once with --prune=now, and by git prune.
func gitGC(c *call) {
	if c.flags.has(flagDryRun) {
		return
	}
	if v := c.value("prune", "expire"); v == "now" || v == "all" {
		c.flags.add(flagRewritesHistory)
	}
}

func gitWorktree(c *call) {
	c.each(deletes, func(t *touch) { t.recursive = true })
}

// gitConfig: with a name and a value it writes; some names are programs.
func gitConfig(c *call) {
	args := c.operands
	if len(args) > 0 && (args[0].Text == "set" || args[0].Text == "get") {
		args = args[1:]
	}
	if c.has("get", "get-all", "get-regexp", "list", "l", "get-urlmatch") || c.sub[len(c.sub)-1] == "get" || c.sub[len(c.sub)-1] == "list" {
		return
	}
	unsets := c.has("unset", "unset-all", "remove-section", "rename-section", "edit", "e")
	if len(args) < 2 && !unsets {
		return
	}
	c.effects |= doesWrite
	switch {
	case c.has("global"):
		c.writeHome(".gitconfig")
	case c.has("system"):
		c.path(exact("/etc/gitconfig"), writes)
	case c.value("f", "file") == "":
		c.path(exact(".git/config"), writes)
	}
	if len(args) >= 2 && !unsets && runsProgram(args[0].Text, args[1].Text) {
		c.flags.add(flagConfigExec)
	}
}

// writeHome notes a write below the home directory of the child.
func (c *call) writeHome(rel string) {
	c.touches = append(c.touches, touch{word: exact(rel), access: writes, source: "argument", atHome: true})
}

// otherVCS: the dangerous subcommands of the other systems.
func otherVCS(c *call) {
	switch c.operand(0) {
	case "push":
		c.effects |= doesNetwork
		c.flags.add(flagRemote)
		c.flags.add(flagUploads)
	case "clone", "pull", "checkout", "co", "update", "export":
		c.effects |= doesNetwork
		c.flags.add(flagDownloads)
		for _, w := range c.operands[1:] {
			if host, ok := remoteHost(w.Text); ok {
				c.hosts = appendHost(c.hosts, host)
			}
		}
	case "revert":
		c.flags.add(flagDiscardsChanges)
	case "purge", "cleanup":
		c.flags.add(flagRemovesUntracked)
	case "strip", "histedit":
		c.flags.add(flagRewritesHistory)
	}
}
