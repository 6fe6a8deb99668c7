package custom.sessions.read_only_test

import data.custom.sessions.read_only as rule
import data.sallyport.testing

_in(session, request) := object.union(request, {"subject": {"session": session}})

_findings(session, request) := found if {
	found := [count(rule.deny), count(rule.ask)] with input as _in(session, request)
}

test_writing if {
	_findings("review-1", testing.path({"access": "write"})) == [1, 0]
	_findings("work-1", testing.path({"access": "write"})) == [0, 0]
}

test_reading if _findings("review-1", testing.path({"access": "read"})) == [0, 0]

test_nowhere if _findings("review-1", testing.path({"access": "write", "labels": ["null_device"]})) == [0, 0]

test_system if _findings("review-1", testing.command({"effects": ["system"]})) == [1, 0]

test_uploads if _findings("review-1", testing.command({"flags": ["uploads"]})) == [1, 0]

test_what_is_not_known if {
	_findings("review-1", testing.command({"known": false})) == [0, 1]
	_findings("review-1", testing.command({"name": "", "certainty": "unknown"})) == [0, 1]
}
