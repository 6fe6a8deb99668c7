# METADATA
# title: Shared sets of facts
# description: |
#   What rules ask of the input, computed once for each request. Sets of commands hold
#   indexes into input.commands, sets of paths hold indexes into input.paths.
#
#   A key that nothing has is undefined, so a rule that looks it up is silent, as it
#   should be. For the same reason never subtract such a set: x - undefined is undefined
#   too, and the rule would be silent where it must speak. Write `not i in lib.with_flag.f`.
package sallyport.lib

# Commands that stand in the text itself, not in a script file that it runs.
in_text := {i |
	some i, command in input.commands
	command.script == ""
}

# Commands by what they are and do: lib.with_flag.recursive is the set of commands with that flag.

with_flag[flag] contains i if {
	some i, command in input.commands
	some flag in command.flags
}

with_effect[effect] contains i if {
	some i, command in input.commands
	some effect in command.effects
}

named[name] contains i if {
	some i, command in input.commands
	name := command.name
}

# Commands that run with other rights: under sudo, su, doas, …
elevated := {i |
	some i, command in input.commands
	command.elevated
}

# Paths by access.

reads := {p |
	some p, path in input.paths
	path.access == "read"
}

writes := {p |
	some p, path in input.paths
	path.access == "write"
}

deletes := {p |
	some p, path in input.paths
	path.access == "delete"
}

executes := {p |
	some p, path in input.paths
	path.access == "execute"
}

# What is there before is not there afterwards, or is not what it was.
changes := writes | deletes

# Paths whose access reaches everything below them.
recursive := {p |
	some p, path in input.paths
	path.recursive
}

# Paths by the place they lead to.

with_label[label] contains p if {
	some p, path in input.paths
	some label in path.labels
}

in_zone[zone] contains p if {
	some p, path in input.paths
	zone := path.zone
}

# The paths of a command, by access: lib.targets[i].delete is the set of paths that command i
# deletes. A file tool's paths are those of command -1.
targets[command][access] contains p if {
	some p, path in input.paths
	command := path.command
	access := path.access
}
