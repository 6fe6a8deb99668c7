# METADATA
# title: "Use of 'chmod' is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: medium
#   remediation: "Name the interpreter instead of making a file executable: bash script.sh."
#   profile: massgen
#   examples: ["chmod +x f"]
#   lookalikes: ["echo chmods", "ls -la"]
package sallyport.rules.massgen.chmod

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Use of 'chmod' is not allowed"} if massgen.first == "chmod"
