package facts

import (
	"cmp"
	"path"
	"slices"
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

// wgetOptions are the commands of .wgetrc, which -e takes, that are called otherwise than the option:
// "output_document" is --output-document.
var wgetOptions = map[string]string{"dirprefix": "directoryprefix", "logfile": "outputfile", "input": "inputfile", "cookiesfile": "loadcookies"}

// wgetrc does what a command of .wgetrc would do as an option. Case, dashes and underscores of its name do
// not matter.
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
		case strings.HasPrefix(text, "proxyjump") && len(text) > len("proxyjump="):
			c.through(cut(o.value, len("proxyjump=")))
		case strings.HasPrefix(text, "hostname") && len(text) > len("hostname="):
			c.targetWord(targetAddress, cut(o.value, len("hostname=")))
			c.host(o.value.Text[len("hostname="):])
		case strings.HasPrefix(text, "stricthostkeychecking") && strings.HasSuffix(text, "no"):
			c.flags.add(flagInsecureTLS)
		}
	}
}

// getent asks the network for the databases of hosts.
func getent(c *call) {
	if !slices.Contains([]string{"hosts", "ahosts", "ahostsv4", "ahostsv6"}, c.operand(0)) {
		return
	}
	c.effects |= doesNetwork
	for _, w := range c.operands[1:] {
		c.host(w.Text)
		c.targetWord(targetHost, w)
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

// curl: data options whose value starts with @ (or name@ for --data-urlencode) send a file, -F
// name=@file and name=<file too, -T sends one, @- sends what flows in. -O writes a file named
// after the URL.
func curl(c *call) {
	for _, o := range c.options {
		if !o.given {
			continue
		}
		switch name := strings.TrimLeft(o.full, "-"); strings.TrimPrefix(name, "expand-") {
		case "d", "data", "data-ascii", "data-binary", "json":
			c.curlData(o.value, 0)
		case "data-urlencode", "url-query", "variable":
			if i := strings.IndexByte(o.value.Text, '@'); i >= 0 && !strings.Contains(o.value.Text[:i], "=") {
				c.curlData(o.value, i)
			} else {
				c.curlSubstituted(o.value)
			}
		case "F", "form":
			if i := strings.IndexByte(o.value.Text, '='); i >= 0 && i+1 < len(o.value.Text) && strings.IndexByte("@<", o.value.Text[i+1]) >= 0 {
				file := cut(o.value, i+2)
				if j := strings.IndexByte(file.Text, ';'); j >= 0 {
					file.Text = file.Text[:j]
					file.Prefix = file.Prefix[:min(j, len(file.Prefix))]
				}
				c.send(file)
			}
		case "T", "upload-file":
			c.send(o.value)
		case "H", "header", "proxy-header":
			c.curlData(o.value, 0)
		case "b", "cookie":
			if o.value.Certainty == value.Exact && !strings.Contains(o.value.Text, "=") {
				c.path(o.value, reads)
			}
			c.curlSubstituted(o.value)
		case "data-raw", "u", "user":
			c.curlSubstituted(o.value)
		case "w", "write-out":
			c.curlWrites(o.value)
		case "url":
			if strings.HasPrefix(o.value.Text, "@") {
				c.path(cut(o.value, 1), reads)
			}
		}
	}
	for _, w := range c.operands {
		c.curlSubstituted(w)
	}
	if c.has("G", "get") && c.has("d", "data") {
		c.curlSubstituted(value.Word{})
	}
	into := c.dir
	if o, ok := c.option1("output-dir"); ok {
		into = enter(c.dir, o.value)
		c.each(writes, func(t *touch) {
			if c.isOutput(t.word) {
				t.dir = into
			}
		})
	}
	if c.has("O", "remote-name", "remote-name-all", "J", "remote-header-name") {
		c.dir, into = into, c.dir
		c.writeNamedAfterURL()
		c.dir = into
	}
	c.request(c.value("X", "request"), append(texts(c.operands), c.value("url")))
	if len(c.operands) == 0 && c.value("url") == "" && (c.has("version", "V", "h", "help", "M", "manual")) {
		c.effects &^= doesNetwork
		c.flags.remove(flagDownloads)
	}
}

// isOutput reports whether a word is what -o names: --output-dir is for these alone.
func (c *call) isOutput(w value.Word) bool {
	for _, o := range c.options {
		if (o.name == "o" || o.full == "--output") && o.value.Text == w.Text {
			return true
		}
	}
	return false
}

// curlWrites: a format of -w stands in a file behind @, and %output{FILE} writes one.
func (c *call) curlWrites(w value.Word) {
	if strings.HasPrefix(w.Text, "@") {
		c.path(cut(w, 1), reads)
	}
	for rest := w.Text; ; {
		_, behind, found := strings.Cut(rest, "%output{")
		if !found {
			return
		}
		file, next, _ := strings.Cut(behind, "}")
		c.path(exact(strings.TrimPrefix(file, ">>")), writes)
		rest = next
	}
}

// curlSubstituted: a value that holds the output of a command sends that.
func (c *call) curlSubstituted(w value.Word) {
	if len(w.Inputs) > 0 {
		c.flags.add(flagUploads)
	}
}

func (c *call) curlData(w value.Word, at int) {
	if len(w.Text) > at && w.Text[at] == '@' {
		c.send(cut(w, at+1))
		return
	}
	c.curlSubstituted(w)
}

// writeNamedAfterURL: the file is the last name of the URL, in the directory of the command.
func (c *call) writeNamedAfterURL() {
	for _, w := range c.operands {
		text, _, _ := strings.Cut(w.Text, "?")
		text, _, _ = strings.Cut(text, "#")
		_, rest, ok := strings.Cut(text, "://")
		if !ok {
			rest = text
		}
		_, name, ok := strings.Cut(rest, "/")
		if name = path.Base("/" + name); !ok || name == "/" || name == "." {
			continue
		}
		if w.Certainty == value.Exact {
			c.path(exact(name), writes)
		}
	}
}

// storePorts are the ports at which data stores are managed over HTTP, by their own documentation:
// etcd, CouchDB, Qdrant, Meilisearch, Typesense, InfluxDB, ClickHouse, Consul, ArangoDB, Solr,
// Elasticsearch and OpenSearch.
var storePorts = []string{"2379", "5984", "6333", "7700", "8108", "8086", "8123", "8500", "8529", "8983", "9200"}

// storedItems are names in a URL of these below which there is one item, not a collection of them.
var storedItems = []string{"_doc", "documents", "points", "_search", "scroll"}

// request adds what an HTTP request asks of a server by its method and its URL.
func (c *call) request(method string, urls []string) {
	for _, url := range urls {
		host, rest := splitURL(url)
		last := strings.ToLower(path.Base(rest))
		switch strings.ToUpper(method) {
		case "DELETE":
			c.flags.add(flagHTTPDelete)
			_, port, _ := strings.Cut(host, ":")
			names := strings.Split(rest, "/")
			one := slices.ContainsFunc(names, func(name string) bool { return slices.Contains(storedItems, name) })
			if slices.Contains(storePorts, port) && !one {
				c.destroys()
			}
		case "POST":
			if destroysBy(last) || destroysBy(strings.TrimPrefix(last, "do")) || strings.HasPrefix(last, "_delete") {
				c.flags.add(flagHTTPDelete)
			}
		}
	}
}

// splitURL returns host[:port] and path of a URL, without its query.
func splitURL(url string) (host, rest string) {
	if _, after, ok := strings.Cut(url, "://"); ok {
		url = after
	}
	url, _, _ = strings.Cut(url, "?")
	url, _, _ = strings.Cut(url, "#")
	host, rest, _ = strings.Cut(url, "/")
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	return host, strings.TrimSuffix(rest, "/")
}

// configured reads the files that curl -K names: each line of one is an option more. The call that comes back
// has what these do; its own options stay those of the text, because such files are where passwords are kept.
func (w *build) configured(c *call) *call {
	if c.cmd.Name != "curl" && c.cmd.Name != "gcurl" {
		return c
	}
	var more []value.Word
	for _, o := range c.options {
		if o.name != "K" && o.full != "--config" {
			continue
		}
		more = append(more, configWords(c.source.text(o.value))...)
	}
	if more == nil {
		return c
	}
	cmd := *c.cmd
	cmd.Words = slices.Concat(cmd.Words, more)
	whole := newCall(w.table, &cmd, c.source)
	whole.options = c.options
	return whole
}

// configWords turns the lines of a configuration file of curl into the words that they stand for.
func configWords(text string) []value.Word {
	var words []value.Word
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		end := strings.IndexAny(line, " \t=:")
		name, value := line, ""
		if end >= 0 {
			name, value = line[:end], strings.TrimLeft(line[end:], " \t=:")
		}
		if name == "" {
			continue
		}
		if name[0] != '-' {
			name = "--" + name
		}
		words = append(words, exact(name))
		if value != "" {
			words = append(words, exact(configValue(value)))
		}
	}
	return words
}

// configValue is a value without its quotes, or up to the first blank.
func configValue(text string) string {
	if text[0] != '"' {
		if end := strings.IndexAny(text, " \t\r\v\f"); end > 0 {
			text = text[:end]
		}
		return text
	}
	var b strings.Builder
	for i := 1; i < len(text) && text[i] != '"'; i++ {
		if text[i] == '\\' && i+1 < len(text) {
			i++
			if at := strings.IndexByte("tnrv", text[i]); at >= 0 {
				b.WriteByte("\t\n\r\v"[at])
				continue
			}
		}
		b.WriteByte(text[i])
	}
	return b.String()
}
