package call

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/disk"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// Fed reports whether something flows into the command: a pipe, a file, a here-document.
func (c *Call) Fed() bool {
	if c.Cmd.Pipeline.Index > 0 {
		return true
	}
	for _, r := range c.Cmd.Redirects {
		if r.Mode == shell.RedirectRead || r.Mode == shell.RedirectHere || r.Mode == shell.RedirectReadWrite {
			return true
		}
	}
	return false
}

// send notes that the content of a file, or the input ("-"), leaves the machine.
func (c *Call) send(w value.Word) {
	c.Flags.Add(term.FlagUploads)
	c.path(w, term.Reads)
}

func wget(c *Call) {
	c.request(c.Value("method"), Texts(c.Operands))
	for _, w := range c.Operands {
		c.curlSubstituted(w)
	}
	for _, o := range c.Options {
		if o.Full == "-e" || o.Full == "--execute" {
			c.wgetrc(o.Value)
		}
	}
	if c.Value("O", "output-document") == "-" || c.Has("spider") {
		return
	}
	if c.Value("O", "output-document") != "" {
		return
	}
	if dir := c.Value("P", "directory-prefix"); dir != "" {
		c.Dir = disk.Enter(c.Dir, Exact(dir))
	}
	c.writeNamedAfterURL()
}

// wgetOptions are the commands of .wgetrc, which -e takes, that are called otherwise than the option:
// "output_document" is --output-document.
var wgetOptions = map[string]string{"dirprefix": "directoryprefix", "logfile": "outputfile", "input": "inputfile", "cookiesfile": "loadcookies"}

// wgetrc treats a command of .wgetrc as an option. Case, dashes and underscores of its name do
// not matter.
func (c *Call) wgetrc(w value.Word) {
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
	for long, o := range c.Spec.long {
		if plain.Replace(long) == name && o.Value != nil {
			c.use(OptionUse{Name: long, Full: "--" + long, Known: o, Value: Cut(w, at), Given: true})
			return
		}
	}
}

// httpie: METHOD URL ITEM…; name@file sends a file, and the input is sent too.
func httpie(c *Call) {
	c.Touches = nil
	if len(c.Operands) > 1 {
		c.request(c.operand(0), Texts(c.Operands[1:2]))
	}
	for _, w := range c.Operands {
		if name, _, ok := strings.Cut(w.Text, "@"); ok && !strings.Contains(name, "/") && !strings.Contains(name, "=") && !strings.Contains(name, ":") && (name != "" || LooksLikePath(cmp.Or(strings.TrimPrefix(w.Text, "@"), "-"))) && !strings.Contains(w.Text, "://") {
			c.send(Cut(w, len(name)+1))
			continue
		}
		if strings.Contains(w.Text, "://") || strings.Contains(w.Text, ".") && !strings.ContainsAny(w.Text, "=") {
			c.host(w.Text)
		}
	}
	if c.Fed() && !c.Has("ignore-stdin", "I") {
		c.Flags.Add(term.FlagUploads)
	}
	if o := c.Value("o", "output"); o != "" {
		c.path(Exact(o), term.Writes)
	}
}

// netcat: its input leaves; -z only knocks.
func netcat(c *Call) {
	at := value.Word{}
	if len(c.Operands) > 0 {
		at = c.Operands[0]
	}
	local := strings.HasPrefix(at.Text, "local:") // of busybox
	if local {
		at = Cut(at, len("local:"))
	}
	if local || c.Has("U", "unixsock") {
		c.Hosts = nil
		c.Effects &^= term.Network
		if c.Has("l", "listen") {
			c.Flags.Add(term.FlagListens)
			c.path(at, term.Writes)
		} else {
			c.path(at, term.Reads)
		}
		return
	}
	if c.Has("l", "listen") {
		c.Flags.Add(term.FlagListens)
		c.Flags.Add(term.FlagSocket)
		c.Hosts = nil
		if c.Fed() {
			c.Flags.Add(term.FlagUploads)
		}
		return
	}
	if c.Has("z") {
		return
	}
	c.Flags.Add(term.FlagSocket)
	if c.Fed() {
		c.Flags.Add(term.FlagUploads)
	}
}

// socat: two addresses, KIND:ARGS,OPTIONS.
func socat(c *Call) {
	network, runs := false, false
	for _, w := range c.Operands {
		if IsOption(w) {
			continue
		}
		kind, rest, _ := strings.Cut(w.Text, ":")
		kind = strings.ToUpper(kind)
		args, _, _ := strings.Cut(rest, ",")
		switch {
		case strings.Contains(kind, "LISTEN") || strings.Contains(kind, "RECV"):
			network = true
			c.Flags.Add(term.FlagListens)
		case strings.HasPrefix(kind, "TCP") || strings.HasPrefix(kind, "UDP") || strings.HasPrefix(kind, "OPENSSL") || strings.HasPrefix(kind, "SCTP") || strings.HasPrefix(kind, "SSL") || strings.HasPrefix(kind, "PROXY") || strings.HasPrefix(kind, "SOCKS"):
			network = true
			c.host(args)
		case kind == "EXEC" || kind == "SYSTEM" || kind == "SHELL":
			runs = true
		case kind == "OPEN" || kind == "FILE" || kind == "GOPEN" || kind == "PIPE":
			c.path(Exact(args), term.Reads|term.Writes)
		case kind == "CREATE" || kind == "CREAT":
			c.path(Exact(args), term.Writes)
		case strings.HasPrefix(kind, "UNIX"):
			c.path(Exact(args), term.Reads|term.Writes)
		case strings.Contains(w.Text, "/") && rest == "":
			c.path(w, term.Reads|term.Writes)
		}
	}
	if network {
		c.Flags.Add(term.FlagSocket)
		if c.Fed() {
			c.Flags.Add(term.FlagUploads)
		}
	} else {
		c.Effects &^= term.Network
	}
	if runs {
		c.Effects |= term.Execute
		c.Flags.Add(term.FlagEscape)
		if network {
			c.Flags.Add(term.FlagSocketShell)
		}
	}
}

