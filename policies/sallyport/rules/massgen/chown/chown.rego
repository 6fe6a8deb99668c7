# METADATA
# title: "Use of 'chown' is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: medium
#   remediation: "Leave the owner as it is, or ask the operator for an environment that allows it."
#   profile: massgen
#   examples: ["chown root f"]
#   lookalikes: ["echo chowned", "git status"]
package sallyport.rules.massgen.chown

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Use of 'chown' is not allowed"} if massgen.first == "chown"
