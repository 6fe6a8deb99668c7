package facts

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// dpkg and rpm: what asks and what changes.
func dpkg(c *call) {
	if c.flags.has(flagPackageInstall) || c.flags.has(flagPackageRemove) {
		c.effects |= doesWrite
	}
}

func rpm(c *call) {
	switch {
	case c.has("q", "query", "V", "verify"):
	case c.has("e", "erase"):
		c.flags.add(flagPackageRemove)
		c.effects |= doesSystem
	case c.has("i", "U", "F", "install", "upgrade", "freshen"):
		c.flags.add(flagPackageInstall)
		c.effects |= doesSystem
	}
	for _, w := range c.operands {
		c.curlURL(w)
	}
}

// curlURL notes that a word is fetched when it is a URL.
func (c *call) curlURL(w shell.Word) {
	if strings.Contains(w.Text, "://") {
		c.host(w.Text)
		c.effects |= doesNetwork
		c.flags.add(flagDownloads)
	}
}

// pacman's mode is its first letter.
func pacman(c *call) {
	switch {
	case c.has("R", "remove"):
		c.flags.add(flagPackageRemove)
	case c.has("S", "sync") && !c.has("s", "i", "g", "l") || c.has("U", "upgrade"):
		if len(c.operands) > 0 || c.has("u") {
			c.flags.add(flagPackageInstall)
			c.flags.add(flagDownloads)
			c.effects |= doesNetwork
		}
	case c.has("Q", "query"):
		c.effects = doesRead
	}
}

// removeWords: package managers with few words; the first says whether it adds or removes.
func removeWords(c *call) {
	switch c.operand(0) {
	case "list", "ls", "search", "info", "show", "which", "version", "versions", "current", "help", "env", "path", "":
		c.flags.remove(flagPackageInstall)
		c.flags.remove(flagDownloads)
		c.effects = c.effects&^doesNetwork | doesRead
	case "remove", "uninstall", "rm", "delete", "purge", "autoremove":
		c.flags.remove(flagPackageInstall)
		c.flags.remove(flagDownloads)
		c.flags.add(flagPackageRemove)
	}
}

// npmPublish: what shares a row with removing, but works on the registry.
func npmPublish(c *call) {
	switch c.sub[len(c.sub)-1] {
	case "unpublish":
		c.flags.remove(flagPackageRemove)
		c.flags.add(flagDestroysData)
		c.remoteWork()
	case "deprecate", "dist-tag", "owner", "access", "publish", "deploy":
		c.flags.remove(flagPackageRemove)
		c.flags.add(flagPublishes)
		c.remoteWork()
	}
}

func (c *call) remoteWork() {
	c.flags.add(flagRemote)
	c.effects |= doesNetwork
}

// publishWord: tools where one word makes the difference.
func publishWord(c *call) {
	switch c.operand(0) {
	case "publish", "push", "upload", "copy", "release", "login":
		c.flags.add(flagPublishes)
		c.flags.add(flagUploads)
		c.remoteWork()
	case "delete", "rm", "remove", "prune":
		c.flags.add(flagDestroysData)
	}
}

// makeTargets: the names of targets tell little, these tell something.
func makeTargets(c *call) {
	for _, w := range c.operands {
		if w.Text == "install" {
			c.effects |= doesWrite
		}
	}
}

// serverTest: a configuration test starts no server.
func serverTest(c *call) {
	if c.has("t", "T", "V", "v") {
		c.effects &^= doesNetwork
		c.flags.remove(flagListens)
	}
}

// bcFiles: bc reads programs from files; expr, seq and units have no files.
func bcFiles(c *call) {
	if c.cmd.Name != "bc" && c.cmd.Name != "dc" {
		return
	}
	for _, w := range c.operands {
		c.path(w, reads)
		c.effects |= doesRead
	}
}

// agentCLI: another agent with its checks switched off.
func agentCLI(c *call) {
	for _, o := range c.options {
		if strings.Contains(o.name, "dangerously") || o.name == "yolo" || o.name == "full-auto" {
			c.flags.add(flagForce)
		}
	}
}

// pythonModule: python -m NAME is the program NAME.
func pythonModule(c *call) {
	switch c.value("m") {
	case "http.server", "SimpleHTTPServer", "pyftpdlib", "smtpd":
		c.flags.add(flagListens)
		c.effects |= doesNetwork
	case "pip", "ensurepip", "pipx", "uv":
		for i, w := range c.cmd.Words {
			if w.Text == "-m" {
				c.runInner(c.cmd.Words[i+1:])
				return
			}
		}
	}
}

// perlInPlace: perl -i CODE FILES writes the files.
func perlInPlace(c *call) {
	if !c.flags.has(flagInPlace) {
		return
	}
	first := 1
	if c.noFirst {
		first = 0
	}
	c.touches = c.touches[:0]
	for i, w := range c.operands {
		if i >= first {
			c.path(w, reads|writes)
		}
	}
}
