# METADATA
# title: Delete request to a server
# description: An HTTP request with the method DELETE to another machine. To a server on this machine it is said, not asked about.
# custom:
#   severity: medium
#   remediation: Read the resource first (the same request with GET), and let a person delete it.
#   examples:
#     - curl -X DELETE https://search.example.com/_all
#     - curl --request DELETE https://api.example.com/v1/projects/42
#     - curl -X POST https://ci.example.com/job/deploy/doDelete
#   lookalikes:
#     - curl -X GET https://search.example.com/_all
#     - curl -X POST https://api.example.com/v1/projects
package sallyport.rules.network.http_delete

import data.sallyport.lib

_here := {"localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"}

_stays(hosts) if {
	count(hosts) > 0
	every host in hosts {
		host in _here
	}
}

ask contains {"command": i} if {
	some i in lib.with_flag.http_delete
	not _stays(input.commands[i].hosts)
}

warn contains {"command": i} if {
	some i in lib.with_flag.http_delete
	_stays(input.commands[i].hosts)
}
