# METADATA
# title: "Use of 'su' is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: high
#   remediation: "Run the command as the current user, or ask the operator for an environment that allows it."
#   profile: massgen
#   examples: ["su root"]
#   lookalikes: ["git submodule update", "echo summary"]
package sallyport.rules.massgen.su

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Use of 'su' is not allowed"} if massgen.first == "su"
