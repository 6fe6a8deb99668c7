package facts

import (
	"slices"
	"strings"
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
	if last == "rm" || last == "delete" || last == "push" || c.has("destroy") && last != "plan" {
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
	if strings.Contains(c.cmd.Name, "-delete-") {
		c.destroys()
	}
	for _, o := range c.options {
		if o.name == "delete" || o.name == "force-reset" || strings.HasPrefix(o.name, "delete-") {
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

// ghAuth: auth status only shows the token when it is told to.
func ghAuth(c *call) {
	if c.sub[len(c.sub)-1] == "status" && !c.has("t", "show-token") {
		c.flags.remove(flagPrintsSecret)
	}
}
