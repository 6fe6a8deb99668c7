# METADATA
# title: Delete of work that git does not hold
# description: >-
#   Deletes files of a repository that are changed or that git does not track: no commit brings them back.
#   Files that are tracked and unchanged do not count, nor do generated files and files that the session made
#   itself. A single untracked file may go once the session has read it.
# custom:
#   severity: medium
#   remediation: Commit or stash the files first, or delete only tracked files without changes.
#   config:
#     files: {src/main.go: package changed, doc/a.md: a guide, out/app: x}
#     committed: {src/main.go: package main, doc/a.md: a guide}
#   examples:
#     - rm -rf src
#     - rm src/main.go
#     - rm -rf out
#     - find src -name '*.go' -delete
#     - 'delete_file: delete* out'
#   lookalikes:
#     - rm -rf doc
#     - rm -rf node_modules
#     - mkdir -p t/x && echo a > t/x/y && rm -rf t
#     - rm out/app
#     - mv out old
#     - git rm -r src
package sallyport.rules.deletion.uncommitted

import data.sallyport.lib

_kept := {"workspace", "context"}

_why := {
	"changed": "git does not hold their changes",
	"unknown": "git's copies of them are not known",
	"untracked": "git does not track them",
}

ask contains {"path": i, "msg": $"{p.path}: {p.git.count} file(s) would be lost, and {why}"} if {
	some i in lib.deletes
	p := input.paths[i]
	why := _why[p.git.state]
	p.zone in _kept
	p.permission == "write"
	not p.generated
	not lib.with_flag.moves[p.command]
	not _careful(p)
	not _single(p)
	not lib.started
}

# Of a single file, the session knows the content; deletion/read_before_delete sees to that.
_single(p) if {
	p.git.state == "untracked"
	not p.recursive
	not p.glob
}

# Without force, git rm leaves changed and untracked files alone.
_careful(p) if {
	c := input.commands[p.command]
	c.name == "git"
	c.subcommand == "rm"
	not lib.with_flag.force[p.command]
}
