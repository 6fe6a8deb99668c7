# METADATA
# title: Write to an unknown path
# description: >-
#   The target of a write depends on a value that is unknown before the command runs, so no permission can
#   be compared with it.
# custom:
#   severity: medium
#   trial: true
#   remediation: Write the path out, or begin it with a known directory, for example "./out/$name".
#   examples:
#     - tee "$1"
#     - read -r f < list; echo x > "$f"
#     - cp a.txt "$(cat target.txt)"
#     - cat list | xargs touch
#     - python3 -c 'import sys; open(sys.argv[1], "w").write("x")' a
#     - trap "cd .." 0; read -r HOME; echo x > ~/o
#   lookalikes:
#     - f=out.txt; echo x > "$f"
#     - for f in a b; do echo x > "./out/$f"; done
#     - t=$(mktemp); echo x > "$t"
#     - grep -rl old src | xargs sed -i s/old/new/
package sallyport.rules.paths.unresolved_write

import data.sallyport.lib

_unknown contains i if {
	some i in lib.writes
	input.paths[i].certainty == "unknown"
}

_in_script(p) if input.commands[p.command].script != ""

deny contains {"path": i, "msg": $"the value of {p.raw} is not known before it runs"} if {
	some i in _unknown
	p := input.paths[i]
	input.commands[p.command].elevated
}

_open contains i if {
	some i in _unknown
	p := input.paths[i]
	p.source in {"argument", "redirect", "code"}
	not _in_script(p)
	not input.commands[p.command].elevated
	not lib.judged_later # the environment keeps it to the places that permissions grant
}

# Names that xargs takes from a search below a place that is granted lie below that place.
_named_outside(p) if {
	c := input.commands[p.command]
	"xargs" in c.via
	count(c.inputs) > 0
	every j in c.inputs {
		_names(j)
	}
}

_names(j) if {
	lib.with_flag.lists_names[j]
	count(input.commands[j].paths) > 0
	not _abroad(j)
}

# Commands that pass on some of their input add no name.
_names(j) if {
	input.commands[j].name in {"egrep", "fgrep", "grep", "head", "sort", "tail", "uniq"}
	count(input.commands[j].paths) == 0
}

_names(j) if input.commands[j].name == "xargs"

_abroad(j) if {
	some k in input.commands[j].paths
	not _free(input.paths[k])
}

_free(p) if p.zone in {"temporary", "workspace"}

_free(p) if {
	p.zone == "context"
	p.permission == "write"
}

ask contains {"path": i, "msg": $"the value of {p.raw} is not known before it runs"} if {
	some i in _open
	p := input.paths[i]
	not _named_outside(p)
}

warn contains {"path": i, "msg": $"the value of {p.raw} is not known before it runs"} if {
	some i in _open
	p := input.paths[i]
	_named_outside(p)
}
