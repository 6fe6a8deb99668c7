# METADATA
# title: The decision
# description: |
#   Collects the findings of the rules and makes one decision: deny beats ask beats allow.
#
#   It reaches rules through data.sallyport.registry, a module that the engine writes: the sets
#   deny, ask and warn of every rule by the rule's id, and the level that the configuration and
#   its profile give it. A rule that is off is not there. That gives custom packages any depth,
#   and keeps them from taking the place of a built-in rule. Without a registry nothing is allowed.
#
#   Most sets hold nothing unless some fact is there: a flag of a command, a label of a path, …
#   The registry has them below that fact, and registry.concerned lists the sets whose fact is there: only
#   rules that a request concerns cost time. The others are in registry.always, and in
#   registry.optional, a list of more of the same.
#
#   allow is never a default. It needs an input of the known shape and no reason against it.
package sallyport.main

import data.sallyport.config
import data.sallyport.lib
import data.sallyport.registry

# METADATA
# entrypoint: true
decision := {
	"version": 1,
	"effect": _effect,
	"reasons": _reasons,
	"evaluated": _evaluated,
}

default _effect := "deny"

_effect := "ask" if {
	_complete
	"ask" in _effects
	not "deny" in _effects
}

_effect := "allow" if {
	_complete
	not "ask" in _effects
	not "deny" in _effects
}

_effects := {reason.effect | some reason in _reasons}

# There are rules, and the input has the parts that they read. Its inner shape is the engine's
# promise: it is encoded from Go structs that have no optional fields.
_complete if {
	_evaluated != ""
	input.version == 1
	is_string(input.request.command)
	is_string(input.runner.isolation)
	is_boolean(input.runner.elevated)
	is_boolean(input.shell.parsed)
	is_string(input.shell.error)
	is_array(input.commands)
	is_array(input.paths)
}

_reasons contains {"rule": id, "effect": effect, "finding": finding} if {
	some found_as, id, finding
	_found[_][found_as][id][finding]
	effect := _applied(_level(id), found_as)
	not _exempted(id, finding)
	not _deferred(finding)
}

# All that the rules find, before levels and exemptions.
_found := array.concat(array.concat([registry.always], registry.optional), registry.concerned)

# A rule is evaluated if its sets are, or if the facts that they need were looked up. A digest stands for the
# evaluated rules: a list of them takes as long as asking most of them.
default _evaluated := ""

_evaluated := registry.digest if {
	registry.always
	registry.optional
	registry.concerned
}

# A rule without a level decides by itself.
_level(id) := registry.level[id]

_level(id) := "own" if not registry.level[id]

# The effect of a finding under a level. An unknown level changes nothing: it must not silence a rule.
_applied(level, effect) := effect if not level in {"off", "warn", "ask", "deny"}

_applied(level, _) := level if level in {"warn", "ask", "deny"}

# An exemption drops the findings of its rule about the commands that it matches, and nothing else.
_exempted(id, finding) if {
	some exemption in input.commands[_command(finding)].matches.exempt
	config.exemptions[exemption].rule == id
}

# The commands that a program would start are judged by themselves when they start.
_deferred(finding) if {
	lib.started
	c := input.commands[_command(finding)]
	_below(c)
	not lib.with_flag.in_process
	not c.elevated
	not _signals(c)
	not _by_interpreter(finding, c)
}

# A shell sends signals by itself. Code of another language does so by a function, which stands here as kill
# with "--"; it starts a program for any other kill.
_signals(c) if {
	c.name == "kill"
	not input.commands[0].code.language in {"awk", "lua", "native", "node", "perl", "php", "python", "r", "ruby"}
}

_signals(c) if {
	c.name == "kill"
	"--" in c.argv
}

_below(c) if c.script != ""

_below(c) if count(c.via) > 0

# The interpreter of the code opens the file by itself: a redirect, or a function of its language.
_by_interpreter(finding, _) if input.paths[finding.path].source != "argument"

_by_interpreter(_, c) if {
	some p in c.paths
	input.paths[p].source == "code"
}

_command(finding) := finding.command

_command(finding) := input.paths[finding.path].command if not finding.command

# METADATA
# entrypoint: true
# description: The findings of each rule, and the exempted ones, for `check --explain`.
explanation[id] := {"found": found, "exempted": exempted} if {
	_evaluated != ""
	some id in registry.rules
	found := {effect: findings | some effect; findings := _found[_][effect][id]}
	exempted := {[effect, finding] | found[effect][finding]; _exempted(id, finding)}
}
