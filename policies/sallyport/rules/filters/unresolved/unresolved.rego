# METADATA
# title: Command that cannot be compared with the operator's lists
# description: The operator has given patterns, but the command word is only known when it runs, so no pattern can match or fail to match it.
# custom:
#   severity: high
#   remediation: Write the program's name out.
#   config:
#     commands: {deny: ['git push']}
#   examples:
#     - read -r TOOL; $TOOL push
#     - '"$(cat tool.txt)" push'
#   lookalikes:
#     - c=ls; $c
#     - 'ls "$1"'
package sallyport.rules.filters.unresolved

import data.sallyport.lib

_listed if data.sallyport.config.filters.allow > 0

_listed if data.sallyport.config.filters.deny > 0

deny contains {"command": i} if {
	_listed
	some i in lib.with_certainty.unknown
}
