# METADATA
# title: Pushes go to our servers, and rewrite no protected branch
# description: |
#   The address of a remote stands in the repository, where a command can change it. A push is judged by the
#   address that is in force, with proxies and with what earlier commands of the same text set.
# custom:
#   severity: high
#   remediation: Push to a remote on git.example.com, without --force to a protected branch.
#   examples:
#     - git push https://git.elsewhere.test/x main
#     - git remote add mirror https://git.elsewhere.test/x && git push mirror topic
#     - git -c url.https://git.elsewhere.test/.insteadOf=https://git.example.com/ push https://git.example.com/x topic
#     - https_proxy=http://proxy.elsewhere.test:8080 git push https://git.example.com/x topic
#     - git push --force https://git.example.com/x main
#     - git push https://git.example.com/x +HEAD:main
#   lookalikes:
#     - git push https://git.example.com/x topic
#     - git push --force-with-lease https://git.example.com/x topic
#     - git fetch https://git.elsewhere.test/x
package custom.git.push_remotes

import data.custom.push_remotes as lists
import data.sallyport.lib

deny contains {"command": i, "msg": $"{t.host} ({t.kind}) is none of our servers"} if {
	some i, c in _pushes
	some t in c.targets
	t.host != ""
	not lib.within_domains(t.host, lists.servers)
}

ask contains {"command": i, "msg": $"the {t.kind} of the push is not known"} if {
	some i, c in _pushes
	some t in c.targets
	t.host == ""
}

deny contains {"command": i, "msg": $"{o.value} would be rewritten"} if {
	some i, c in _pushes
	"force_push" in c.flags
	some o in c.operands
	some branch in lists.protected
	trim_left(o.value, "+") in {branch, $"HEAD:{branch}", $"refs/heads/{branch}", $"HEAD:refs/heads/{branch}"}
}

deny contains {"command": i, "msg": $"{input.git.branch} would be rewritten"} if {
	some i, c in _pushes
	"force_push" in c.flags
	count(c.operands) < 2
	input.git.branch in lists.protected
}

_pushes := {i: c |
	some i, c in lib.commands({"git"})
	c.subcommand == "push"
}
