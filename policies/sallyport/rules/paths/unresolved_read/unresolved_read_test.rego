package sallyport.rules.paths.unresolved_read_test

import data.sallyport.rules.paths.unresolved_read as rule
import data.sallyport.testing

_read(command, path) := testing.request([command], [object.union({"raw": "$f", "path": "", "certainty": "unknown"}, path)])

_finding := {"path": 0, "msg": "the value of $f is not known before it runs"}

test_asks_for_what_is_not_known if {
	every source in ["argument", "redirect", "code"] {
		rule.ask == {_finding} with input as _read({"name": "cat"}, {"source": source})
	}
}

test_asks_for_a_beginning_of_credentials if {
	doc := _read({"name": "cat"}, {"path": "/h/", "zone": "home", "certainty": "partial", "labels": ["contains_credential"]})
	rule.ask == {{"path": 0, "msg": "only the beginning of $f is known, and credentials begin so: /h/"}} with input as doc
}

test_allows_a_known_beginning if {
	rule.ask == set() with input as _read({"name": "cat"}, {"path": "/ws/", "certainty": "partial"})
	rule.ask == set() with input as _read({"name": "cat"}, {"path": "/ws/a", "certainty": "exact"})
	recursive := {"path": "/h/", "certainty": "partial", "recursive": true, "labels": ["contains_credential"]}
	rule.ask == set() with input as _read({"name": "cat"}, recursive)
	known := {"path": "/h/", "certainty": "exact", "labels": ["contains_credential"]}
	rule.ask == set() with input as _read({"name": "cat"}, known)
}

test_allows_what_others_judge if {
	every label in ["metadata", "plain_name"] {
		rule.ask == set() with input as _read({"name": "cat"}, {"labels": [label]})
		partial := {"certainty": "partial", "labels": [label, "contains_credential"]}
		rule.ask == set() with input as _read({"name": "cat"}, partial)
	}
	every fields in [{"access": "write"}, {"source": "script"}, {"zone": "credential"}] {
		rule.ask == set() with input as _read({"name": "cat"}, fields)
	}
	partial := {"certainty": "partial", "labels": ["contains_credential"]}
	every fields in [{"access": "write"}, {"source": "script"}, {"zone": "credential"}] {
		rule.ask == set() with input as _read({"name": "cat"}, object.union(partial, fields))
	}
	every fields in [{"flags": ["in_place"]}, {"script": "./x.sh"}] {
		rule.ask == set() with input as _read(object.union({"name": "sed"}, fields), {})
		rule.ask == set() with input as _read(object.union({"name": "sed"}, fields), partial)
	}
}

test_asks_where_the_text_itself_reads if {
	every source in ["redirect", "code"] {
		rule.ask == {_finding} with input as testing.judged(_read({"name": "cat"}, {"source": source}))
	}
	rule.ask == set() with input as testing.judged(_read({"name": "cat"}, {"source": "argument"}))
}

test_leaves_the_text_of_a_program_to_the_environment if {
	started := {"request": {"tool": "program"}}
	doc := object.union(_read({"name": "cat"}, {"source": "redirect"}), started)
	rule.ask == {_finding} with input as doc
	rule.ask == set() with input as testing.judged(doc)
}
