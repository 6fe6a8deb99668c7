# METADATA
# title: The decision
# description: |
#   Collects what the rules find and makes one decision of it: deny beats ask beats allow.
#   Built-in rules are all packages sallyport.rules.<category>.<rule>. Custom rules come
#   through sallyport.registry, a module that the engine writes from the packages below
#   custom that it has loaded: package names of any depth, each named there once.
#
#   allow is never a default. It needs an input of the known shape and no reason against it.
package sallyport.main

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
	count(_evaluated) > 0
	input.version == 1
	is_string(input.request.command)
	is_string(input.runner.isolation)
	is_boolean(input.shell.parsed)
	is_array(input.commands)
	is_array(input.paths)
}

_reasons contains {"rule": id, "effect": effect, "finding": finding} if {
	some effect_of_rule, findings_of in _found
	some [category, id], findings in findings_of
	some finding in findings
	effect := _applied(_setting(category, id).level, effect_of_rule)
	not _exempted(id, finding)
}

# All that the rules find, by effect and rule, before levels and exemptions.
_found := {
	"deny": object.union(_denies, {["custom", id]: f | some id, f in data.sallyport.registry.deny}),
	"ask": object.union(_asks, {["custom", id]: f | some id, f in data.sallyport.registry.ask}),
	"warn": object.union(_warns, {["custom", id]: f | some id, f in data.sallyport.registry.warn}),
}

_denies := {[category, $"{category}/{name}"]: findings |
	some category, name
	findings := data.sallyport.rules[category][name].deny
}

_asks := {[category, $"{category}/{name}"]: findings |
	some category, name
	findings := data.sallyport.rules[category][name].ask
}

_warns := {[category, $"{category}/{name}"]: findings |
	some category, name
	findings := data.sallyport.rules[category][name].warn
}

_evaluated := {id |
	some findings_of in _found
	some [_, id], _ in findings_of
}

# What is set for a rule, and where: the operator's level for it, then the profile's for the
# rule, for its category and for all. A rule for which nothing is set decides by itself.
_setting(category, id) := {"level": level, "from": "config"} if {
	level := data.sallyport.config.levels[id]
} else := {"level": level, "from": "profile rule"} if {
	level := _profile.rules[id]
} else := {"level": level, "from": "profile category"} if {
	level := _profile.categories[category]
} else := {"level": level, "from": "profile default"} if {
	level := _profile["default"]
} else := {"level": "own", "from": "rule"}

_profile := data.sallyport.profiles[data.sallyport.config.profile]

# What level makes of a finding. An unknown level changes nothing: it must not silence a rule.
_applied(level, effect) := effect if not level in {"off", "warn", "ask", "deny"}

_applied(level, _) := level if level in {"warn", "ask", "deny"}

# An exemption takes away what its rule finds on the commands that it matches, and nothing else.
_exempted(id, finding) if {
	some exemption in input.commands[_command(finding)].matches.exempt
	data.sallyport.config.exemptions[exemption].rule == id
}

_command(finding) := finding.command

_command(finding) := input.paths[finding.path].command if not finding.command

# METADATA
# entrypoint: true
# description: Each rule with what is set for it and what it finds, for `check --explain`.
explanation[id] := {"setting": _setting(category, id), "found": found, "exempted": exempted} if {
	some findings_of in _found
	some [category, id], _ in findings_of
	found := {effect: findings |
		some effect, by_rule in _found
		findings := by_rule[[category, id]]
	}
	exempted := {finding |
		some finding in found[_]
		_exempted(id, finding)
	}
}

# METADATA
# entrypoint: true
# description: What is set for each rule. It does not depend on the input.
settings[id] := _setting(category, id) if {
	some findings_of in _found
	some [category, id], _ in findings_of
}
