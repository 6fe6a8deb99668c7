# METADATA
# title: No push to a protected branch
# description: |
#   Protected branches change by pull requests. Where a push does not say which branch, a person is asked.
# custom:
#   severity: high
#   remediation: Push a branch of your own and open a pull request.
#   examples:
#     - git push origin main
#     - git push origin HEAD:main
#     - git push -u origin +refs/heads/main
#     - git push --all
#     - git push
#     - read -r BRANCH; git push origin "$BRANCH"
#   lookalikes:
#     - git push origin feature/main-menu
#     - git push origin main:feature
#     - git pull origin main
package custom.git.no_push_to_main

import data.custom.branches as lists
import data.sallyport.lib

deny contains {"command": i, "msg": $"{word} is a protected branch"} if {
	some i, c in _pushes
	some word in {o.value | some o in c.operands}
	some branch in lists.protected
	_names(word, branch)
}

deny contains {"command": i, "msg": "all branches would be pushed"} if {
	some i, c in _pushes
	lib.has_option(c, {"--all", "--branches", "--mirror"})
}

ask contains {"command": i, "msg": "which branch would be pushed is not said"} if {
	some i, c in _pushes
	count(c.operands) < 2
}

ask contains {"command": i, "msg": "which branch would be pushed is not known"} if {
	some i, c in _pushes
	c.certainty != "exact"
}

_pushes := {i: c |
	some i, c in lib.commands({"git"})
	c.subcommand == "push"
}

_names(word, branch) if word in {branch, $"+{branch}", $"refs/heads/{branch}", $"+refs/heads/{branch}"}

_names(word, branch) if endswith(word, $":{branch}")

_names(word, branch) if endswith(word, $":refs/heads/{branch}")
