package custom.git.no_push_to_main_test

import data.custom.git.no_push_to_main as rule
import data.sallyport.testing

_push(words) := testing.command({
	"name": "git",
	"subcommand": "push",
	"argv": array.concat(["git", "push"], words),
	"operands": [{"value": word, "kind": "text", "certainty": "exact"} | some word in words; not startswith(word, "-")],
})

test_denied[words] if {
	some words in [
		["origin", "main"], ["origin", "x", "HEAD:main"], ["origin", "+master"],
		["origin", "x:refs/heads/production"], ["origin", "HEAD:master"], ["--mirror"], ["--all"],
	]
	count(rule.deny) == 1 with input as _push(words)
}

test_asked[words] if {
	some words in [[], ["origin"], ["-u", "origin"]]
	count(rule.ask) == 1 with input as _push(words)
	count(rule.deny) == 0 with input as _push(words)
}

test_left_alone[words] if {
	some words in [["origin", "feature"], ["-u", "origin", "main:feature"], ["origin", "domain"]]
	count(rule.ask | rule.deny) == 0 with input as _push(words)
}

test_other_commands if {
	count(rule.ask | rule.deny) == 0 with input as testing.command({"name": "git", "subcommand": "pull", "argv": ["git", "pull", "origin", "main"]})
}
