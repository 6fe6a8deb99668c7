package call

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/commands"
	"github.com/sallyport-dev/sallyport/engine/facts/term"
	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

// kubectlDelete: a namespace, a volume, or all of a kind is data.
func kubectlDelete(c *Call) {
	if c.Flags.Has(term.FlagDryRun) {
		return
	}
	for _, w := range c.Operands {
		for _, name := range strings.Split(w.Text, ",") {
			kind, _, _ := strings.Cut(name, "/")
			switch strings.TrimSuffix(kind, "s") {
			case "n", "namespace", "pv", "pvc", "persistentvolume", "persistentvolumeclaim", "crd", "customresourcedefinition", "node", "all", "statefulset", "st", "project", "all.apps":
				c.Flags.Add(term.FlagDestroysData)
			}
		}
	}
	if c.Flags.Has(term.FlagAll) {
		c.Flags.Add(term.FlagDestroysData)
	}
	if !c.Flags.Has(term.FlagDestroysData) && !slices.ContainsFunc(c.Operands, isTransient) {
		c.Flags.Add(term.FlagUnreviewed)
	}
}

// isTransient reports an object that its controller makes anew, or that has done its work.
func isTransient(w value.Word) bool {
	kind, _, _ := strings.Cut(w.Text, "/")
	return listedWord("pod pods po job jobs event events ev lease leases", kind)
}

// aws: the verb is the second word: delete-bucket, terminate-instances, …
func aws(c *Call) {
	words := append(slices.Clone(c.Sub), Texts(c.Operands)...)
	if len(c.Sub) == 1 && len(c.Operands) > 0 {
		c.Sub = append(c.Sub, c.Operands[0].Text)
		c.Known = true
	}
	if c.Flags.Has(term.FlagDryRun) {
		return
	}
	for _, w := range c.Operands {
		if strings.HasPrefix(w.Text, "s3://") && len(c.Sub) > 1 && c.Sub[0] == "s3" {
			c.remoteWork()
		}
	}
	if len(words) < 2 {
		return
	}
	switch service, verb := words[0], words[1]; {
	case service == "s3" && verb == "rm" && c.Flags.Has(term.FlagRecursive),
		service == "s3" && verb == "sync" && c.Effects&term.Delete != 0:
		c.Flags.Add(term.FlagDestroysData)
	case service == "s3" && verb == "rm":
		c.Flags.Add(term.FlagUnreviewed)
	case strings.HasPrefix(verb, "get-parameter") && c.Has("with-decryption"):
		c.Flags.Add(term.FlagPrintsSecret)
	}
	if acl := c.Value("acl"); strings.HasPrefix(acl, "public-") || acl == "authenticated-read" {
		c.Flags.Add(term.FlagGrants)
	}
}

// cloudChange reads options that ask nobody, or make something public.
func (c *Call) cloudChange() {
	given := Texts(c.Cmd.Words)
	option := func(list string) bool {
		return slices.ContainsFunc(given, func(w string) bool { return listedWord(list, w) })
	}
	switch {
	case option("--allow-unauthenticated --acl-public --public-access=blob --public-access=container"),
		strings.Contains(strings.Join(given, "="), "allow-blob-public-access=true"):
		c.Flags.Add(term.FlagGrants)
	case option("--approve --auto-approve --accept-data-loss") && !option("--dry-run"):
		c.Flags.Add(term.FlagUnreviewed)
	}
}

// destroysBy reports a word with which clients of clouds, hosts and backups destroy: delete, delete_user,
// remove-secret.
func destroysBy(word string) bool {
	fits := func(p commands.Phrase) bool { return p.Fits([]string{word}) }
	return slices.ContainsFunc(commands.Phrases()["destroy"], fits)
}

// cloudWords names the subcommand of a client that has no rows for it, and reads options that clients share.
func cloudWords(c *Call) {
	words := slices.Concat(c.Sub, Texts(c.Operands))
	c.Known = true
	if len(words) > 0 {
		c.Sub = words[:1]
		if len(words) > 1 && !strings.ContainsAny(words[1], "/.=:") {
			c.Sub = words[:2]
		}
	}
	if c.Flags.Has(term.FlagDryRun) || c.Has("dry-run", "help") {
		return
	}
	for _, o := range c.Options {
		if o.Name == "delete" || o.Name == "force-reset" || o.Name == "accept-data-loss" || o.Name == "all" && slices.Contains(words, "migrate:rollback") ||
			o.Name == "force" && c.Cmd.Name == "drizzle-kit" || strings.HasPrefix(o.Name, "delete-") {
			c.destroys()
		}
	}
	switch c.Cmd.Name {
	case "vault", "doppler", "op", "infisical", "chamber":
		if len(words) > 0 && slices.Contains([]string{"read", "get", "secrets", "kv", "export", "item", "print", "download", "env"}, words[0]) && !namesOnly(c.Cmd.Name, words) {
			c.Flags.Add(term.FlagPrintsSecret)
		}
	}
	c.cloudChange()
	c.objectCopy(words)
}

