# Functions for rules of your own: docs/writing-policies.md has examples. They
# compare words and never take one apart; the meaning of words is in the input. A function costs nothing
# where it is not called, and the built-in rules, which must be fast, look into the sets instead.

package sallyport.lib

import data.sallyport.config

# Commands with one of these names, by index: some i, c in lib.commands({"npm", "yarn"}).
commands(names) := {i: input.commands[i] |
	some name in names
	some i in named[name]
}

# Commands with unknown words: their effects are a guess.
uncertain := {i | some i, c in input.commands; c.certainty != "exact"}

# An option is given, as a word of its own or with = behind it: lib.has_option(c, {"-i", "--index-url"}). What an
# option means is better asked of c.flags: there it has one name for all spellings of all commands.
has_option(command, names) if {
	some word in command.argv
	_is_option(word, names)
}

_is_option(word, names) if word in names

_is_option(word, names) if {
	some name in names
	startswith(word, concat("", [name, "="]))
}

# The values that an option is given, however they are written: -o out, --output=out, -oout. Of commands that are not
# known only those behind = are: lib.option_values(c, {"-i", "--index-url"}). A value that is not wholly known is "".
option_values(command, names) := {value |
	some option in command.options
	option.name in names
	value := _known(option)
}

_known(option) := option.value if option.certainty == "exact"

_known(option) := "" if option.certainty != "exact"

# Wherever an option is given, it has one of these values. An option that is not given has no other.
option_only(command, names, values) if {
	every value in option_values(command, names) {
		value in values
	}
	every i, word in command.argv {
		_has_value(command.argv, i, word, names, values)
	}
}

_has_value(_, _, word, names, _) if not _is_option(word, names)

_has_value(argv, i, word, names, values) if {
	word in names
	argv[i + 1] in values
}

_has_value(_, _, word, names, values) if {
	some name in names
	some value in values
	word == concat("=", [name, value])
}

# A host is one of these domains, or below one.
within_domains(host, domains) if host in domains

within_domains(host, domains) if {
	some domain in domains
	endswith(host, concat("", [".", domain]))
}

# Paths with one of these accesses, by index: some p, path in lib.paths({"write", "delete"}).
paths(accesses) := {p: input.paths[p] |
	some access in accesses
	some p in with_access[access]
}

# Those of them in one of these zones.
paths_in(accesses, zones) := {p: path |
	some p, path in paths(accesses)
	path.zone in zones
}

# The paths of a command, by index.
paths_of(i) := {p: input.paths[p] | some p in input.commands[i].paths}

# A path leads into a directory, which is absolute and has no slash at its end. A path that is not wholly
# known may lead anywhere: it lies within nothing.
within(path, root) if {
	path.certainty == "exact"
	_below(path.real, root)
}

_below(path, root) if path == root

_below(path, root) if startswith(path, concat("", [root, "/"]))

# A path leads into a directory of the workspace: lib.within_workspace(path, "src").
within_workspace(path, dir) if {
	config.workspace != ""
	within(path, concat("/", [config.workspace, dir]))
}

# The commands of the pipeline in which command i stands, itself included.
pipeline(i) := {j: command |
	some j, command in input.commands
	command.pipeline.id == input.commands[i].pipeline.id
}

# Commands whose output reaches command i, and commands that its output reaches.
upstream(i) := {j | some j in input.commands[i].inputs}

downstream(i) := {j | some j, command in input.commands; i in command.inputs}

# How many there are, for packages that define a count of their own.
size(collection) := count(collection)
