# METADATA
# title: Delete of an unknown path
# description: >-
#   A delete or move of a target that depends on a value unknown before the command runs. An empty variable
#   turns rm -rf "$dir/"* into a delete of everything. A known beginning below the workspace or a temporary
#   directory is enough.
# custom:
#   severity: high
#   trial: true
#   remediation: Write the path out, or begin it with a known directory, for example rm -rf "./out/$name".
#   examples:
#     - rm -rf "$1"
#     - rm -rf "$(cat list.txt)"
#     - read -r f; mv "$f" /tmp/
#     - find . -maxdepth 0 -exec bash -c 'read -r f; mv "$f" /tmp/' \;
#     - read -r dir; rm -rf "$dir"/*
#     - read -r name; rm -rf /$name
#     - python3 -c 'import os, sys; os.remove(sys.argv[1])' x
#   lookalikes:
#     - d=build; rm -rf "$d"
#     - rm -rf "./out/$name"
#     - rm -rf /tmp/work.$$
#     - ls -R "$1"
#     - python3 -c 'import os; os.remove("build/x")'
#     - ls build | while read -r f; do rm "build/$f"; done
#     - find build -name '*.o' -exec rm {} +
#     - rm -rf $(find . -name __pycache__)
#     - ls *.txt | xargs -I {} mv {} old-{}
package sallyport.rules.dangerous.unresolved_delete

import data.sallyport.lib

# Carriers that run a delete for each of many names.
_carriers := {"find -exec", "find -execdir", "parallel", "xargs"}

_many(p) if p.recursive

_many(p) if {
	some carrier in input.commands[p.command].via
	carrier in _carriers
}

# A moved file is still there, under another name.
_deletes contains i if {
	some i in lib.deletes
	not lib.with_flag.moves[input.paths[i].command]
	not _later(input.paths[i])
}

# The program of this argument is judged when it starts.
_later(p) if {
	lib.judged_later
	p.source == "argument"
}

_in_script(p) if input.commands[p.command].script != ""

deny contains {"path": i, "msg": $"the value of {p.raw} is not known before it runs"} if {
	some i in _deletes
	p := input.paths[i]
	p.certainty == "unknown"
	p.recursive
	not _in_script(p)
	not _listed(p)
}

_beginning contains i if {
	some i in _deletes
	p := input.paths[i]
	p.certainty == "partial"
	_many(p)
}

deny contains {"path": i, "msg": $"only the beginning of {p.raw} is known: {p.path}"} if {
	some i in _beginning
	p := input.paths[i]
	p.path == "/"
}

ask contains {"path": i, "msg": $"only the beginning of {p.raw} is known: {p.path}"} if {
	some i in _beginning
	p := input.paths[i]
	p.path != "/"
	p.zone in {"home", "system", "outside"}
	not "cache" in p.labels
}

ask contains {"path": i, "msg": $"a script deletes {p.raw}, which is not known before it runs"} if {
	some i in _deletes
	p := input.paths[i]
	p.certainty == "unknown"
	p.recursive
	_in_script(p)
}

ask contains {"path": i, "msg": $"the value of {p.raw} is not known before it runs"} if {
	some i in lib.deletes
	p := input.paths[i]
	p.certainty == "unknown"
	p.source in {"argument", "code"}
	not _later(p)
	not _many_at_once(p)
	not _in_script(p)
	not _listed(p)
}

_many_at_once(p) if {
	p.recursive
	not lib.with_flag.moves[p.command]
}

# A name from a listing stands for the entries of the places listed, which are judged.
_listed(p) if "listed_name" in p.labels
