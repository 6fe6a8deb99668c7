# METADATA
# title: "Overwriting disk blocks directly is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: critical
#   remediation: "Write to a file in your workspace."
#   profile: massgen
#   examples: ["cat x > /dev/sda"]
#   lookalikes: ["echo x > /dev/null", "echo x > out.txt"]
package sallyport.rules.massgen.disk_redirect

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Overwriting disk blocks directly is not allowed"} if massgen.first == "disk_redirect"
