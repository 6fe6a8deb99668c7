# METADATA
# title: "Use of 'sudo' is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: high
#   remediation: "Run the command without sudo, or ask the operator for an environment that allows it."
#   profile: massgen
#   examples: ["sudo ls"]
#   lookalikes: ["echo sudoers", "pseudo --help"]
package sallyport.rules.massgen.sudo

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Use of 'sudo' is not allowed"} if massgen.first == "sudo"
