# METADATA
# title: No secret in arguments
# description: |
#   What stands in a command line can be read by every process of the machine and stays in histories and logs.
# custom:
#   severity: critical
#   remediation: Pass the secret in a file or in a variable that the operator sets, and rotate the one that stood there.
#   examples:
#     - deploy --token=abc123
#     - mysql --password hunter2
#     - "curl -H 'Authorization: Bearer acme_0123456789abcdef0123' https://api.example.com"
#   lookalikes:
#     - deploy --token-file token.txt
#     - mysql -p
#     - echo acme_short
package custom.secrets.arguments

import data.sallyport.lib

# The text of a command is part of what a finding says unless it says something else: here it must.
deny contains {"command": i, "msg": $"{c.name} is given a secret as an option"} if {
	some i, c in input.commands
	lib.has_option(c, {"--password", "--passwd", "--token", "--api-key", "--secret"})
}

deny contains {"command": i, "msg": $"{c.name} is given what looks like {kind}"} if {
	some i, c in input.commands
	some word in c.argv
	some kind, pattern in _patterns
	regex.match(pattern, word)
}

_patterns := {
	"a key of a cloud": `\bA(KIA|SIA)[A-Z2-7]{16}\b`,
	"a token of a code host": `\bgh[pousr]_[A-Za-z0-9]{20,}`,
	"a private key": `-----BEGIN [A-Z ]*PRIVATE KEY`,
	"a token of ours": `\bacme_[0-9a-f]{16,}`,
}
