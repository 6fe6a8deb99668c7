# METADATA
# title: "Moving files to /dev/null is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: high
#   remediation: "Delete the file with rm if it must go; /dev/null keeps nothing."
#   profile: massgen
#   examples: ["mv notes.txt /dev/null"]
#   lookalikes: ["mv a b", "cp a /dev/null"]
package sallyport.rules.massgen.mv_dev_null

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Moving files to /dev/null is not allowed"} if massgen.first == "mv_dev_null"
