package sallyport.rules.network.exfiltration_test

import data.sallyport.rules.network.exfiltration as rule
import data.sallyport.testing

_piped(source, path) := testing.request([source, {"effects": ["network"], "inputs": [0]}], [path])

test_denies_credential_in_a_pipe if {
	rule.deny == {{"command": 1}} with input as _piped({}, {"zone": "credential"})
	rule.deny == {{"command": 1}} with input as _piped({}, {"zone": "system", "labels": ["auth_database"]})
}

test_denies_environment_in_a_pipe if {
	doc := _piped({"flags": ["dumps_env", "prints_secret"]}, {})
	rule.deny == {{"command": 1}} with input as doc
	rule.ask == set() with input as doc
}

test_denies_upload_of_credential if {
	doc := testing.request([{"effects": ["network"], "flags": ["uploads"]}], [{"zone": "credential"}])
	rule.deny == {{"command": 0}} with input as doc
}

test_asks_nothing_where_it_denies if {
	sent := {"effects": ["network"], "inputs": [0]}
	doc := testing.request([{}, sent], [{"zone": "credential"}, {"zone": "home"}])
	rule.deny == {{"command": 1}} with input as doc
	rule.ask == set() with input as doc
}

test_asks_for_printed_secret if {
	doc := _piped({"flags": ["prints_secret"]}, {})
	rule.ask == {{"command": 1}} with input as doc
	rule.deny == set() with input as doc
}

test_allows_client_with_its_key if {
	rule.deny == set() with input as testing.request([{"effects": ["network"]}], [{"zone": "credential"}])
}

test_allows_names_of_credentials if {
	rule.deny == set() with input as _piped({}, {"zone": "credential", "labels": ["metadata"]})
}

test_allows_other_pipes if {
	rule.deny == set() with input as _piped({}, {})
	rule.ask == set() with input as _piped({}, {})
	rule.ask == set() with input as _piped({}, {"labels": ["git_dir"]})
	rule.ask == set() with input as _piped({}, {"zone": "home", "labels": ["metadata"]})
}

test_asks_for_files_of_others if {
	doc := _piped({}, {"zone": "home"})
	rule.ask == {{"command": 1}} with input as doc
	rule.deny == set() with input as doc
	rule.ask == {{"command": 1}} with input as _piped({}, {"zone": "system", "labels": ["account_database"]})
}
