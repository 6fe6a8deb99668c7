package custom.git.push_remotes_test

import data.custom.git.push_remotes as rule
import data.sallyport.testing

_push(words, flags, targets) := testing.command({
	"name": "git", "subcommand": "push", "flags": flags, "targets": targets,
	"operands": [{"value": word, "kind": "text", "certainty": "exact"} | some word in words],
})

_remote(host) := {"kind": "remote", "host": host, "certainty": "exact"}

test_ours if rule.deny == set() with input as _push(["origin", "main"], [], [_remote("git.example.com")])

test_elsewhere if count(rule.deny) == 1 with input as _push(["x"], [], [_remote("git.elsewhere.test")])

test_proxy if count(rule.deny) == 1 with input as _push(["x"], [], [{"kind": "proxy", "host": "p.test", "certainty": "exact"}])

test_unknown if count(rule.ask) == 1 with input as _push(["x"], [], [{"kind": "remote", "host": "", "certainty": "unknown"}])

test_force[words] if {
	some words in [
		["origin", "main"], ["origin", "+HEAD:main"], ["origin", "+master"],
		["origin", "refs/heads/main"], ["origin", "+HEAD:refs/heads/main"],
	]
	count(rule.deny) == 1 with input as _push(words, ["force_push"], [_remote("git.example.com")])
}

test_force_elsewhere if rule.deny == set() with input as _push(["origin", "topic"], ["force_push"], [_remote("git.example.com")])

_on(branch, push) := object.union(push, {"git": {"branch": branch}})

test_force_of_the_branch[words] if {
	some words in [[], ["origin"]]
	count(rule.deny) == 1 with input as _on("main", _push(words, ["force_push"], []))
	rule.deny == set() with input as _on("topic", _push(words, ["force_push"], []))
	rule.deny == set() with input as _on("main", _push(words, [], []))
}

test_force_of_another_branch if {
	rule.deny == set() with input as _on("main", _push(["origin", "topic"], ["force_push"], []))
}