// firewall: listing is not changing; flushing and opening all disables it.
func firewall(c *Call) {
	off := false
	looks := true
	for i, w := range c.Operands {
		switch w.Text {
		case "-L", "--list", "-S", "--list-rules", "-n", "-v", "-nvL", "-nL", "-vnL", "list", "status", "show", "--list-all", "--state", "-t", "verbose", "numbered", "--line-numbers", "ruleset", "--help", "--version":
			continue
		case "-F", "--flush", "-X", "--delete-chain", "disable", "reset", "flush", "off", "--panic-on", "-d", "stop", "unban":
			off = true
		case "-P", "--policy":
			off = off || i+2 < len(c.Operands) && c.Operands[i+2].Text == "ACCEPT"
		case "filter", "nat", "mangle", "raw":
			continue
		}
		looks = false
	}
	if looks {
		c.Flags.Remove(term.FlagFirewall)
		c.Effects &^= term.System
		c.Effects |= term.Read
	}
	if off {
		c.Flags.Add(term.FlagDisablesSecurity)
	}
}

// ssh: a command behind the host runs there; options can start a program here.
func ssh(c *Call) {
	if len(c.Operands) > 1 {
		c.Flags.Add(term.FlagRemoteExec)
		c.Effects |= term.Execute
		if c.Fed() {
			c.Flags.Add(term.FlagUploads)
		}
	}
	sshOptions(c)
}

// getent asks the network for the databases of hosts.
func getent(c *Call) {
	if !slices.Contains([]string{"hosts", "ahosts", "ahostsv4", "ahostsv6"}, c.operand(0)) {
		return
	}
	c.Effects |= term.Network
	for _, w := range c.Operands[1:] {
		c.host(w.Text)
		c.TargetWord(TargetHost, w)
	}
}

// rclone: a word with a colon is a remote. sync deletes at its destination.
func rclone(c *Call) {
	sub := strings.Join(c.Sub, " ")
	c.dropNamed()
	c.direction()
	if len(c.Operands) < 2 {
		return
	}
	dest := c.Operands[len(c.Operands)-1]
	remote := isNamed(dest.Text)
	if sub == "sync" || sub == "bisync" {
		c.Effects |= term.Delete
		c.Flags.Add(term.FlagDestroysData)
		if !remote {
			c.Touches = append(c.Touches, Touch{Word: dest, Access: term.Deletes, Source: "argument", Dir: c.Dir, Role: Role{Access: term.Deletes}, Recursive: true})
		}
	}
	if strings.HasPrefix(sub, "move") {
		c.Effects |= term.Delete
		c.each(term.Reads, func(t *Touch) { t.Access |= term.Deletes; t.Moved = true })
	}
}

// sftpBatch: the commands that come in put files there.
func sftpBatch(c *Call) {
	sshOptions(c)
	for line := range strings.Lines(c.source.text(Exact("-"))) {
		words := strings.Fields(line)
		for i := 1; i < len(words) && (words[0] == "put" || words[0] == "mput" || words[0] == "reput" || words[0] == "send"); i++ {
			if words[i][0] != '-' {
				c.path(Exact(words[i]), term.Reads)
				c.Flags.Add(term.FlagUploads)
				break
			}
		}
	}
}

