package sallyport.rules.system.scheduled_jobs_test

import data.sallyport.rules.system.scheduled_jobs as rule
import data.sallyport.testing

_cron(access) := testing.path({"path": "/etc/cron.d/x", "access": access, "labels": ["cron"]})

test_denies_crontab if {
	doc := testing.request([{"flags": ["cron_edit", "scheduled"]}], [{"access": "write", "labels": ["cron"]}])
	rule.deny == {{"command": 0}} with input as doc
	rule.ask == set() with input as doc
}

test_denies_cron_files if {
	rule.deny == {{"path": 0, "msg": "/etc/cron.d/x starts programs later"}} with input as _cron("write")
	rule.deny == {{"path": 0, "msg": "/etc/cron.d/x starts programs later"}} with input as _cron("delete")
}

test_asks_for_at if {
	rule.ask == {{"command": 0}} with input as testing.command({"flags": ["scheduled"]})
}

test_allows_reading if {
	rule.deny == set() with input as _cron("read")
	rule.ask == set() with input as _cron("read")
}
