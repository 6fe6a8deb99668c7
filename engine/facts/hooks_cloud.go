package facts

import (
	"slices"
	"strings"

	"github.com/sallyport-dev/sallyport/engine/shell/value"
)

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
			case "n", "namespace", "pv", "pvc", "persistentvolume", "persistentvolumeclaim", "crd", "customresourcedefinition", "node", "all", "statefulset", "st", "project", "all.apps":
				c.flags.add(flagDestroysData)
			}
		}
	}
	if c.flags.has(flagAll) {
		c.flags.add(flagDestroysData)
	}
	if !c.flags.has(flagDestroysData) && !slices.ContainsFunc(c.operands, isTransient) {
		c.flags.add(flagUnreviewed)
	}
}

// isTransient reports an object that its controller makes anew, or that has done its work.
func isTransient(w value.Word) bool {
	kind, _, _ := strings.Cut(w.Text, "/")
	return listedWord("pod pods po job jobs event events ev lease leases", kind)
}

// kubectlRun: kubectl run starts a program there, unless it only makes the manifest.
func kubectlRun(c *call) {
	if c.sub[0] == "run" && !c.flags.has(flagDryRun) {
		c.flags.add(flagRemoteExec)
	}
	words := strings.Join(append(slices.Clone(c.sub), texts(c.operands)...), " ")
	switch {
	case c.flags.has(flagDryRun):
	case c.sub[0] == "drain", c.sub[0] == "taint" && strings.Contains(words, ":NoExecute"), c.sub[0] == "replace" && c.flags.has(flagForce),
		c.sub[0] == "scale" && c.value("replicas") == "0", c.sub[0] == "apply" && (c.has("prune") || strings.Contains(c.value("f", "filename"), "://")),
		strings.HasPrefix(words, "certificate approve"), strings.HasPrefix(words, "set subject"):
		c.flags.add(flagUnreviewed)
	}
	if strings.Contains(words, "rolebinding") && (c.sub[0] == "create" || c.sub[0] == "patch" || c.sub[0] == "edit") ||
		strings.Contains(words, "policy add-") || strings.HasPrefix(words, "set subject") || strings.HasPrefix(words, "create token") {
		c.flags.add(flagGrants)
	}
}

// terraformState: forgetting a resource, or destroying by way of apply.
func terraformState(c *call) {
	last := c.sub[len(c.sub)-1]
	if last == "rm" || last == "delete" || last == "push" || c.has("destroy") && last != "plan" {
		c.flags.add(flagDestroysData)
	}
	if last == "apply" && (c.value("auto-approve") == "true" || c.has("auto-approve") && c.value("auto-approve") == "" ||
		c.sub[0] == "run-all" || c.has("terragrunt-non-interactive", "non-interactive")) {
		c.flags.add(flagUnreviewed)
	}
}