// curl: data options whose value starts with @ (or name@ for --data-urlencode) send a file, -F
// name=@file and name=<file too, -T sends one, @- sends what flows in. -O writes a file named
// after the URL.
func curl(c *Call) {
	for _, o := range c.Options {
		if !o.Given {
			continue
		}
		switch name := strings.TrimLeft(o.Full, "-"); strings.TrimPrefix(name, "expand-") {
		case "d", "data", "data-ascii", "data-binary", "json":
			c.curlData(o.Value, 0)
		case "data-urlencode", "url-query", "variable":
			if i := strings.IndexByte(o.Value.Text, '@'); i >= 0 && !strings.Contains(o.Value.Text[:i], "=") {
				c.curlData(o.Value, i)
			} else {
				c.curlSubstituted(o.Value)
			}
		case "F", "form":
			if i := strings.IndexByte(o.Value.Text, '='); i >= 0 && i+1 < len(o.Value.Text) && strings.IndexByte("@<", o.Value.Text[i+1]) >= 0 {
				file := Cut(o.Value, i+2)
				if j := strings.IndexByte(file.Text, ';'); j >= 0 {
					file.Text = file.Text[:j]
					file.Prefix = file.Prefix[:min(j, len(file.Prefix))]
				}
				c.send(file)
			}
		case "T", "upload-file":
			c.send(o.Value)
		case "H", "header", "proxy-header":
			c.curlData(o.Value, 0)
		case "b", "cookie":
			if o.Value.Certainty == value.Exact && !strings.Contains(o.Value.Text, "=") {
				c.path(o.Value, term.Reads)
			}
			c.curlSubstituted(o.Value)
		case "data-raw", "u", "user":
			c.curlSubstituted(o.Value)
		case "w", "write-out":
			c.curlWrites(o.Value)
		case "url":
			if strings.HasPrefix(o.Value.Text, "@") {
				c.path(Cut(o.Value, 1), term.Reads)
			}
		}
	}
	for _, w := range c.Operands {
		c.curlSubstituted(w)
	}
	if c.Has("G", "get") && c.Has("d", "data") {
		c.curlSubstituted(value.Word{})
	}
	into := c.Dir
	if o, ok := c.Option1("output-dir"); ok {
		into = disk.Enter(c.Dir, o.Value)
		c.each(term.Writes, func(t *Touch) {
			if c.isOutput(t.Word) {
				t.Dir = into
			}
		})
	}
	if c.Has("O", "remote-name", "remote-name-all", "J", "remote-header-name") {
		c.Dir, into = into, c.Dir
		c.writeNamedAfterURL()
		c.Dir = into
	}
	c.request(c.Value("X", "request"), append(Texts(c.Operands), c.Value("url")))
	if len(c.Operands) == 0 && c.Value("url") == "" && (c.Has("version", "V", "h", "help", "M", "manual")) {
		c.Effects &^= term.Network
		c.Flags.Remove(term.FlagDownloads)
	}
}

// isOutput reports whether a word is what -o names: --output-dir is for these alone.
func (c *Call) isOutput(w value.Word) bool {
	for _, o := range c.Options {
		if (o.Name == "o" || o.Full == "--output") && o.Value.Text == w.Text {
			return true
		}
	}
	return false
}

// curlWrites: a format of -w stands in a file behind @, and %output{FILE} writes one.
func (c *Call) curlWrites(w value.Word) {
	if strings.HasPrefix(w.Text, "@") {
		c.path(Cut(w, 1), term.Reads)
	}
	for rest := w.Text; ; {
		_, behind, found := strings.Cut(rest, "%output{")
		if !found {
			return
		}
		file, next, _ := strings.Cut(behind, "}")
		c.path(Exact(strings.TrimPrefix(file, ">>")), term.Writes)
		rest = next
	}
}

// curlSubstituted: a value that holds the output of a command sends that.
func (c *Call) curlSubstituted(w value.Word) {
	if len(w.Inputs) > 0 {
		c.Flags.Add(term.FlagUploads)
	}
}

func (c *Call) curlData(w value.Word, at int) {
	if len(w.Text) > at && w.Text[at] == '@' {
		c.send(Cut(w, at+1))
		return
	}
	c.curlSubstituted(w)
}

// writeNamedAfterURL: the file is the last name of the URL, in the directory of the command.
func (c *Call) writeNamedAfterURL() {
	for _, w := range c.Operands {
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
			c.path(Exact(name), term.Writes)
		}
	}
}

// request adds what an HTTP request asks of a server by its method and its URL.
func (c *Call) request(method string, urls []string) {
	for _, url := range urls {
		host, rest := splitURL(url)
		last := strings.ToLower(path.Base(rest))
		switch strings.ToUpper(method) {
		case "DELETE":
			c.Flags.Add(term.FlagHTTPDelete)
			_, port, _ := strings.Cut(host, ":")
			names := strings.Split(rest, "/")
			one := slices.ContainsFunc(names, func(name string) bool { return commands.Listed("stored-items", name) })
			if commands.Listed("store-ports", port) && !one {
				c.destroys()
			}
		case "POST":
			if destroysBy(last) || destroysBy(strings.TrimPrefix(last, "do")) || strings.HasPrefix(last, "_delete") {
				c.Flags.Add(term.FlagHTTPDelete)
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

// Configured reads the files that curl -K names: each line of one is an option more. The call that comes back
// has what these do; its own options stay those of the text, because such files are where passwords are kept.
func (c *Call) Configured() *Call {
	if c.Cmd.Name != "curl" && c.Cmd.Name != "gcurl" {
		return c
	}
	var more []value.Word
	for _, o := range c.Options {
		if o.Name != "K" && o.Full != "--config" {
			continue
		}
		more = append(more, configWords(c.source.text(o.Value))...)
	}
	if more == nil {
		return c
	}
	cmd := *c.Cmd
	cmd.Words = slices.Concat(cmd.Words, more)
	whole := New(c.Table, &cmd, c.source)
	whole.Options = c.Options
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
		words = append(words, Exact(name))
		if value != "" {
			words = append(words, Exact(configValue(value)))
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
