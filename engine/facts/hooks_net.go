package facts

import (
	"cmp"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// fed reports whether something flows into the command: a pipe, a file, a here-document.
func (c *call) fed() bool {
	if c.cmd.Pipeline.Index > 0 {
		return true
	}
	for _, r := range c.cmd.Redirects {
		if r.Mode == shell.RedirectRead || r.Mode == shell.RedirectHere || r.Mode == shell.RedirectReadWrite {
			return true
		}
	}
	return false
}

// send notes that the content of a file, or what flows in ("-"), leaves the machine.
func (c *call) send(w value.Word) {
	c.flags.add(flagUploads)
	c.path(w, reads)
}

func wget(c *call) {
	c.request(c.value("method"), texts(c.operands))
	for _, o := range c.options {
		if o.full == "-e" || o.full == "--execute" {
			c.wgetrc(o.value)
		}
	}
	if c.value("O", "output-document") == "-" || c.has("spider") {
		return
	}
	if c.value("O", "output-document") != "" {
		return
	}
	if dir := c.value("P", "directory-prefix"); dir != "" {
		c.dir = enter(c.dir, exact(dir))
	}
	c.writeNamedAfterURL()
}

// wgetOptions are the commands of .wgetrc, which -e takes, that are called otherwise than the option: "output_document"
// is --output-document.
var wgetOptions = map[string]string{"dirprefix": "directoryprefix", "logfile": "outputfile", "input": "inputfile", "cookiesfile": "loadcookies"}

// wgetrc does what a command of .wgetrc would do as an option. Case, dashes and underscores of its name do not matter.
func (c *call) wgetrc(w value.Word) {
	name, _, ok := strings.Cut(w.Text, "=")
	if !ok {
		return
	}
	plain := strings.NewReplacer("_", "", "-", "", " ", "")
	name, at := plain.Replace(strings.ToLower(name)), len(name)+1
	if other := wgetOptions[name]; other != "" {
		name = other
	}
	at += len(w.Text[at:]) - len(strings.TrimLeft(w.Text[at:], " "))
	for long, o := range c.spec.long {
		if plain.Replace(long) == name && o.value != nil {
			c.use(optionUse{name: long, full: "--" + long, known: o, value: cut(w, at), given: true})
			return
		}
	}
}

// httpie: METHOD URL ITEM…; name@file sends a file, and so does what flows in.
func httpie(c *call) {
	c.touches = nil
	if len(c.operands) > 1 {
		c.request(c.operand(0), texts(c.operands[1:2]))
	}
	for _, w := range c.operands {
		if name, _, ok := strings.Cut(w.Text, "@"); ok && !strings.Contains(name, "/") && !strings.Contains(name, "=") && !strings.Contains(name, ":") && (name != "" || looksLikePath(cmp.Or(strings.TrimPrefix(w.Text, "@"), "-"))) && !strings.Contains(w.Text, "://") {
			c.send(cut(w, len(name)+1))
			continue
		}
		if strings.Contains(w.Text, "://") || strings.Contains(w.Text, ".") && !strings.ContainsAny(w.Text, "=") {
			c.host(w.Text)
		}
	}
	if c.fed() && !c.has("ignore-stdin", "I") {
		c.flags.add(flagUploads)
	}
	if o := c.value("o", "output"); o != "" {
		c.path(exact(o), writes)
	}
}

// netcat: what flows in leaves; -z only knocks.
func netcat(c *call) {
	if c.has("l", "listen") {
		c.flags.add(flagListens)
		c.flags.add(flagSocket)
		c.hosts = nil
		if c.fed() {
			c.flags.add(flagUploads)
		}
		return
	}
	if c.has("z") {
		return
	}
	c.flags.add(flagSocket)
	if c.fed() {
		c.flags.add(flagUploads)
	}
}

// socat: two addresses, KIND:ARGS,OPTIONS.
func socat(c *call) {
	network, runs := false, false
	for _, w := range c.operands {
		if isOption(w) {
			continue
		}
		kind, rest, _ := strings.Cut(w.Text, ":")
		kind = strings.ToUpper(kind)
		args, _, _ := strings.Cut(rest, ",")
		switch {
		case strings.Contains(kind, "LISTEN") || strings.Contains(kind, "RECV"):
			network = true
			c.flags.add(flagListens)
		case strings.HasPrefix(kind, "TCP") || strings.HasPrefix(kind, "UDP") || strings.HasPrefix(kind, "OPENSSL") || strings.HasPrefix(kind, "SCTP") || strings.HasPrefix(kind, "SSL") || strings.HasPrefix(kind, "PROXY") || strings.HasPrefix(kind, "SOCKS"):
			network = true
			c.host(args)
		case kind == "EXEC" || kind == "SYSTEM" || kind == "SHELL":
			runs = true
		case kind == "OPEN" || kind == "FILE" || kind == "GOPEN" || kind == "PIPE":
			c.path(exact(args), reads|writes)
		case kind == "CREATE" || kind == "CREAT":
			c.path(exact(args), writes)
		case strings.HasPrefix(kind, "UNIX"):
			c.path(exact(args), reads|writes)
		case strings.Contains(w.Text, "/") && rest == "":
			c.path(w, reads|writes)
		}
	}
	if network {
		c.flags.add(flagSocket)
		if c.fed() {
			c.flags.add(flagUploads)
		}
	} else {
		c.effects &^= doesNetwork
	}
	if runs {
		c.effects |= doesExecute
		c.flags.add(flagEscape)
		if network {
			c.flags.add(flagSocketShell)
		}
	}
}

// ipRoute: show and list look, the rest changes.
func ipRoute(c *call) {
	networkConfig(c)
	for _, w := range c.operands {
		switch w.Text {
		case "exec":
			c.effects |= doesExecute | doesPrivilege
		}
	}
}

// firewall: listing is not changing; flushing and opening all disables it.
func firewall(c *call) {
	off := false
	looks := true
	for i, w := range c.operands {
		switch w.Text {
		case "-L", "--list", "-S", "--list-rules", "-n", "-v", "-nvL", "-nL", "-vnL", "list", "status", "show", "--list-all", "--state", "-t", "verbose", "numbered", "--line-numbers", "ruleset", "--help", "--version":
			continue
		case "-F", "--flush", "-X", "--delete-chain", "disable", "reset", "flush", "off", "--panic-on", "-d", "stop", "unban":
			off = true
		case "-P", "--policy":
			off = off || i+2 < len(c.operands) && c.operands[i+2].Text == "ACCEPT"
		case "filter", "nat", "mangle", "raw":
			continue
		}
		looks = false
	}
	if looks {
		c.flags.remove(flagFirewall)
		c.effects &^= doesSystem
		c.effects |= doesRead
	}
	if off {
		c.flags.add(flagDisablesSecurity)
	}
}

// ssh: a command behind the host runs there; options can start a program here.
func ssh(c *call) {
	if len(c.operands) > 1 {
		c.flags.add(flagRemoteExec)
		c.effects |= doesExecute
		if c.fed() {
			c.flags.add(flagUploads)
		}
	}
	sshOptions(c)
}

// sshKeygen only reads the file of -f where it prints what is public of it.
func sshKeygen(c *call) {
	prints := false
	for _, o := range c.options {
		prints = prints || strings.Contains("l y e B L", o.name)
	}
	for i := range c.touches {
		if prints && c.touches[i].access == reads|writes {
			c.touches[i].access, c.touches[i].role = reads, role{word: "key", access: reads}
		}
	}
}

// sshOptions: -o ProxyCommand and its like start a program here, -o IdentityFile names a key.
func sshOptions(c *call) {
	for _, o := range c.options {
		if o.name != "o" || !o.given {
			continue
		}
		text := strings.ToLower(o.value.Text)
		switch {
		case strings.HasPrefix(text, "proxycommand") || strings.HasPrefix(text, "localcommand") || strings.HasPrefix(text, "knownhostscommand"):
			c.flags.add(flagEscape)
			c.effects |= doesExecute
		case strings.HasPrefix(text, "identityfile") && len(text) > len("identityfile="):
			c.touch(cut(o.value, len("identityfile=")), role{word: "key", access: reads})
		case strings.HasPrefix(text, "stricthostkeychecking") && strings.HasSuffix(text, "no"):
			c.flags.add(flagInsecureTLS)
		}
	}
}

// rclone: a word with a colon is a remote. sync deletes at its destination.
func rclone(c *call) {
	sub := strings.Join(c.sub, " ")
	c.dropNamed()
	c.direction()
	if len(c.operands) < 2 {
		return
	}
	dest := c.operands[len(c.operands)-1]
	remote := isNamed(dest.Text)
	if sub == "sync" || sub == "bisync" {
		c.effects |= doesDelete
		c.flags.add(flagDestroysData)
		if !remote {
			c.touches = append(c.touches, touch{word: dest, access: deletes, source: "argument", dir: c.dir, role: role{access: deletes}, recursive: true})
		}
	}
	if strings.HasPrefix(sub, "move") {
		c.effects |= doesDelete
		c.each(reads, func(t *touch) { t.access |= deletes; t.moved = true })
	}
}

// tunnelLooks: some words of a tunnel's client only look at what there is.
func tunnelLooks(c *call) {
	for _, w := range c.operands {
		switch w.Text {
		case "list", "verify", "version", "help", "info", "config", "validate", "login":
			c.flags.remove(flagTunnel)
		}
	}
}

// showsKeys: the configuration of a private network with its keys.
func showsKeys(c *call) {
	networkConfig(c)
	switch {
	case c.cmd.Name == "wg" && (c.operand(0) == "showconf" || c.operand(0) == "show" && c.operand(2) == "private-key"),
		c.cmd.Name == "nmcli" && c.has("s", "show-secrets"):
		c.flags.add(flagPrintsSecret)
	}
}

// sftpBatch: the commands that come in put files there.
func sftpBatch(c *call) {
	sshOptions(c)
	for line := range strings.Lines(c.source.text(exact("-"))) {
		words := strings.Fields(line)
		for i := 1; i < len(words) && (words[0] == "put" || words[0] == "mput" || words[0] == "reput" || words[0] == "send"); i++ {
			if words[i][0] != '-' {
				c.path(exact(words[i]), reads)
				c.flags.add(flagUploads)
				break
			}
		}
	}
}
