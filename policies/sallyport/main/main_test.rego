package sallyport.main_test

import data.sallyport.main

_input := {
	"version": 1,
	"request": {"command": "x"},
	"runner": {"isolation": "none", "elevated": false},
	"shell": {"parsed": true, "error": ""},
	"commands": [
		{"matches": {"exempt": []}},
		{"matches": {"exempt": [1]}},
	],
	"paths": [{"command": 0}, {"command": 1}, {"command": -1}],
}

# A registry of three rules with the given findings, and a rule that finds nothing.
_registry(deny, ask, warn) := {
	"always": {
		"deny": {"x/one": deny, "x/silent": set()},
		"ask": {"x/one": ask},
		"warn": {"x/one": warn},
	},
	"optional": [],
	"rules": {"x/one", "x/silent"},
	"digest": "x/one x/silent",
	"concerned": [],
	"level": {},
}

_config := {"exemptions": [{"rule": "x/other"}, {"rule": "x/one"}]}

_decide(registry, config) := decision if {
	decision := main.decision with input as _input
		with data.sallyport.registry as registry
		with data.sallyport.config as config
}

_effect(deny, ask, warn) := _decide(_registry(deny, ask, warn), _config).effect

# The same registry with a level for one rule.
_at(registry, id, level) := object.union(registry, {"level": {id: level}})

_f := {{"command": 0}}

test_nothing_found_allows if {
	_decide(_registry(set(), set(), set()), _config) == {
		"version": 1,
		"effect": "allow",
		"reasons": set(),
		"evaluated": "x/one x/silent",
	}
}

test_deny_beats_ask_beats_allow if {
	_effect(_f, _f, _f) == "deny"
	_effect(_f, set(), set()) == "deny"
	_effect(set(), _f, _f) == "ask"
	_effect(set(), set(), _f) == "allow"
}

test_reasons_keep_their_effects if {
	_decide(_registry({{}}, _f, {{"path": 0, "msg": "m"}}), _config).reasons == {
		{"rule": "x/one", "effect": "deny", "finding": {}},
		{"rule": "x/one", "effect": "ask", "finding": {"command": 0}},
		{"rule": "x/one", "effect": "warn", "finding": {"path": 0, "msg": "m"}},
	}
}

test_levels_change_effects if {
	every level, effect in {"off": "allow", "warn": "allow", "ask": "ask", "deny": "deny", "own": "ask", "nonsense": "ask"} {
		_decide(_at(_registry(set(), _f, set()), "x/one", level), _config).effect == effect
	}
}

test_a_finding_that_is_only_warned_of_stays_a_reason if {
	warned := {{"rule": "x/one", "effect": "warn", "finding": {"command": 0}}}
	_decide(_at(_registry(set(), _f, set()), "x/one", "warn"), _config).reasons == warned
}

test_a_level_holds_for_its_rule_only if {
	_decide(_at(_registry(_f, set(), set()), "x/silent", "off"), _config).effect == "deny"
}

test_no_configuration_silences_nothing if {
	_decide(_registry(_f, set(), set()), {}).effect == "deny"
}

test_an_exemption_holds_for_its_command_and_rule_only if {
	_effect({{"command": 1}}, set(), set()) == "allow"
	_effect({{"path": 1}}, set(), set()) == "allow"
	_effect({{"command": 0}}, set(), set()) == "deny"
	_effect({{"path": 0}}, set(), set()) == "deny"
	_effect({{"command": 0, "path": 1}}, set(), set()) == "deny"
	_effect({{"path": 2}}, set(), set()) == "deny"
	_effect({{}}, set(), set()) == "deny"
	_effect({{"command": 1}, {"command": 0}}, set(), set()) == "deny"
	other := object.union(_config, {"exemptions": [{"rule": "x/one"}, {"rule": "x/other"}]})
	_decide(_registry({{"command": 1}}, set(), set()), other).effect == "deny"
}

test_a_custom_rule_adds_and_never_removes if {
	custom := object.union(_registry(set(), set(), set()), {"always": {"deny": {"custom/a": _f}}})
	_decide(custom, _config).effect == "deny"
	hopeful := object.union(_registry(_f, set(), set()), {"always": {"deny": {"custom/a": set()}}})
	_decide(hopeful, _config).effect == "deny"
}

# The required fields of an input: if one is missing or has another type, nothing is allowed.
test_a_damaged_input_is_never_allowed if {
	damage := [
		{"op": "replace", "path": "/version", "value": 2},
		{"op": "replace", "path": "/version", "value": "1"},
		{"op": "remove", "path": "/version"},
		{"op": "remove", "path": "/request"},
		{"op": "remove", "path": "/runner"},
		{"op": "remove", "path": "/runner/elevated"},
		{"op": "remove", "path": "/runner/isolation"},
		{"op": "remove", "path": "/shell"},
		{"op": "remove", "path": "/shell/error"},
		{"op": "replace", "path": "/shell/parsed", "value": "true"},
		{"op": "remove", "path": "/commands"},
		{"op": "replace", "path": "/commands", "value": null},
		{"op": "replace", "path": "/commands", "value": {}},
		{"op": "remove", "path": "/paths"},
		{"op": "replace", "path": "/paths", "value": 7},
	]
	every patch in damage {
		decision := main.decision with input as json.patch(_input, [patch])
			with data.sallyport.registry as _registry(set(), set(), set())
			with data.sallyport.config as _config
		decision.effect == "deny"
		asking := main.decision with input as json.patch(_input, [patch])
			with data.sallyport.registry as _registry(set(), {{}}, set())
			with data.sallyport.config as _config
		asking.effect == "deny"
	}
}

