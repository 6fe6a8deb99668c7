# METADATA
# title: On the operator's list of denied commands
# description: No command anywhere in the text, in a nested shell or in a script that it runs may match a pattern of denied commands.
# custom:
#   severity: high
#   remediation: Do without this command, or ask the operator (commands.deny).
#   config:
#     commands: {deny: ['git push']}
#     files: {release.sh: git push}
#   examples:
#     - git push origin main
#     - bash -c 'git push'
#     - sh release.sh
#   lookalikes:
#     - git status
#     - echo git push
package sallyport.rules.filters.denied

deny contains {"command": i, "msg": $"{name} matches a denied pattern"} if {
	some i, c in input.commands
	count(c.matches.deny) > 0
	name := c.program
}
