# METADATA
# title: Commands on another machine
# description: >-
#   Runs commands where neither the path permissions nor the environment of this gate reach. Their readable
#   parts are judged by all other rules too.
# custom:
#   severity: high
#   remediation: Do the work here, or ask the operator for a runner on that machine.
#   examples:
#     - ssh build.example.com make
#     - kubectl exec pod -- ls /
#   lookalikes:
#     - docker ps
#     - ssh-keygen -lf key.pub
#     - git push origin main
package sallyport.rules.network.remote_exec

import data.sallyport.lib

# A container on this machine is an environment of its own, and everyday work.
_local := {"docker", "docker-compose", "nerdctl", "podman", "podman-compose"}

ask contains {"command": i} if {
	some i in lib.with_flag.remote_exec
	not input.commands[i].name in _local
}

warn contains {"command": i} if {
	some i in lib.with_flag.remote_exec
	input.commands[i].name in _local
}
