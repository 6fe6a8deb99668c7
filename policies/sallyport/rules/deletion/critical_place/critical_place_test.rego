package sallyport.rules.deletion.critical_place_test

import data.sallyport.rules.deletion.critical_place as rule
import data.sallyport.testing

_delete(fields) := testing.path(object.union({"access": "delete", "path": "/ws/p"}, fields))

test_denies_history if {
	doc := _delete({"recursive": true, "labels": ["contains_git", "git_dir"]})
	rule.deny == {{"path": 0, "msg": "/ws/p holds a repository's history"}} with input as doc
	rule.ask == set() with input as doc
}

test_allows_a_single_file_of_git if {
	rule.deny == set() with input as _delete({"labels": ["git_dir"]})
}

test_denies_environment_files if {
	rule.deny == {{"path": 0, "msg": "/ws/p cannot be made again"}} with input as _delete({"labels": ["env_file"]})
}

test_allows_what_the_session_made if {
	rule.deny == set() with input as _delete({"labels": ["env_file"], "seen": "created"})
	rule.deny == set() with input as _delete({"labels": ["env_file", "generated_here"]})
}

test_asks_for_a_directory_with_a_repository if {
	doc := _delete({"recursive": true, "labels": ["contains_git"]})
	rule.ask == {{"path": 0, "msg": "a repository lies below /ws/p"}} with input as doc
	rule.deny == set() with input as doc
}

test_allows_temporary_and_generated_places if {
	rule.ask == set() with input as _delete({"labels": ["contains_git"], "zone": "temporary"})
	rule.ask == set() with input as _delete({"labels": ["contains_git"], "generated": true})
}

test_asks_for_a_repository_that_a_search_picks_out if {
	rule.ask == {{"path": 0, "msg": "a repository lies below /ws/p"}} with input as _delete({"recursive": true, "labels": ["contains_git", "filtered"]})
}

test_allows_history_in_temporary_and_generated_places if {
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["git_dir"], "zone": "temporary"})
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["git_dir"], "generated": true})
}

test_allows_reading_history if {
	rule.deny == set() with input as _delete({"recursive": true, "labels": ["git_dir"], "access": "read"})
}

test_allows_environment_files_that_are_not_there_or_not_known if {
	rule.deny == set() with input as _delete({"labels": ["env_file"], "exists": false})
	rule.deny == set() with input as _delete({"labels": ["env_file"], "certainty": "partial"})
}
