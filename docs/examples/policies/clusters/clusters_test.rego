package custom.kube.clusters_test

import data.custom.kube.clusters as rule
import data.sallyport.testing

_ours := {"context": "staging", "cluster": "small", "server": "stage.example.com", "namespace": "shop", "user": "agent"}

_kube(fields) := {part: {"value": value, "certainty": "exact"} |
	some part, value in object.union(_ours, fields)
}

_delete(choices) := testing.command({"name": "kubectl", "subcommand": "delete", "kube": choices})

test_ours if count(rule.deny | rule.ask) == 0 with input as _delete([_kube({})])

test_not_ours[part] if {
	some part, _ in _ours
	count(rule.deny) == 1 with input as _delete([_kube({part: "other"})])
}

test_one_of_several if count(rule.deny) == 1 with input as _delete([_kube({}), _kube({"context": "production"})])

test_unknown[part] if {
	some part, _ in _ours
	k := object.union(_kube({}), {part: {"value": "", "certainty": "unknown"}})
	count(rule.ask) == 1 with input as _delete([k])
}

test_reads if {
	get := testing.command({"name": "kubectl", "subcommand": "get", "kube": [_kube({"context": "production"})]})
	count(rule.deny | rule.ask) == 0 with input as get
}

test_other_programs if count(rule.deny | rule.ask) == 0 with input as testing.command({"name": "ls"})
