# METADATA
# title: "Fork bombs are not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: critical
#   remediation: "Start a fixed number of processes."
#   profile: massgen
#   examples: [":(){ :|:& };:"]
#   lookalikes: ["echo ':()'", "f() { g; }; f"]
package sallyport.rules.massgen.fork_bomb

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Fork bombs are not allowed"} if massgen.first == "fork_bomb"
