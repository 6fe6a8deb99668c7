# METADATA
# title: Release published
# description: A published release cannot be taken back; others install it at once.
# custom:
#   severity: high
#   remediation: Build the package and leave the publishing to a person.
#   examples:
#     - npm publish
#     - twine upload dist/*
#     - docker push registry.example.com/app:1
#     - cargo publish
#   lookalikes:
#     - npm pack
#     - npm publish --dry-run
#     - docker build -t app .
#     - cargo build --release
package sallyport.rules.system.publish

import data.sallyport.lib

ask contains {"command": i} if {
	some i in lib.with_flag.publishes
	not lib.with_flag.dry_run[i]
}
