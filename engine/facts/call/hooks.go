package call

// hooks are functions that rows name for facts beyond rows. They run after options and operands are read.
func hooks() map[string]func(*Call) {
	return map[string]func(*Call){
		"auditctl": auditctl, "awk-assignments": awkAssignments, "aws": aws, "bus-words": busWords,
		"chmod": chmod, "clock-show": clockShow, "cloud-words": cloudWords, "compose-down": composeDown,
		"container-copy": containerCopy, "container-run": containerRun, "cpio-names": cpioNames,
		"crontab": crontab, "curl": curl, "date-set": dateSet, "dd": dd, "dd-target": ddTarget,
		"debugger": debugger, "deployed": deployed, "diskutil": diskutil, "dpkg": dpkg,
		"ed-script": edScript, "editor-script": editorScript, "fd-search": fdSearch, "find": find,
		"firewall": firewall, "flag-words": flagWords, "freed-agent": freedAgent, "fsck-looks": fsckLooks,
		"getent": getent, "gh": gh, "git": git, "git-branch": gitBranch, "git-checkout": gitCheckout,
		"git-clean": gitClean, "git-clone": gitClone, "git-config": gitConfig, "git-gc": gitGC,
		"git-init": gitInit, "git-no-index": gitNoIndex, "git-push": gitPush, "git-remote": gitRemote,
		"git-remote-url": gitRemoteURL, "git-restore": gitRestore, "git-rm": gitRm,
		"git-worktree": gitWorktree, "go-run": goRun, "gpg": gpg, "grep-default": grepDefault, "gzip": gzip,
		"heap-dump": heapDump, "httpie": httpie, "install-mode": installMode, "ip-route": ipRoute,
		"java-client": javaClient, "journal": journal, "jq-pairs": jqPairs, "kill": kill,
		"killall": killall, "kubectl-delete": kubectlDelete, "kubectl-run": kubectlRun,
		"kubectl-secret": kubectlSecret, "link": link, "lisp-starts": lispStarts, "lists-here": listsHere,
		"make-targets": makeTargets, "mdadm-looks": mdadmLooks, "mode-option": modeOption,
		"mount-lists": mountLists, "move": move, "netcat": netcat, "network-config": networkConfig,
		"node-module": nodeModule, "npm-publish": npmPublish, "openssl": openssl, "other-vcs": otherVCS,
		"pacman": pacman, "partition": partition, "patch-tree": patchTree, "perl-in-place": perlInPlace,
		"pkill": pkill, "pod-copy": podCopy, "printenv": printenv, "prints-only": printsOnly,
		"python-module": pythonModule, "rclone": rclone, "redis": redis, "remove-words": removeWords,
		"rpm": rpm, "rsync": rsync, "runs-operands": runsOperands, "script-task": scriptTask,
		"secret-store": secretStore, "sed-in-place": sedInPlace, "sed-script": sedScript,
		"server-test": serverTest, "service-name": serviceName, "service-status": serviceStatus,
		"setcap": setcap, "setfacl": setfacl, "sftp-batch": sftpBatch, "shows-keys": showsKeys,
		"shred": shred, "shutdown-not": shutdownNot, "socat": socat, "sql": sql, "ssh": ssh,
		"ssh-keygen": sshKeygen, "ssh-options": sshOptions, "sudo-edit": sudoEdit, "sysctl": sysctl,
		"tar": tar, "task-words": taskWords, "terraform-state": terraformState, "test-file": testFile,
		"tunnel-looks": tunnelLooks, "unzip": unzip, "wget": wget, "wrapper": wrapper, "zip": zip,
	}
}
