# METADATA
# title: Shared sets of facts
# description: |
#   Facts of the input for the rules, computed once for each request. Sets of commands hold
#   indexes into input.commands, sets of paths hold indexes into input.paths.
#
#   A key that nothing has is undefined, so a rule that looks it up is silent, as it
#   should be. For the same reason never subtract such a set: x - undefined is undefined
#   too, and the rule would be silent where it must speak. Write `not lib.with_flag.f[i]`: in
#   `not i in lib.with_flag.f` the set is looked up before the negation, and the rule is silent, too.
#
#   Each set by key is a complete rule with a comprehension inside a comprehension. OPA makes an
#   index of the inner one, so that it walks the input once for all keys. As a partial object it
#   would search all earlier elements for each new one (measured: a batch of
#   8,000 paths took four times as long), and a lookup in it would walk the input for every key.
package sallyport.lib

# Commands that stand in the text itself, not in a script file that it runs.
in_text := {i | input.commands[i].script == ""}

# Commands that run with other rights: under sudo, su, doas, …
elevated := {i | input.commands[i].elevated == true}

# It is a program that a command started: another program chose its words, and not the agent.
started if input.request.tool == "program"

# The engine asks again when a program of this text starts, with its words and files as they are then, and the
# environment was seen to bound everything that a shell does by itself.
judged_later if {
	input.runner.programs == "judged"
	input.runner.confinement.write == "holds"
	input.runner.confinement.read == "holds"
	not _unseen
}

# Programs are not seen below elevated commands.
_unseen if {
	input.runner.elevated
	count(elevated) > 0
}

# A program with the address of a host may download the input of these, also one that is not known.
fed_from_network contains i if {
	some i, c in input.commands
	some j in c.inputs
	count(input.commands[j].hosts) > 0
}

# Commands by their facts: lib.with_flag.recursive is the set of commands with that flag. An object
# by fact has a key for it if and only if something has that fact. The engine knows code_from, code_origin,
# in_zone, named, with_access, with_certainty, with_effect, with_flag and with_label by name: a rule that
# cannot hold without some fact is not asked while the fact is missing.

with_flag := {key: all |
	some key in {key | key := input.commands[_].flags[_]}
	all := {i | input.commands[i].flags[_] == key}
}

with_effect := {key: all |
	some key in {key | key := input.commands[_].effects[_]}
	all := {i | input.commands[i].effects[_] == key}
}

with_certainty := {key: all |
	some key in {key | key := input.commands[_].certainty}
	all := {i | input.commands[i].certainty == key}
}

code_from := {key: all |
	some key in {key | key := input.commands[_].code.from}
	all := {i | input.commands[i].code.from == key}
}

code_origin := {key: all |
	some key in {key | key := input.commands[_].code.origin}
	all := {i | input.commands[i].code.origin == key}
}

named := {key: all |
	some key in {key | key := input.commands[_].name}
	all := {i | input.commands[i].name == key}
}

# Paths by access. These are never undefined.

with_access := {key: all |
	some key in {key | key := input.paths[_].access}
	all := {p | input.paths[p].access == key}
}

reads := object.get(with_access, "read", set())

writes := object.get(with_access, "write", set())

deletes := object.get(with_access, "delete", set())

executes := object.get(with_access, "execute", set())

# Paths that are gone or different afterwards.
changes := writes | deletes

# Paths whose access reaches everything below them.
recursive := {p | input.paths[p].recursive == true}

# Paths by the place they lead to.

with_label := {key: all |
	some key in {key | key := input.paths[_].labels[_]}
	all := {p | input.paths[p].labels[_] == key}
}

in_zone := {key: all |
	some key in {key | key := input.paths[_].zone}
	all := {p | input.paths[p].zone == key}
}

# The paths of a command, by access: lib.targets[i].delete is the set of paths that command i
# deletes. A file tool's paths are those of command -1.
targets := {command: accesses |
	some command, own in _paths_of
	accesses := {access: all |
		some access in {access | some p in own; access := input.paths[p].access}
		all := {p | some p in own; input.paths[p].access == access}
	}
}

_paths_of := {command: all |
	some command in {command | command := input.paths[_].command}
	all := {p | input.paths[p].command == command}
}
