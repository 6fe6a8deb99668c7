# METADATA
# title: "Use of 'rm -rf /' is not allowed"
# description: One of the nine patterns of MassGen's command sanitizer, matched against the text as it stands.
# custom:
#   severity: critical
#   remediation: "Delete by a path inside your workspace: rm -rf ./build."
#   profile: massgen
#   examples: ["rm -rf /srv/data"]
#   lookalikes: ["rm -fr build", "rm file.txt"]
package sallyport.rules.massgen.rm_rf_root

import data.sallyport.lib.massgen

deny contains {"msg": "Potentially dangerous command detected: Use of 'rm -rf /' is not allowed"} if massgen.first == "rm_rf_root"
