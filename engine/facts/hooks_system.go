package facts

import (
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// shutdownNot: shutdown -c cancels one, --help explains it.
func shutdownNot(c *call) {
	if c.cmd.Name == "shutdown" && c.has("c") || c.has("help") {
		c.flags.remove(flagShutdown)
	}
}

func initLevel(c *call) {
	switch c.operand(0) {
	case "0", "1", "6", "s", "S":
		c.flags.add(flagShutdown)
	}
}

// serviceName: stopping what protects or records is more than service control.
func serviceName(c *call) {
	switch c.sub[len(c.sub)-1] {
	case "stop", "disable", "mask", "kill":
		c.stopsSecurity(c.operands)
	}
}

// serviceStatus: "service NAME status" only looks.
func serviceStatus(c *call) {
	words := c.operands
	if len(words) == 0 && c.has("status-all") {
		c.flags.remove(flagServiceControl)
		c.effects = c.effects&^doesSystem | doesRead
	}
	for i, w := range words {
		switch w.Text {
		case "status", "--status-all", "list", "print", "blame", "show", "summary":
			if i == 1 || len(words) == 1 || i == 0 {
				c.flags.remove(flagServiceControl)
				c.effects = c.effects&^doesSystem | doesRead
				return
			}
		case "stop", "unload", "bootout", "disable", "remove", "off", "down":
			c.stopsSecurity(words)
		}
	}
}

// guards are services that protect or record.
var guards = []string{"auditd", "apparmor", "firewalld", "ufw", "iptables", "nftables", "fail2ban", "rsyslog", "syslog", "falcon-sensor", "clamav", "selinux", "ossec", "wazuh", "crowdsec", "osquery", "falco", "systemd-journald", "mdatp", "aide", "tripwire", "cbdaemon", "sysmon"}

func (c *call) stopsSecurity(words []shell.Word) {
	for _, w := range words {
		for _, g := range guards {
			if strings.HasPrefix(strings.TrimSuffix(w.Text, ".service"), g) {
				c.flags.add(flagDisablesSecurity)
			}
		}
	}
}

// journal: reading it is not removing it.
func journal(c *call) {
	if c.effects&doesDelete != 0 {
		c.path(exact("/var/log/journal"), deletes)
		return
	}
	if c.cmd.Name == "machinectl" || c.cmd.Name == "systemd-nspawn" {
		c.effects |= doesSystem | doesExecute
	}
}

// crontab: -l lists; -r removes all; a file or "-" replaces it.
func crontab(c *call) {
	if c.has("l") && !c.has("r", "e") && len(c.operands) == 0 {
		c.flags.remove(flagCronEdit)
		c.effects = doesRead
		return
	}
	if c.has("r") {
		c.effects |= doesDelete
	}
}

// sysctl NAME=VALUE writes, with or without -w.
func sysctl(c *call) {
	for _, w := range c.operands {
		if strings.Contains(w.Text, "=") {
			c.flags.add(flagKernel)
			c.effects |= doesSystem
		}
	}
}

func auditctl(c *call) {
	if c.has("l", "s") && !c.has("D", "e", "d") {
		c.flags.remove(flagDisablesSecurity)
		c.effects = doesRead
	}
}

// clockShow: without an argument the clock is only shown.
func clockShow(c *call) {
	switch c.operand(0) {
	case "", "status", "show", "list-timezones", "timesync-status", "show-timesync", "tracking", "sources":
		if !c.has("w", "systohc", "s", "hctosys", "set") {
			c.flags.remove(flagClock)
			c.effects = doesRead
		}
	}
}

// dateSet: an operand without a plus is the time to set.
func dateSet(c *call) {
	if t := c.operand(0); len(t) >= 8 && strings.Trim(t, "0123456789.") == "" {
		c.flags.add(flagClock)
		c.effects |= doesSystem
	}
}

// kill: a signal, then process ids. A negative id is a process group, -1 is everybody.
func kill(c *call) {
	first, sawIDs, rest := true, false, false
	for i := 0; i < len(c.operands); i++ {
		w := c.operands[i]
		switch {
		case !rest && w.Text == "--":
			rest = true
			continue
		case !rest && (w.Text == "-l" || w.Text == "-L" || strings.HasPrefix(w.Text, "--list") || w.Text == "--table"):
			c.effects &^= doesProcess
			return
		case !rest && (w.Text == "-s" || w.Text == "-n" || w.Text == "--signal" || w.Text == "-q"):
			i++
			first = false
			continue
		case !rest && first && isOption(w):
			// The first word with a dash is the signal: "kill -9 …". "kill -1" alone sends none.
			first = false
			if w.Text == "-1" && len(c.operands) == 1 {
				c.flags.add(flagKillsAll)
			}
			continue
		}
		first = false
		sawIDs = true
		c.victim(w)
	}
	if !sawIDs {
		return
	}
}

func (c *call) victim(w shell.Word) {
	switch {
	case w.Text == "-1":
		c.flags.add(flagKillsAll)
	case w.Text == "1":
		c.flags.add(flagKillsInit)
	case strings.HasPrefix(w.Text, "%") || w.Text == "$!" || w.Text == "$$" || w.Text == "${!}":
		// a job of this shell, its last child, or itself
	case w.Certainty != shell.Exact && len(w.Inputs) > 0:
		c.flags.add(flagKillsUnknown)
	}
}

// pkill: a pattern that matches everything kills everything.
func pkill(c *call) {
	words := c.operands
	if len(words) == 0 {
		if !c.has("F", "pidfile", "P", "parent", "g", "pgroup", "s", "session", "t", "terminal") {
			c.flags.add(flagKillsAll)
		}
		return
	}
	switch words[len(words)-1].Text {
	case ".", ".*", "", "^", "$", ".+", "^.*$", "^.*":
		c.flags.add(flagKillsAll)
	}
}

// wrapper: the shell walk has opened what it carries. env alone prints the environment.
func wrapper(c *call) {
	switch c.cmd.Name {
	case "env":
		for _, w := range c.cmd.Words[1:] {
			if !isOption(w) || w.Text == "-S" || strings.HasPrefix(w.Text, "--split-string") || strings.HasPrefix(w.Text, "-S") {
				if name, _, ok := strings.Cut(w.Text, "="); ok && !strings.Contains(name, "/") {
					continue
				}
				return
			}
		}
		c.flags.add(flagDumpsEnv)
	case "xargs", "gxargs":
		for i, w := range c.cmd.Words {
			if (w.Text == "-a" || w.Text == "--arg-file") && i+1 < len(c.cmd.Words) {
				c.path(c.cmd.Words[i+1], reads)
			} else if v, ok := strings.CutPrefix(w.Text, "--arg-file="); ok {
				c.path(cut(w, len(w.Text)-len(v)), reads)
			}
		}
		c.effects |= doesExecute
	case "nohup", "setsid", "time", "nice", "timeout", "exec", "command", "builtin", "stdbuf", "disown":
	default:
		c.effects |= doesExecute
	}
}

func printenv(c *call) {
	if len(c.operands) == 0 {
		c.flags.add(flagDumpsEnv)
	}
}

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

// mountLists: mount without a place to mount at lists what is mounted.
func mountLists(c *call) {
	if len(c.operands) == 0 && !c.has("a", "all") {
		c.flags.remove(flagMount)
		c.effects = c.effects&^doesSystem | doesRead
	}
}
