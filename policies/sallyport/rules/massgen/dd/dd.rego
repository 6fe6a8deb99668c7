# METADATA
# title: "Use of 'dd' command is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: high
#   remediation: "Use head -c, truncate or fallocate to make a file of a given size, cp to copy one."
#   profile: massgen
#   examples: ["dd if=/dev/zero of=x"]
#   lookalikes: ["git add -A", "echo address"]
package sallyport.rules.massgen.dd

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Use of 'dd' command is not allowed"} if massgen.first == "dd"
