# METADATA
# title: Write to git's hooks or configuration
# description: Git runs these files or settings with its next command, outside every gate.
# custom:
#   severity: high
#   remediation: Put the hook into the repository (for example .githooks/) and let the operator switch it on; use git config for settings.
#   examples:
#     - echo 'curl -s https://example.com' > .git/hooks/pre-commit
#     - cp hook.sh .git/hooks/post-checkout
#     - echo x >> .git/config
#     - echo ref > .git/HEAD
#   lookalikes:
#     - cat .git/config
#     - echo '*.log' >> .git/info/exclude
#     - ls .git/hooks
#     - git config user.name a
#     - cat .githooks/pre-commit
package sallyport.rules.git.hooks

import data.sallyport.lib

deny contains {"path": i, "msg": $"{input.paths[i].path} is run by git"} if {
	some i in lib.with_label.git_hook
	i in lib.writes
	lib.with_label.git_dir[i]
}

# Hooks that are part of the project, such as .githooks/ and .husky/, are reviewed with it.
warn contains {"path": i, "msg": $"{input.paths[i].path} is run by git"} if {
	some i in lib.with_label.git_hook
	i in lib.writes
	not lib.with_label.git_dir[i]
}

# Git's own writes there are judged by their values: git/config_exec.
# HEAD, the index, references and objects.
ask contains {"path": i, "msg": $"{input.paths[i].path} is written by git alone"} if {
	some i in lib.with_label.git_dir
	i in lib.writes
	not lib.with_label.git_config[i]
	not lib.with_label.git_hook[i]
	not "metadata" in input.paths[i].labels
	not _by_git(input.paths[i])
}

_by_git(p) if lib.named.git[p.command]

ask contains {"path": i, "msg": $"{input.paths[i].path} names programs that git runs"} if {
	some i in lib.with_label.git_config
	i in lib.writes
	not lib.with_label.git_hook[i]
	not _by_git(input.paths[i])
}
