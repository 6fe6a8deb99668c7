package sallyport.rules.paths.credentials_read_test

import data.sallyport.rules.paths.credentials_read as rule
import data.sallyport.testing

_read(name, path) := testing.request([{"name": name}], [object.union({"path": "/h/k"}, path)])

test_denies_printing_a_key if {
	rule.deny == {{"path": 0, "msg": "/h/k holds credentials"}} with input as _read("cat", {"zone": "credential"})
}

test_denies_file_tools if {
	doc := testing.path({"path": "/h/k", "zone": "credential", "command": -1})
	rule.deny == {{"path": 0, "msg": "/h/k holds credentials"}} with input as doc
}

test_denies_clients_that_copy if {
	rule.deny == {{"path": 0, "msg": "/h/k holds credentials"}} with input as _read("git", {"zone": "credential"})
}

test_allows_own_keys_and_names if {
	rule.deny == set() with input as _read("ssh", {"zone": "credential", "labels": ["own_key"]})
	rule.deny == set() with input as _read("ls", {"zone": "credential", "labels": ["metadata"]})
}

test_asks_for_env_files if {
	doc := _read("cat", {"labels": ["env_file"]})
	rule.deny == set() with input as doc
	rule.ask == {{"path": 0, "msg": "/h/k may hold credentials"}} with input as doc
}

test_allows_env_files_made_here if {
	rule.ask == set() with input as _read("cat", {"labels": ["env_file"], "seen": "created"})
	rule.ask == set() with input as _read("cat", {"labels": ["env_file", "generated_here"]})
}

test_asks_for_wide_searches if {
	doc := _read("grep", {"zone": "home", "recursive": true, "labels": ["contains_credential"]})
	rule.ask == {{"path": 0, "msg": "credentials lie below /h/k"}} with input as doc
}

test_asks_for_searches_in_the_workspace if {
	finding := {"path": 0, "msg": "credentials lie below /h/k"}
	rule.ask == {finding} with input as _read("grep", {"recursive": true, "labels": ["contains_credential"]})
	rule.ask == {finding} with input as _read("tar", {"zone": "temporary", "recursive": true, "labels": ["contains_credential"]})
}

test_asks_where_too_much_lies if {
	finding := {"path": 0, "msg": "credentials may lie below /h/k, where too much lies to look at"}
	rule.ask == {finding} with input as _read("grep", {"recursive": true, "labels": ["contains_unseen"]})
	rule.ask == set() with input as _read("grep", {"zone": "system", "recursive": true, "labels": ["contains_unseen"]})
}

test_allows_searches_that_show_nothing if {
	whole := {"recursive": true, "labels": ["contains_credential"]}
	rule.ask == set() with input as _read("wc", whole)
	rule.ask == set() with input as testing.request(
		[{"name": "sed", "flags": ["in_place"]}],
		[object.union({"path": "/h/k"}, whole)],
	)
	listing := [{"name": "grep", "flags": ["lists_names"]}]
	rule.ask == set() with input as testing.request(listing, [object.union({"path": "/h/k"}, whole)])
	abroad := object.union({"path": "/h/k", "zone": "home"}, whole)
	count(rule.ask) == 1 with input as testing.request(listing, [abroad])
}

test_asks_for_each_file_that_is_measured if {
	count(rule.ask) == 1 with input as _read("wc", {"labels": ["env_file"]})
}

test_allows_plain_reads if {
	rule.ask == set() with input as _read("cat", {})
	rule.deny == set() with input as _read("cat", {})
}

test_allows_sourcing_env_files if {
	rule.ask == set() with input as _read("source", {"labels": ["env_file"]})
}

test_asks_for_histories if {
	rule.ask == {{"path": 0, "msg": "/h/k may hold secrets that were typed"}} with input as _read("cat", {"labels": ["history_file"]})
}

test_asks_for_what_a_process_holds if {
	doc := _read("cat", {"labels": ["process_memory"]})
	rule.ask == {{"path": 0, "msg": "/h/k can hold secrets of a program"}} with input as doc
}

test_denies_clients_that_copy if {
	doc := testing.request([{"name": "git", "subcommand": "add"}], [{"path": "/h/k", "zone": "credential"}])
	rule.deny == {{"path": 0, "msg": "/h/k holds credentials"}} with input as doc
}

test_allows_names_of_files_that_match if {
	doc := testing.request([{"name": "grep", "flags": ["lists_names"]}], [{"path": "/h/k", "labels": ["env_file"]}])
	rule.ask == set() with input as doc
}

test_asks_for_packed_accounts if {
	finding := {"path": 0, "msg": "/h/k lists the users of this machine"}
	rule.ask == {finding} with input as _read("zip", {"labels": ["account_database"]})
	rule.ask == set() with input as _read("cat", {"labels": ["account_database"]})
}

test_asks_for_each_packer if {
	every name in ["7z", "7za", "7zz", "age", "ccencrypt", "ccrypt", "gpg", "gpg2", "mcrypt", "openssl", "rar", "zip"] {
		count(rule.ask) == 1 with input as _read(name, {"labels": ["account_database"]})
	}
}

_labels := [
	"account_database", "contains_credential", "contains_unseen", "env_file", "history_file",
	"process_memory",
]

test_allows_other_accesses_and_names if {
	every label in _labels {
		every fields in [{"access": "write"}, {"labels": [label, "metadata"]}] {
			doc := object.union({"zone": "home", "recursive": true, "labels": [label]}, fields)
			rule.ask == set() with input as _read("zip", doc)
		}
	}
	rule.deny == set() with input as _read("cat", {"zone": "credential", "access": "write"})
}

test_asks_for_nothing_without_a_label if {
	rule.ask == set() with input as _read("zip", {"zone": "home", "recursive": true})
}

test_denies_and_does_not_ask_for_credentials if {
	every label in ["env_file", "contains_credential"] {
		rule.ask == set() with input as _read("cat", {"zone": "credential", "recursive": true, "labels": [label]})
	}
}

test_allows_searches_elsewhere if {
	rule.ask == set() with input as _read("grep", {"zone": "home", "labels": ["contains_credential"]})
	rule.ask == set() with input as _read(".", {"labels": ["env_file"]})
}

test_allows_numbers_that_stand_for_the_content if {
	tree := {"zone": "workspace", "recursive": true, "labels": ["env_file"]}
	sums := ["b2sum", "cksum", "md5sum", "sha1sum", "sha256sum", "sha512sum", "sum"]
	every name in array.concat(sums, ["cloc", "file", "tokei", "wc"]) {
		rule.ask == set() with input as _read(name, tree)
	}
	count(rule.ask) == 1 with input as _read("cat", tree)
}

test_allows_changes_of_a_tree_in_place if {
	tree := {"path": "/h/k", "recursive": true, "labels": ["env_file"]}
	rule.ask == set() with input as testing.request([{"flags": ["in_place"]}], [tree])
	one := object.union(tree, {"recursive": false})
	count(rule.ask) == 1 with input as testing.request([{"flags": ["in_place"]}], [one])
}

test_allows_counts_of_temporary_trees if {
	tree := {"zone": "temporary", "recursive": true, "labels": ["contains_credential"]}
	rule.ask == set() with input as _read("wc", tree)
	count(rule.ask) == 1 with input as _read("cat", tree)
}
