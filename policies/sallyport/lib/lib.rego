# METADATA
# title: Shared sets of facts
# description: |
#   What rules ask of the input, computed once for each request. Sets of commands hold
#   indexes into input.commands, sets of paths hold indexes into input.paths.
#
#   A key that nothing has is undefined, so a rule that looks it up is silent, as it
#   should be. For the same reason never subtract such a set: x - undefined is undefined
#   too, and the rule would be silent where it must speak. Write `not lib.with_flag.f[i]`: in
#   `not i in lib.with_flag.f` the set is looked up before the negation, and the rule is silent, too.
#
#   Each set by key stands behind a complete rule: that is computed whole, once. A lookup in the
#   partial object itself would walk the input again for every key (measured: twice the time of
#   a large request).
package sallyport.lib

# All that is there, by kind: each object has a key for a fact if and only if something has that fact.
# The engine knows these kinds by name: a rule that cannot hold without some fact is not asked while
# the fact is missing.
present := {
	"code_from": code_from,
	"code_origin": code_origin,
	"in_zone": in_zone,
	"named": named,
	"with_access": with_access,
	"with_certainty": with_certainty,
	"with_effect": with_effect,
	"with_flag": with_flag,
	"with_label": with_label,
}

# Commands that stand in the text itself, not in a script file that it runs.
in_text := {i | input.commands[i].script == ""}

# Commands that run with other rights: under sudo, su, doas, …
elevated := {i | input.commands[i].elevated == true}

# Commands by what they are and do: lib.with_flag.recursive is the set of commands with that flag.

with_flag := _with_flag

with_effect := _with_effect

with_certainty := _with_certainty

code_from := _code_from

code_origin := _code_origin

named := _named

_with_flag[flag] contains i if flag := input.commands[i].flags[_]

_with_effect[effect] contains i if effect := input.commands[i].effects[_]

_with_certainty[certainty] contains i if certainty := input.commands[i].certainty

_code_from[from] contains i if from := input.commands[i].code.from

_code_origin[origin] contains i if origin := input.commands[i].code.origin

_named[name] contains i if name := input.commands[i].name

# Paths by access. These are never undefined.

with_access := _with_access

reads := object.get(_with_access, "read", set())

writes := object.get(_with_access, "write", set())

deletes := object.get(_with_access, "delete", set())

executes := object.get(_with_access, "execute", set())

_with_access[access] contains p if access := input.paths[p].access

# What is there before is not there afterwards, or is not what it was.
changes := writes | deletes

# Paths whose access reaches everything below them.
recursive := {p | input.paths[p].recursive == true}

# Paths by the place they lead to.

with_label := _with_label

in_zone := _in_zone

_with_label[label] contains p if label := input.paths[p].labels[_]

_in_zone[zone] contains p if zone := input.paths[p].zone

# The paths of a command, by access: lib.targets[i].delete is the set of paths that command i
# deletes. A file tool's paths are those of command -1.
targets := _targets

_targets[command][access] contains p if {
	command := input.paths[p].command
	access := input.paths[p].access
}
