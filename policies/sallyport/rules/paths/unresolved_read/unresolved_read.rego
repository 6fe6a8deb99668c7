# METADATA
# title: Read of an unknown path
# description: >-
#   The path of a read depends on a value that is unknown before the command runs, so it could be a
#   credential. Names that a search or a listing prints are judged as the places that were searched; so is a
#   known beginning, unless credentials begin so.
# custom:
#   severity: medium
#   trial: true
#   remediation: Write the path out, or begin it with a known directory, for example "./in/$name".
#   examples:
#     - n=$(date +../.ssh/id_rsa); cat ./$n
#     - cat "$(head -1 names.txt)"
#     - read -r f; base64 "$f"
#     - cat ~/"$(printenv WHERE)"
#     - locate id_rsa | xargs cat
#     - python3 -c 'print(open(input()).read())'
#   lookalikes:
#     - cat "$1"
#     - f=README.md; cat "$f"
#     - for f in *.md; do cat "$f"; done
#     - ls src | while read -r f; do cat "src/$f"; done
#     - find src -name '*.go' | xargs cat
#     - cat "$(git rev-parse --show-toplevel)/README.md"
#     - cat $(ls *.md | head -1)
#     - ls "$(head -1 names.txt)"
package sallyport.rules.paths.unresolved_read

import data.sallyport.lib

_in_script(p) if input.commands[p.command].script != ""

# Only names and sizes are looked at, or it is a name that something lists.
_judged(p) if "metadata" in p.labels

_judged(p) if "plain_name" in p.labels

# Edits in place are writes to the same place.
_judged(p) if "in_place" in input.commands[p.command].flags

_sources := {"argument", "redirect", "code"}

# The program of this argument is judged when it starts.
_judged(p) if {
	lib.judged_later
	p.source == "argument"
}

# The text of a program that a command started says as little as a script.
_judged(_) if {
	lib.started
	lib.judged_later
}

ask contains {"path": i, "msg": $"the value of {p.raw} is not known before it runs"} if {
	some i in lib.reads
	p := input.paths[i]
	p.certainty == "unknown"
	p.source in _sources
	p.zone != "credential"
	not _judged(p)
	not _in_script(p)
}

ask contains {"path": i, "msg": $"only the beginning of {p.raw} is known, and credentials begin so: {p.path}"} if {
	some i in lib.reads
	p := input.paths[i]
	p.certainty == "partial"
	"contains_credential" in p.labels
	p.source in _sources
	not p.recursive
	p.zone != "credential"
	not _judged(p)
	not _in_script(p)
}