// namesOnly: a list of secrets has their names, except that doppler's has their values, too.
func namesOnly(client string, words []string) bool {
	last := words[min(1, len(words)-1)]
	return last == "list" && client != "doppler" || last == "metadata" || last == "--only-names" || slices.Contains(words, "--only-names")
}

// javaClient: java -jar CLIENT.jar … delete-job NAME. A bare verb may be any program's; a compound is a
// client's of a server.
func javaClient(c *Call) {
	for i, w := range c.Cmd.Words {
		if i > 2 && strings.ContainsAny(w.Text, "-_") && !IsOption(w) && !strings.ContainsAny(w.Text, "/.=:") && destroysBy(w.Text) {
			c.destroys()
			c.Flags.Add(term.FlagRemote)
		}
	}
}

// objectCopy: gsutil cp, gcloud storage cp, s3cmd put, mc cp: SCHEME:// is elsewhere.
func (c *Call) objectCopy(words []string) {
	if !slices.ContainsFunc(words, func(w string) bool {
		return w == "cp" || w == "mv" || w == "rsync" || w == "sync" || w == "put" || w == "get"
	}) || len(words) < 3 {
		return
	}
	if strings.Contains(words[len(words)-1], "://") {
		c.Flags.Add(term.FlagUploads)
	} else if strings.Contains(words[len(words)-2], "://") {
		c.Flags.Add(term.FlagDownloads)
	}
}

// gh api with a method that changes.
func gh(c *Call) {
	if len(c.Sub) == 0 || c.Sub[0] != "api" {
		return
	}
	words := strings.Join(Texts(c.Cmd.Words), " ")
	m := strings.ToUpper(c.Value("X", "method"))
	if m == "DELETE" || strings.Contains(words, "mutation") && strings.Contains(words, "delete") {
		c.Flags.Add(term.FlagDestroysData)
	}
	if listedWord("PUT POST PATCH", m) || m == "" && c.Has("f", "F", "raw-field", "field", "input") {
		for _, place := range commands.Words("github-grants") {
			if strings.Contains(words, place) {
				c.Flags.Add(term.FlagGrants)
			}
		}
	}
	if c.Value("input") != "" {
		c.Flags.Add(term.FlagUploads)
	}
}

// containerRun reads the parts of the host that a container gets.
func containerRun(c *Call) {
	for _, o := range c.Options {
		if !o.Given {
			continue
		}
		v := o.Value.Text
		switch o.Name {
		case "v", "volume":
			source, _, _ := strings.Cut(v, ":")
			c.mount(o.Value, source, 0, strings.HasSuffix(v, ":ro"))
		case "mount":
			c.mountOption(o.Value)
		case "secret", "ssh":
			c.secretFile(o.Value)
		case "pid", "ipc", "uts", "userns", "cgroupns", "net", "network":
			if v == "host" {
				c.Flags.Add(term.FlagHostNamespace)
			}
		case "cap-add":
			switch strings.ToUpper(strings.TrimPrefix(strings.ToUpper(v), "CAP_")) {
			case "ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "SYS_RAWIO", "DAC_READ_SEARCH", "NET_ADMIN", "BPF":
				c.Flags.Add(term.FlagPrivilegedContainer)
			}
		case "security-opt":
			if strings.Contains(v, "unconfined") || strings.Contains(v, "label=disable") || strings.Contains(v, "label:disable") {
				c.Flags.Add(term.FlagPrivilegedContainer)
			}
		case "device":
			source, _, _ := strings.Cut(v, ":")
			if isDisk(Exact(source)) || strings.HasPrefix(source, "/dev/mem") {
				c.Flags.Add(term.FlagHostMount)
				c.path(Exact(source), term.Reads|term.Writes)
			}
		}
	}
	if c.RoleOf(0, false).Word == "image" {
		c.image()
	}
}

