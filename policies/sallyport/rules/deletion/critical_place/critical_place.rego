# METADATA
# title: Delete of irreplaceable files
# description: >-
#   Deletes a repository's history or an environment file; for a directory with a repository in it a person is asked.
# custom:
#   severity: high
#   remediation: Move the thing aside inside the workspace instead, or delete its other files one by one.
#   examples:
#     - rm -rf .git
#     - git init -q sub && rm -rf .git
#     - mv .git /tmp/old
#     - find . -name .git -exec rm -rf {} +
#   lookalikes:
#     - rm -f .git/index.lock
#     - rm -rf .github/cache
#     - git clone -q https://example.com/r.git r && rm -rf r
package sallyport.rules.deletion.critical_place

import data.sallyport.lib

_own(p) if p.generated

_own(p) if p.zone == "temporary"

_own(p) if "generated_here" in p.labels

_history contains i if {
	some i in lib.with_label.git_dir
	p := input.paths[i]
	p.access == "delete"
	p.recursive
	not _own(p)
}

deny contains {"path": i, "msg": $"{input.paths[i].path} holds a repository's history"} if some i in _history

deny contains {"path": i, "msg": $"{p.path} cannot be made again"} if {
	some i in lib.deletes
	p := input.paths[i]
	p.certainty == "exact"
	p.exists
	"env_file" in p.labels
	p.seen != "created"
	not _own(p)
}

ask contains {"path": i, "msg": $"a repository lies below {p.path}"} if {
	some i in lib.with_label.contains_git
	p := input.paths[i]
	p.access == "delete"
	not i in _history
	not _own(p)
}