test_no_input_is_never_allowed if {
	every nothing in [{}, null, [], "ls", 1] {
		decision := main.decision with input as nothing
			with data.sallyport.registry as _registry(set(), set(), set())
			with data.sallyport.config as _config
		decision.effect == "deny"
	}
}

test_no_rules_is_never_allowed if {
	registry := object.union(_registry(set(), set(), set()), {"rules": set(), "digest": ""})
	_decide(registry, _config).effect == "deny"
}

# A rule that waits for a fact speaks when the fact is there, beside the others and once.
test_a_rule_that_waits_is_heard if {
	concerned := [{"deny": {"x/waits": _f}}, {"deny": {"x/waits": _f}}]
	registry := _registry(set(), _f, set())
	_decide(registry, _config).effect == "ask"
	decision := _decide(object.union(registry, {"concerned": concerned}), _config)
	decision.effect == "deny"
	{reason | some reason in decision.reasons; reason.rule == "x/waits"} == {{"rule": "x/waits", "effect": "deny", "finding": {"command": 0}}}
}

test_optional_rules_are_heard if {
	optional := [{"ask": {"x/silent": _f}}, {"deny": {"x/more": _f}}]
	decision := _decide(object.union(_registry(set(), set(), set()), {"optional": optional}), _config)
	decision.effect == "deny"
	count(decision.reasons) == 2
}

test_without_a_part_of_the_registry_nothing_is_allowed if {
	every part in ["always", "optional", "concerned", "digest"] {
		_decide(object.remove(_registry(set(), set(), set()), [part]), _config).effect == "deny"
	}
}

test_without_a_registry_nothing_is_allowed if {
	decision := main.decision with input as _input
		with data.sallyport.registry as {}
		with data.sallyport.config as _config
	decision.effect == "deny"
}

test_explanation_shows_what_was_found_and_set if {
	explanation := main.explanation with input as _input
		with data.sallyport.registry as _at(_registry({{"command": 1}, {"command": 0}}, set(), set()), "x/silent", "warn")
		with data.sallyport.config as _config
	explanation["x/one"] == {
		"found": {"deny": {{"command": 1}, {"command": 0}}, "ask": set(), "warn": set()},
		"exempted": {["deny", {"command": 1}]},
	}
	explanation["x/silent"] == {"found": {"deny": set()}, "exempted": set()}
	unknown := main.explanation with input as _input
		with data.sallyport.registry as object.remove(_registry(_f, set(), set()), ["digest"])
		with data.sallyport.config as _config
	unknown == {}
}

# A program that a command started, with one command below it and a path of that.
_program(source) := object.union(_input, {
	"request": {"tool": "program"},
	"commands": [{
		"name": "cat", "via": ["python -c"], "script": "", "elevated": false, "flags": [],
		"paths": [0], "matches": {"exempt": []},
	}],
	"paths": [{"command": 0, "source": source}],
})

_below(source) := effect if {
	effect := main.decision.effect with input as _program(source)
		with data.sallyport.registry as _registry(_f, set(), set())
		with data.sallyport.config as _config
}

test_leaves_a_command_below_a_program_to_its_start if _below("argument") == "allow"

test_judges_a_file_that_code_opens_in_a_program if _below("code") == "deny"

# A command below code of a language.
_of_code(name, argv, language) := effect if {
	program := object.union(_program("argument"), {"commands": [{
		"name": name, "argv": argv, "via": ["code"], "script": "", "elevated": false, "flags": [],
		"paths": [0], "matches": {"exempt": []}, "code": {"language": language},
	}]})
	effect := main.decision.effect with input as program
		with data.sallyport.registry as _registry(_f, set(), set())
		with data.sallyport.config as _config
}

_languages := {"awk", "lua", "native", "node", "perl", "php", "python", "r", "ruby"}

test_leaves_a_kill_of_code_to_its_start if {
	every language in _languages { _of_code("kill", ["kill", "-9", "1"], language) == "allow" }
}

test_judges_a_signal_that_code_sends if {
	every language in _languages { _of_code("kill", ["kill", "-9", "--", "1"], language) == "deny" }
}

test_judges_a_signal_that_a_shell_sends if _of_code("kill", ["kill", "-9", "1"], "bash") == "deny"

test_leaves_other_words_behind_dashes_to_their_start if _of_code("rm", ["rm", "--", "x"], "python") == "allow"
