package call

// hooks are functions that rows name for facts beyond rows. They run after options and operands are read.
func hooks() map[string]func(*Call) {
	return map[string]func(*Call){
		"awk-assignments": awkAssignments, "aws": aws, "bus-words": busWords, "chmod": chmod,
		"cloud-words": cloudWords, "compose-down": composeDown, "container-copy": containerCopy,
		"container-run": containerRun, "cpio-names": cpioNames, "curl": curl, "date-set": dateSet,
		"dd": dd, "dd-target": ddTarget, "debugger": debugger, "diskutil": diskutil, "ed-script": edScript,
		"editor-script": editorScript, "env": env, "fd-search": fdSearch, "find": find,
		"firewall": firewall, "flag-words": flagWords, "freed-agent": freedAgent, "getent": getent,
		"gh": gh, "git": git, "git-checkout": gitCheckout, "git-clone": gitClone, "git-config": gitConfig,
		"git-init": gitInit, "git-no-index": gitNoIndex, "git-push": gitPush, "git-remote": gitRemote,
		"git-remote-url": gitRemoteURL, "go-run": goRun, "gpg": gpg, "grep-default": grepDefault,
		"gzip": gzip, "heap-dump": heapDump, "httpie": httpie, "install-mode": installMode,
		"java-client": javaClient, "journal": journal, "jq-pairs": jqPairs, "kill": kill,
		"killall": killall, "kubectl-delete": kubectlDelete, "link": link, "lisp-starts": lispStarts,
		"mode-option": modeOption, "move": move, "netcat": netcat, "network-config": networkConfig,
		"openssl": openssl, "other-vcs": otherVCS, "perl-in-place": perlInPlace, "pkill": pkill,
		"pod-copy": podCopy, "python-module": pythonModule, "rclone": rclone, "redis": redis, "rpm": rpm,
		"rsync": rsync, "runs-operands": runsOperands, "script-task": scriptTask,
		"sed-in-place": sedInPlace, "sed-script": sedScript, "setfacl": setfacl, "sftp-batch": sftpBatch,
		"shred": shred, "socat": socat, "sql": sql, "ssh": ssh, "ssh-options": sshOptions, "tar": tar,
		"task-words": taskWords, "test-file": testFile, "wget": wget, "zip": zip,
	}
}
