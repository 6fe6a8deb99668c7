# METADATA
# title: Delete of files that were not read first
# description: >-
#   Deletes files in the workspace or a granted place that this session has neither read nor created.
#   Generated files (caches, build output, logs) do not count.
# custom:
#   severity: medium
#   remediation: Read the files first, or compare them with their copies; then delete them.
#   config:
#     files: {draft.txt: a draft, docs/guide.md: a guide, node_modules/m/index.js: ''}
#   examples:
#     - rm draft.txt
#     - rm -rf docs
#     - find docs -name '*.md' -delete
#   lookalikes:
#     - echo x > new.txt && rm new.txt
#     - rm -rf node_modules
#     - mv draft.txt final.txt
package sallyport.rules.deletion.read_before_delete

import data.sallyport.lib

_kept := {"workspace", "context"}

_whole_tree(p) if p.recursive

_whole_tree(p) if p.glob

_unread contains i if {
	some i in lib.deletes
	p := input.paths[i]
	p.unread.count > 0
	not p.generated
	p.zone in _kept
	not _moved(p)
	not lib.started
}

# A moved file is still there.
_moved(p) if lib.with_flag.moves[p.command]

deny contains {"path": i, "msg": $"{p.path} must be read before it is deleted"} if {
	some i in _unread
	p := input.paths[i]
	not _whole_tree(p)
}

deny contains {"path": i, "msg": $"{p.path} holds {p.unread.count} unread file(s), for example {examples}; read them before you delete them"} if {
	some i in _unread
	p := input.paths[i]
	_whole_tree(p)
	count(p.unread.examples) > 0
	examples := concat(", ", p.unread.examples)
}

# The engine looks at a bounded number of files below a directory.
deny contains {"path": i, "msg": $"{p.path} holds too many files to look at all of them; delete its parts one by one"} if {
	some i in _unread
	p := input.paths[i]
	_whole_tree(p)
	count(p.unread.examples) == 0
}