// deployed marks a deployment that is told to show nobody what it will change.
func deployed(c *call) {
	last := c.sub[len(c.sub)-1]
	switch {
	case last == "preview" || last == "diff" || c.flags.has(flagDryRun):
	case c.has("y", "yes", "skip-preview", "auto-approve", "no-confirm-changeset") && !c.has("n", "no"),
		c.value("require-approval") == "never":
		c.flags.add(flagUnreviewed)
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
	c.awsChange(words[0], verb)
	if strings.Contains(verb, "get-secret") || verb == "get-parameter" && c.has("with-decryption") {
		c.flags.add(flagPrintsSecret)
	}
}

// awsChanges are the first parts of verbs that change workloads and public access; awsGrants of those that
// give somebody rights. awsContent are those of them by which a service is used, not changed.
var (
	awsChanges = []string{"modify-", "disable-", "stop-", "reboot-", "suspend-", "update-", "reset-", "restore-", "replace-", "release-",
		"failover-", "execute-change-set", "change-", "cancel-", "disassociate-", "detach-", "deactivate-", "leave-", "promote-", "rotate-",
		"set-", "put-bucket-", "put-scaling-", "put-secret-value", "put-parameter", "put-rule", "put-resource-policy", "put-lifecycle-",
		"create-stack", "run-instances", "request-spot-", "create-nat-", "start-pipeline", "enable-", "import-key", "move-", "abort-", "swap-",
		"rebuild-", "purchase-", "transfer-", "unassign-", "untag-", "deploy"}
	awsGrants = []string{"attach-", "add-user-to-group", "add-permission", "add-layer-version-permission", "add-role-to-", "authorize-",
		"create-user", "create-login-profile", "update-login-profile", "create-policy-version", "set-default-policy-version", "create-grant",
		"create-role", "create-access-key", "create-service-specific", "update-assume-role-policy", "put-user-policy", "put-role-policy",
		"put-group-policy", "put-role-permissions", "put-user-permissions", "put-key-policy", "put-bucket-acl", "put-bucket-policy",
		"put-object-acl", "put-public-access-block", "put-permission", "set-repository-policy", "put-registry-policy",
		"modify-snapshot-attribute", "modify-image-attribute", "modify-db-snapshot-attribute", "share-", "create-resource-share",
		"upload-ssh-public-key", "create-account-assignment", "associate-iam-instance-profile", "create-key-pair", "import-key-pair"}
	awsContent = []string{"update-kubeconfig", "update-item", "stop-query", "cancel-query", "update-table-statistics", "set-cookie",
		"change-message-visibility", "set-identity-pool-configuration", "abort-multipart-upload", "stop-query-execution", "update-contact"}
	// awsRecords are verbs that switch off records or protection.
	awsRecords = []string{"stop-logging", "delete-trail", "stop-configuration-recorder", "delete-configuration-recorder", "delete-flow-logs",
		"delete-detector", "disable-security-hub", "disable-macie", "delete-delivery-channel", "deactivate-mfa-device",
		"disassociate-from-master-account", "disassociate-from-administrator-account", "delete-alarms", "disable-alarm-actions",
		"delete-web-acl", "disassociate-web-acl", "delete-analyzer"}
)

func (c *call) awsChange(service, verb string) {
	starts := func(list []string) bool {
		return slices.ContainsFunc(list, func(v string) bool { return strings.HasPrefix(verb, v) })
	}
	acl := c.value("acl")
	switch {
	case slices.Contains(awsRecords, verb):
		c.flags.add(flagDisablesSecurity)
	case starts(awsGrants), strings.HasPrefix(acl, "public-") || acl == "authenticated-read":
		c.flags.add(flagGrants)
	case service == "s3" || service == "configure" || service == "s3api" && verb == "put-object" || starts(awsContent):
	case service == "ssm" && (verb == "send-command" || verb == "start-session"), service == "ecs" && verb == "execute-command":
		c.flags.add(flagRemoteExec)
	case starts(awsChanges):
		c.flags.add(flagUnreviewed)
	}
}

// cloudChanges are words, in their order, by which other clouds change workloads; cloudGrants of those with
// which they give rights or make something public.
var (
	cloudChanges = []string{"instances stop", "instances reset", "instances suspend", "instances resize", "clusters resize", "clusters upgrade",
		"services disable", "update-traffic", "vm deallocate", "vm stop", "vm restart", "vm redeploy", "vm resize", "deployment group create", "deployment sub create",
		"deployment create", "deployments create", "deployments update", "instance-groups managed resize", "sql instances patch",
		"sql instances restart", "sql instances restore-backup", "sql instances failover", "record-sets update", "record-sets create",
		"record-set a add-record", "scale", "ps:scale", "maintenance:on", "ps:stop", "config:unset", "node drain", "drain", "job stop", "force-leave",
		"leave", "job revert", "update cluster", "rolling-update", "upgrade apply", "droplet-action", "app sync", "uninstall", "suspend",
		"schema apply", "db push", "keyvault set-policy", "secrets unset", "secrets:unset", "machine stop", "apps suspend", "server poweroff",
		"server shutdown", "server stop", "server rebuild", "server reboot", "nodepool", "fault-tolerance", "set_permissions", "stop_app", "evict"}
	cloudGrants = []string{"add-iam-policy-binding", "set-iam-policy", "iam ch", "iam set", "acl ch", "acl set", "defacl ch", "defacl set", "role assignment create",
		"container set-permission", "create-for-rbac", "service-accounts keys create", "keys create", "firewall-rules create",
		"firewall-rules update", "nsg rule create", "nsg rule update", "server firewall-rule create", "firewall add-rules", "anonymous set", "policy set", "credential reset",
		"access:add", "sharing:add", "members:add", "orgs invite", "access add", "policy write", "policy attach", "set_user_tags", "setacl", "accesspolicy"}
)

// cloudChange compares the plain words of a client with those, and its options with those that ask nobody.
func (c *call) cloudChange(words []string) {
	all := " " + strings.Join(words, " ") + " "
	has := func(list []string) bool {
		return slices.ContainsFunc(list, func(v string) bool { return strings.Contains(all, " "+v+" ") })
	}
	given := texts(c.cmd.Words)
	option := func(list ...string) bool {
		return slices.ContainsFunc(given, func(w string) bool { return slices.Contains(list, w) })
	}
	switch {
	case has(cloudGrants), option("--allow-unauthenticated", "--acl-public", "--public-access=blob", "--public-access=container"),
		strings.Contains(strings.Join(given, "="), "allow-blob-public-access=true"):
		c.flags.add(flagGrants)
	case c.cmd.Name == "argocd" && has([]string{"app sync"}) && !option("--prune", "--force", "--replace"),
		c.cmd.Name == "supabase" && has([]string{"db push"}), c.cmd.Name == "prisma" && has([]string{"db push"}):
	case has(cloudChanges), option("--approve", "--auto-approve", "--accept-data-loss") && !option("--dry-run"):
		c.flags.add(flagUnreviewed)
	}
}

// destroyers are the words with which the command lines of clouds, hosts and backups destroy.
var destroyers = []string{"delete", "destroy", "rm", "remove", "terminate", "purge", "drop", "prune", "forget", "rb", "reset", "unlink-all", "wipe", "del", "nuke", "delete-volume", "undeploy", "apps:destroy", "revoke", "rdelete", "unregister", "pg:reset", "db:reset", "db:drop", "hosting:disable", "firestore:delete", "database:remove", "delete_vhost", "force_reset", "force-reset", "mb-delete", "clean", "dropAll", "drop-all", "undo:all", "db:migrate:undo:all", "deleteall", "schema:drop", "schema:fresh", "migration:fresh", "fresh", "db:wipe", "rollback-count", "secrets:delete"}

// destroyingVerbs are those that they put in front of a noun.
var destroyingVerbs = []string{"delete", "remove", "destroy", "purge", "clear", "revoke", "forget", "drop", "terminate", "wipe", "erase", "flush"}

// destroysBy also knows compounds: delete_user, remove-secret, delete-job.
func destroysBy(word string) bool {
	if slices.Contains(destroyers, word) {
		return true
	}
	verb, _, ok := strings.Cut(strings.ReplaceAll(word, "_", "-"), "-")
	return ok && slices.Contains(destroyingVerbs, verb) || strings.HasSuffix(word, "-delete") || strings.HasSuffix(word, "-destroy")
}

// uploaders are the words with which they publish or send.
var uploaders = []string{"deploy", "publish", "push", "upload", "rsync", "put"}

// cloudWords looks at the plain words of a command line that has no rows for its subcommands.
func cloudWords(c *call) {
	words := texts(c.operands)
	switch c.cmd.Name {
	case "restic", "borg", "borgmatic", "kopia", "duplicacy", "rdiff-backup", "bup", "tarsnap", "rsnapshot", "etcdctl", "rabbitmqctl", "vault", "doppler", "op", "infisical", "chamber", "prisma", "sequelize", "knex", "typeorm", "dbmate", "liquibase", "flyway", "goose", "atlas", "sequelize-cli", "sqlx", "aerich", "edgedb", "gel":
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
	if strings.Contains(c.cmd.Name, "-delete-") {
		c.destroys()
	}
	for _, o := range c.options {
		if o.name == "delete" || o.name == "force-reset" || o.name == "accept-data-loss" || o.name == "all" && slices.Contains(words, "migrate:rollback") ||
			o.name == "force" && c.cmd.Name == "drizzle-kit" || strings.HasPrefix(o.name, "delete-") {
			c.destroys()
		}
	}
	if c.cmd.Name == "vault" && len(words) > 1 && words[1] == "disable" { // the engine goes with all that it holds
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
		if len(words) > 0 && slices.Contains([]string{"read", "get", "secrets", "kv", "export", "item", "print", "download", "env"}, words[0]) && !namesOnly(c.cmd.Name, words) {
			c.flags.add(flagPrintsSecret)
		}
	}
	c.cloudChange(words)
	c.objectCopy(words)
}

// namesOnly: a list of secrets has their names, except that doppler's has their values, too.
func namesOnly(client string, words []string) bool {
	last := words[min(1, len(words)-1)]
	return last == "list" && client != "doppler" || last == "metadata" || last == "--only-names" || slices.Contains(words, "--only-names")
}

// javaClient: java -jar CLIENT.jar … delete-job NAME. A bare verb may be any program's; a compound is a
// client's of a server.
func javaClient(c *call) {
	for i, w := range c.cmd.Words {
		if i > 2 && strings.ContainsAny(w.Text, "-_") && !isOption(w) && !strings.ContainsAny(w.Text, "/.=:") && destroysBy(w.Text) {
			c.destroys()
			c.flags.add(flagRemote)
		}
	}
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
func (c *call) mount(w value.Word, source string, skip int, readOnly bool) {
	if !strings.ContainsAny(source, "/.~") && w.Certainty == value.Exact {
		return
	}
	word := cut(w, skip)
	word.Text = source
	word.Prefix = word.Prefix[:min(len(source), len(word.Prefix))]
	if len(word.Prefix) == len(source) {
		word.Certainty = value.Exact
	}
	a := reads | writes
	if readOnly {
		a = reads
	}
	c.touch(word, role{word: "mount", access: a, recursive: true})
	p := source
	if len(p) > 1 {
		p = strings.TrimRight(p, "/")
	}
	if slices.Contains(systemMounts, p) || strings.HasSuffix(p, "docker.sock") || strings.HasSuffix(p, "containerd.sock") || p == "" {
		c.flags.add(flagHostMount)
	}
}

func (c *call) mountOption(w value.Word) {
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
	name = strings.TrimPrefix(name, "docker://")
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
	c.each(reads, func(t *touch) { t.recursive = true })
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
	if c.allContainers() {
		c.flags.add(flagDestroysData)
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

// allContainers reports a removal of all containers, pods or nodes of a swarm there are, by an option or by a
// list of them: rm -f $(docker ps -aq).
func (c *call) allContainers() bool {
	kind := c.sub[0]
	if kind == "compose" || listedWord("rmi image network builder buildx context machine manifest plugin secret config service stack node", kind) {
		return false
	}
	if c.flags.has(flagAll) {
		return true
	}
	for _, w := range c.operands {
		for _, i := range w.Inputs {
			if i < len(c.source.cmds) && slices.Contains(texts(c.source.cmds[i].Words), "ps") {
				return true
			}
		}
	}
	return slices.ContainsFunc(c.cmd.Inputs, func(i int) bool {
		return i < len(c.source.cmds) && c.source.cmds[i].Name == c.cmd.Name && slices.Contains(texts(c.source.cmds[i].Words), "ps")
	})
}
