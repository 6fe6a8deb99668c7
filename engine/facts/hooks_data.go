package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell"
)

// systemMounts are host directories that give a container the host.
var systemMounts = []string{"/", "/etc", "/usr", "/var", "/bin", "/sbin", "/lib", "/boot", "/dev", "/proc", "/sys", "/root", "/home", "/run", "/var/run", "/var/lib/docker", "/var/lib", "/Users", "/private", "/opt", "/host"}

// containerRun reads what of the host a container gets.
func containerRun(c *call) {
	for _, o := range c.options {
		if !o.given {
			continue
		}
		v := o.value.Text
		switch o.name {
		case "v", "volume":
			source, _, _ := strings.Cut(v, ":")
			c.mount(o.value, source, 0, strings.HasSuffix(v, ":ro"))
		case "mount":
			c.mountOption(o.value)
		case "pid", "ipc", "uts", "userns", "cgroupns", "net", "network":
			if v == "host" {
				c.flags.add(flagHostNamespace)
			}
		case "cap-add":
			switch strings.ToUpper(strings.TrimPrefix(strings.ToUpper(v), "CAP_")) {
			case "ALL", "SYS_ADMIN", "SYS_PTRACE", "SYS_MODULE", "SYS_RAWIO", "DAC_READ_SEARCH", "NET_ADMIN", "BPF":
				c.flags.add(flagPrivilegedContainer)
			}
		case "security-opt":
			if strings.Contains(v, "unconfined") || strings.Contains(v, "label=disable") || strings.Contains(v, "label:disable") {
				c.flags.add(flagPrivilegedContainer)
			}
		case "device":
			source, _, _ := strings.Cut(v, ":")
			if isDisk(exact(source)) || strings.HasPrefix(source, "/dev/mem") {
				c.flags.add(flagHostMount)
				c.path(exact(source), reads|writes)
			}
		}
	}
	c.image()
}

// mount notes a bind mount. A named volume has no slash in it.
func (c *call) mount(w shell.Word, source string, skip int, readOnly bool) {
	if !strings.ContainsAny(source, "/.~") && w.Certainty == shell.Exact {
		return
	}
	word := cut(w, skip)
	word.Text = source
	word.Prefix = word.Prefix[:min(len(source), len(word.Prefix))]
	if len(word.Prefix) == len(source) {
		word.Certainty = shell.Exact
	}
	a := access(reads | writes)
	if readOnly {
		a = reads
	}
	c.touch(word, role{access: a, recursive: true})
	p := source
	if len(p) > 1 {
		p = strings.TrimRight(p, "/")
	}
	if slices.Contains(systemMounts, p) || strings.HasSuffix(p, "docker.sock") || strings.HasSuffix(p, "containerd.sock") || p == "" {
		c.flags.add(flagHostMount)
	}
}