// mount notes a bind mount. A named volume has no slash in it.
func (c *Call) mount(w value.Word, source string, skip int, readOnly bool) {
	if !strings.ContainsAny(source, "/.~") && w.Certainty == value.Exact {
		return
	}
	a := term.Reads | term.Writes
	if readOnly {
		a = term.Reads
	}
	c.touch(field(w, skip, source), Role{Word: "mount", Access: a, recursive: true})
	p := source
	if len(p) > 1 {
		p = strings.TrimRight(p, "/")
	}
	if commands.Listed("system-mounts", p) || strings.HasSuffix(p, "docker.sock") || strings.HasSuffix(p, "containerd.sock") || p == "" {
		c.Flags.Add(term.FlagHostMount)
	}
}

func (c *Call) mountOption(w value.Word) {
	bind, readOnly, source, at := false, false, "", 0
	pos := 0
	for _, field := range strings.Split(w.Text, ",") {
		key, value, _ := strings.Cut(field, "=")
		switch key {
		case "type":
			bind = value == "bind"
		case "source", "src":
			source, at = value, pos+len(key)+1
		case "readonly", "ro":
			readOnly = value == "" || value == "true"
		}
		pos += len(field) + 1
	}
	if bind && source != "" {
		c.mount(w, source, at, readOnly)
	}
}

// secretFile reads id=NAME,src=FILE and default=FILE.
func (c *Call) secretFile(w value.Word) {
	at := 0
	for part := range strings.SplitSeq(w.Text, ",") {
		key, file, _ := strings.Cut(part, "=")
		if file != "" && listedWord("src source default", key) {
			c.path(field(w, at+len(key)+1, file), term.Reads)
		}
		at += len(part) + 1
	}
}

// image notes the registry that an image comes from when its name has one.
func (c *Call) image() {
	name := c.operand(0)
	name = strings.TrimPrefix(name, "docker://")
	if host, rest, ok := strings.Cut(name, "/"); ok && rest != "" && strings.ContainsAny(host, ".:") {
		c.host(host)
	}
}

// containerCopy: NAME:PATH lies in a container of this machine, not elsewhere.
func containerCopy(c *Call) {
	c.dropNamed()
	c.Effects &^= term.Network
	for _, f := range []term.Flag{term.FlagRemote, term.FlagUploads, term.FlagDownloads} {
		c.Flags.Remove(f)
	}
	c.each(term.Reads, func(t *Touch) { t.Recursive = true })
}

// podCopy: POD:PATH lies in the cluster.
func podCopy(c *Call) {
	c.dropNamed()
	c.direction()
}

// dropNamed forgets the words that name a place in something else, NAME:PATH, of any length.
func (c *Call) dropNamed() {
	c.Hosts = nil
	kept := c.Touches[:0]
	for _, t := range c.Touches {
		if !isNamed(t.Word.Text) {
			kept = append(kept, t)
		}
	}
	c.Touches = kept
}

func isNamed(text string) bool {
	colon := strings.IndexByte(text, ':')
	return colon > 0 && !strings.ContainsAny(text[:colon], "/.")
}

// direction says whether a copy goes out or comes in.
func (c *Call) direction() {
	for i, w := range c.Operands {
		if !isNamed(w.Text) {
			continue
		}
		c.remoteWork()
		if len(c.Operands) < 2 {
			return
		}
		if i == len(c.Operands)-1 {
			c.Flags.Add(term.FlagUploads)
		} else {
			c.Flags.Add(term.FlagDownloads)
		}
	}
}

// composeDown: -v of rm removes anonymous volumes only; of compose down, the named ones.
func composeDown(c *Call) {
	if len(c.Sub) > 0 && c.Sub[0] != "compose" && !c.Has("volumes") || len(c.Sub) > 0 && c.Sub[len(c.Sub)-1] == "rm" {
		c.Flags.Remove(term.FlagDestroysData)
	}
	if c.allContainers() {
		c.Flags.Add(term.FlagDestroysData)
	}
}

// allContainers reports a removal of all containers, pods or nodes of a swarm there are, by an option or by a
// list of them: rm -f $(docker ps -aq).
func (c *Call) allContainers() bool {
	kind := c.Sub[0]
	if kind == "compose" || listedWord("rmi image network builder buildx context machine manifest plugin secret config service stack node", kind) {
		return false
	}
	if c.Flags.Has(term.FlagAll) {
		return true
	}
	for _, w := range c.Operands {
		for _, i := range w.Inputs {
			if i < len(c.source.Cmds) && slices.Contains(Texts(c.source.Cmds[i].Words), "ps") {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.Cmd.Inputs, func(i int) bool {
		return i < len(c.source.Cmds) && c.source.Cmds[i].Name == c.Cmd.Name && slices.Contains(Texts(c.source.Cmds[i].Words), "ps")
	})
}
