# METADATA
# title: Files or data sent away
# description: Sends a local file, or the output of another command, to another machine.
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

# Publishing has a rule of its own; a push of commits is ordinary work with git.
_meant(i) if lib.with_flag.publishes[i]

_meant(i) if lib.with_flag.dry_run[i]

_meant(i) if lib.named.git[i]

# Files that are not of the work at hand, wherever they go.
_foreign(i) if {
	some j in input.commands[i].paths
	p := input.paths[j]
	p.access == "read"
	p.source == "argument"
	p.zone in {"credential", "home", "outside", "system"}
}

_uploads contains i if {
	some i in lib.with_flag.uploads
	not _meant(i)
}

ask contains {"command": i} if {
	some i in _uploads
	not _stays(input.commands[i].hosts)
}

ask contains {"command": i} if {
	some i in _uploads
	_foreign(i)
}