func (c *call) mountOption(w shell.Word) {
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

// image notes the registry that an image comes from when its name has one.
func (c *call) image() {
	name := c.operand(0)
	if host, rest, ok := strings.Cut(name, "/"); ok && rest != "" && strings.ContainsAny(host, ".:") {
		c.host(host)
	}
}

// containerCopy: NAME:PATH lies in a container of this machine, not elsewhere.
func containerCopy(c *call) {
	c.dropNamed()
	c.effects &^= doesNetwork
	for _, f := range []flag{flagRemote, flagUploads, flagDownloads} {
		c.flags.remove(f)
	}
}

// podCopy: POD:PATH lies in the cluster.
func podCopy(c *call) {
	c.dropNamed()
	c.direction()
}

// dropNamed forgets the words that name a place in something else, NAME:PATH, of whatever length.
func (c *call) dropNamed() {
	c.hosts = nil
	kept := c.touches[:0]
	for _, t := range c.touches {
		if !isNamed(t.word.Text) {
			kept = append(kept, t)
		}
	}
	c.touches = kept
}

func isNamed(text string) bool {
	colon := strings.IndexByte(text, ':')
	return colon > 0 && !strings.ContainsAny(text[:colon], "/.")
}

// direction says whether a copy goes out or comes in.
func (c *call) direction() {
	for i, w := range c.operands {
		if !isNamed(w.Text) {
			continue
		}
		c.remoteWork()
		if len(c.operands) < 2 {
			return
		}
		if i == len(c.operands)-1 {
			c.flags.add(flagUploads)
		} else {
			c.flags.add(flagDownloads)
		}
	}
}

// composeDown: -v of rm removes anonymous volumes only; of compose down, the named ones.
func composeDown(c *call) {
	if len(c.sub) > 0 && c.sub[0] != "compose" && !c.has("volumes") || len(c.sub) > 0 && c.sub[len(c.sub)-1] == "rm" {
		c.flags.remove(flagDestroysData)
	}
}

// destroyWords: virtual machines and stacks are destroyed by a word.
func destroyWords(c *call) {
	for _, w := range c.operands {
		switch w.Text {
		case "destroy", "undefine", "delete", "unregistervm", "purge", "--unregister", "rm", "vol-delete", "snapshot-delete":
			c.flags.add(flagDestroysData)
		}
	}
}

// kubectlSecret: showing a secret with its data; cp, exec and others are rows of their own.
func kubectlSecret(c *call) {
	kind, _, _ := strings.Cut(c.operand(0), "/")
	output := c.value("o", "output")
	if c.sub[0] == "get" && (kind == "secret" || kind == "secrets") && output != "" && output != "wide" && output != "name" ||
		c.sub[0] == "config" && c.has("raw") {
		c.flags.add(flagPrintsSecret)
	}
}

// kubectlDelete: a namespace, a volume, or all of a kind is data.
func kubectlDelete(c *call) {
	if c.flags.has(flagDryRun) {
		return
	}
	for _, w := range c.operands {
		for _, name := range strings.Split(w.Text, ",") {
			kind, _, _ := strings.Cut(name, "/")
			switch strings.TrimSuffix(kind, "s") {
			case "n", "namespace", "pv", "pvc", "persistentvolume", "persistentvolumeclaim", "crd", "customresourcedefinition", "node", "all", "statefulset", "st":
				c.flags.add(flagDestroysData)
			}
		}
	}
	if c.flags.has(flagAll) {
		c.flags.add(flagDestroysData)
	}
}

// kubectlRun: kubectl run starts a program there, unless it only makes the manifest.
func kubectlRun(c *call) {
	if c.sub[0] == "run" && !c.flags.has(flagDryRun) {
		c.flags.add(flagRemoteExec)
	}
	if c.sub[0] == "drain" {
		c.flags.add(flagForce)
	}
}

// terraformState: forgetting a resource, or destroying by way of apply.
func terraformState(c *call) {
	last := c.sub[len(c.sub)-1]
	if last == "rm" || last == "delete" || last == "push" || c.has("destroy") {
		c.flags.add(flagDestroysData)
	}
}

// aws: the verb is the second word: delete-bucket, terminate-instances, …
func aws(c *call) {
	words := append(slices.Clone(c.sub), texts(c.operands)...)
	if len(c.sub) == 1 && len(c.operands) > 0 {
		c.sub = append(c.sub, c.operands[0].Text)
		c.known = true
	}
	if c.flags.has(flagDryRun) {
		return
	}
	for _, w := range c.operands {
		if strings.HasPrefix(w.Text, "s3://") && len(c.sub) > 1 && c.sub[0] == "s3" {
			c.remoteWork()
		}
	}
	if len(words) < 2 {
		return
	}
	verb := words[1]
	switch {
	case words[0] == "s3" && verb == "rb", words[0] == "s3" && verb == "rm" && c.flags.has(flagRecursive), words[0] == "s3" && verb == "sync" && c.effects&doesDelete != 0:
		c.flags.add(flagDestroysData)
	case words[0] == "s3":
	case strings.HasPrefix(verb, "delete-") || strings.HasPrefix(verb, "terminate-") || strings.HasPrefix(verb, "deregister-") || strings.HasPrefix(verb, "purge-") || verb == "schedule-key-deletion" || strings.HasPrefix(verb, "remove-"):
		c.flags.add(flagDestroysData)
		c.effects |= doesDelete
	}
	if strings.Contains(verb, "get-secret") || verb == "get-parameter" && c.has("with-decryption") {
		c.flags.add(flagPrintsSecret)
	}
}

// destroyers are the words with which the command lines of clouds, hosts and backups destroy.
var destroyers = []string{"delete", "destroy", "rm", "remove", "terminate", "purge", "drop", "prune", "forget", "rb", "reset", "unlink-all", "wipe", "del", "nuke", "delete-volume", "undeploy", "apps:destroy", "revoke", "rdelete", "unregister", "pg:reset", "db:reset", "db:drop", "hosting:disable", "firestore:delete", "database:remove", "delete_vhost", "force_reset", "force-reset", "mb-delete", "clean", "dropAll", "drop-all", "undo:all", "db:migrate:undo:all", "deleteall", "secrets:delete"}

// destroysBy also knows compounds: delete_user, remove-secret, delete-job.
func destroysBy(word string) bool {
	if slices.Contains(destroyers, word) {
		return true
	}
	verb, _, ok := strings.Cut(strings.ReplaceAll(word, "_", "-"), "-")
	return ok && (verb == "delete" || verb == "remove" || verb == "destroy" || verb == "purge" || verb == "clear" || verb == "revoke")
}

// uploaders are the words with which they publish or send.
var uploaders = []string{"deploy", "publish", "push", "upload", "rsync", "put"}

// cloudWords looks at the plain words of a command line that has no rows for its subcommands.
func cloudWords(c *call) {
	words := texts(c.operands)
	switch c.cmd.Name {
	case "restic", "borg", "borgmatic", "kopia", "duplicacy", "rdiff-backup", "bup", "tarsnap", "rsnapshot", "etcdctl", "rabbitmqctl", "vault", "doppler", "op", "infisical", "chamber", "prisma", "sequelize", "knex", "typeorm", "dbmate", "liquibase", "flyway", "goose", "atlas":
	default:
		c.flags.add(flagRemote)
	}
	if len(words) > 0 {
		c.sub = words[:1]
		if len(words) > 1 && !strings.ContainsAny(words[1], "/.=:") {
			c.sub = words[:2]
		}
	}
	if c.flags.has(flagDryRun) || c.has("dry-run", "help") {
		return
	}
	if c.has("delete") {
		c.destroys()
	}
	for i, w := range words {
		if i > 4 {
			break
		}
		if destroysBy(w) && !(w == "rm" && (c.cmd.Name == "gcloud" && words[0] != "storage")) {
			c.flags.add(flagDestroysData)
			c.effects |= doesDelete
		}
		if i < 3 && slices.Contains(uploaders, w) && c.flags.has(flagRemote) {
			c.flags.add(flagPublishes)
		}
		switch w {
		case "print-access-token", "print-identity-token", "get-access-token", "print-secret", "access", "get-credentials", "show-secrets", "get-value":
			if w != "get-value" {
				c.flags.add(flagPrintsSecret)
			}
		}
	}
	switch c.cmd.Name {
	case "vault", "doppler", "op", "infisical", "chamber":
		if len(words) > 0 && slices.Contains([]string{"read", "get", "secrets", "kv", "export", "item", "print", "download", "env"}, words[0]) {
			c.flags.add(flagPrintsSecret)
		}
	}
	c.objectCopy(words)
}

// objectCopy: gsutil cp, gcloud storage cp, s3cmd put, mc cp: SCHEME:// is elsewhere.
func (c *call) objectCopy(words []string) {
	if !slices.ContainsFunc(words, func(w string) bool {
		return w == "cp" || w == "mv" || w == "rsync" || w == "sync" || w == "put" || w == "get"
	}) || len(words) < 3 {
		return
	}
	if strings.Contains(words[len(words)-1], "://") {
		c.flags.add(flagUploads)
	} else if strings.Contains(words[len(words)-2], "://") {
		c.flags.add(flagDownloads)
	}
}

// gh api with a method that changes.
func gh(c *call) {
	if len(c.sub) == 0 || c.sub[0] != "api" {
		return
	}
	if m := strings.ToUpper(c.value("X", "method")); m == "DELETE" {
		c.flags.add(flagDestroysData)
	}
	if c.value("input") != "" {
		c.flags.add(flagUploads)
	}
}

// ghAuth: auth status only shows the token when it is told to.
func ghAuth(c *call) {
	if c.sub[len(c.sub)-1] == "status" && !c.has("t", "show-token") {
		c.flags.remove(flagPrintsSecret)
	}
}

// sql: statements in arguments that drop or empty.
func sql(c *call) {
	for _, o := range c.options {
		if o.given && slices.Contains([]string{"c", "command", "e", "execute", "eval", "q", "query", "Q", "cmd"}, o.name) {
			c.statement(o.value.Text)
		}
	}
	for _, w := range c.operands {
		c.statement(w.Text)
	}
	for _, r := range c.cmd.Redirects {
		if r.Mode == shell.RedirectHere {
			c.statement(r.Body.Text)
		}
	}
}

// statement looks for what destroys in SQL, or in the mongo shell's language, word by word,
// without comments and string literals.
func (c *call) statement(text string) {
	words := strings.FieldsFunc(strings.ToUpper(stripSQL(text)), func(r rune) bool {
		return !(r == '_' || r == '.' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9')
	})
	for i, w := range words {
		next := ""
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch w {
		case "DROP":
			switch next {
			case "DATABASE", "SCHEMA", "TABLE", "KEYSPACE", "TABLESPACE", "USER", "ROLE", "COLLECTION", "BUCKET", "OWNED", "MATERIALIZED":
				c.destroys()
			}
		case "TRUNCATE":
			c.destroys()
		case "DELETE":
			if next == "FROM" && !slices.Contains(words[i:], "WHERE") {
				c.destroys()
			}
		case "UPDATE":
			if i == 0 && slices.Contains(words, "SET") && !slices.Contains(words[i:], "WHERE") {
				c.destroys()
			}
		case "DROPDATABASE", "DB.DROPDATABASE":
			c.destroys()
		}
		if strings.HasPrefix(w, "DB.") && (strings.HasSuffix(w, ".DROP") || strings.HasSuffix(w, ".DELETEMANY") || strings.HasSuffix(w, ".REMOVE")) {
			c.destroys()
		}
		if w == "DETACH" && i == 0 && slices.Contains(words, "DELETE") {
			c.destroys()
		}
	}
	if trimmed := strings.TrimSpace(text); strings.HasPrefix(trimmed, `\!`) || strings.HasPrefix(trimmed, ".shell") || strings.HasPrefix(trimmed, ".system") || strings.HasPrefix(trimmed, "!") || strings.Contains(strings.ToUpper(trimmed), "TO PROGRAM") || strings.Contains(strings.ToUpper(trimmed), "FROM PROGRAM") {
		c.flags.add(flagEscape)
		c.effects |= doesExecute
	}
}

func (c *call) destroys() {
	c.flags.add(flagDestroysData)
	c.effects |= doesDelete
}

// stripSQL takes comments and the content of string literals out of a statement.
func stripSQL(s string) string {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			end := strings.IndexByte(s[i+1:], '\'')
			if end < 0 {
				return b.String()
			}
			i += end + 1
			b.WriteByte(' ')
		case strings.HasPrefix(s[i:], "--"):
			end := strings.IndexByte(s[i:], '\n')
			if end < 0 {
				return b.String()
			}
			i += end
			b.WriteByte('\n')
		case strings.HasPrefix(s[i:], "/*"):
			end := strings.Index(s[i:], "*/")
			if end < 0 {
				return b.String()
			}
			i += end + 1
			b.WriteByte(' ')
		default:
			b.WriteByte(s[i])
		}
	}
	return b.String()
}

// mysqladmin drop NAME, shutdown.
func mysqladmin(c *call) {
	for _, w := range c.operands {
		switch w.Text {
		case "drop":
			c.destroys()
		case "shutdown":
			c.flags.add(flagServiceControl)
		}
	}
}

// redis: the command is the first operand.
func redis(c *call) {
	switch strings.ToUpper(c.operand(0)) {
	case "FLUSHALL", "FLUSHDB", "SHUTDOWN", "DEBUG":
		c.destroys()
	case "CONFIG":
		if strings.EqualFold(c.operand(1), "set") {
			c.effects |= doesSystem
		}
	}
	for _, r := range c.cmd.Redirects {
		if r.Mode == shell.RedirectHere && strings.Contains(strings.ToUpper(r.Body.Text), "FLUSH") {
			c.destroys()
		}
	}
}

// gpg decodes when it decrypts; reading keys is no decoding.
func gpg(c *call) {
	if c.flags.has(flagPrintsSecret) {
		c.touch(exact(".gnupg"), role{})
	}
}

// openssl: the first word is the command; -in and -out are files.
func openssl(c *call) {
	words := c.operands
	if len(words) > 0 && !isOption(words[0]) {
		c.sub = []string{words[0].Text}
	}
	sub := c.operand(0)
	for i, w := range words {
		name := strings.TrimLeft(w.Text, "-")
		if name == w.Text {
			continue
		}
		next := shell.Word{}
		if i+1 < len(words) {
			next = words[i+1]
		}
		switch name {
		case "in", "inkey", "key", "cert", "CAfile", "CA", "CAkey", "config", "certfile", "signature", "verify", "prverify", "cert_chain", "extfile", "CApath":
			if !isOption(next) && (name != "verify" || sub == "dgst") {
				c.path(next, reads)
			}
		case "out", "keyout", "sess_out", "writerand":
			c.path(next, writes)
			c.effects |= doesWrite
		case "d", "decrypt":
			if sub == "enc" || sub == "base64" || sub == "smime" || sub == "cms" || sub == "rsautl" || sub == "pkeyutl" || strings.HasPrefix(sub, "aes") || strings.HasPrefix(sub, "des") {
				c.flags.add(flagDecodes)
			}
		case "connect", "host":
			c.host(next.Text)
			c.effects |= doesNetwork
		case "engine", "provider-path":
			if strings.Contains(next.Text, "/") {
				c.flags.add(flagEscape)
				c.path(next, executes)
			}
		}
	}
	switch sub {
	case "s_client":
		c.effects |= doesNetwork
		c.flags.add(flagSocket)
	case "s_server":
		c.effects |= doesNetwork
		c.flags.add(flagListens)
		c.flags.add(flagSocket)
	case "dgst", "sha256", "sha1", "md5", "sha512":
		for i, w := range words {
			if i > 0 && !isOption(w) && !isOption(words[i-1]) || i == len(words)-1 && i > 0 && !isOption(w) {
				c.path(w, reads)
			}
		}
	}
}
