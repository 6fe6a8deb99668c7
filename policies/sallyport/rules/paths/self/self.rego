# METADATA
# title: Change of sallyport itself
# description: >-
#   Changes, moves or deletes sallyport's own program, configuration, policies or audit log, speaks to its
#   processes by their sockets, or starts an agent with variables by which its hooks find another
#   configuration. Files may be read: an agent may know the rules it lives by.
# custom:
#   severity: critical
#   remediation: Ask the operator to change the configuration or the policies.
#   examples:
#     - rm -f {home}/.config/sallyport/config.yaml
#     - 'echo "mode: monitor" > {home}/.config/sallyport/config.yaml'
#     - mv {home}/.config/sallyport old
#     - nc -U {home}/.local/state/sallyport/resident/1.sock
#     - curl --unix-socket {home}/.local/state/sallyport/resident/1.sock http://localhost/
#     - node -e 'require("net").connect("{home}/.local/state/sallyport/resident/1.sock")'
#     - ssh -R 8080:{home}/.local/state/sallyport/resident/1.sock h.example
#     - tmux set-environment -g SALLYPORT_CONFIG /tmp/x
#     - export SALLYPORT_WRAP=127.0.0.1:9/x; claude -p hi
#     - HOME=/tmp/x claude -p hi
#     - env XDG_CONFIG_HOME=/tmp/x codex exec hi
#   lookalikes:
#     - cat {home}/.config/sallyport/config.yaml
#     - echo sallyport > notes.txt
#     - ls -l {home}/.local/state/sallyport/resident
#     - HOME=/tmp/x pip install requests
#     - export XDG_CONFIG_HOME=/tmp/x; npm test
#     - HOME=/tmp/x claude --version
#     - tmux set-environment -g EDITOR vim
package sallyport.rules.paths.self

import data.sallyport.lib

_changing := {"write", "delete"}

deny contains {"path": i, "msg": $"{p.path} belongs to sallyport"} if {
	some i in lib.in_zone.self
	p := input.paths[i]
	p.access in _changing
}

deny contains {"path": i, "msg": $"files of sallyport lie below {p.path}"} if {
	some i in lib.with_label.contains_self
	p := input.paths[i]
	p.zone != "self"
	p.access in _changing
}

deny contains {"command": i, "msg": "this changes the settings of sallyport itself"} if {
	some i in lib.with_flag.self_control
}

# These processes answer hooks, and take answers to questions of policies.
deny contains {"path": i, "msg": $"{input.paths[i].path} is a socket of sallyport itself"} if {
	some i in lib.with_label.self_socket
	input.paths[i].access in {"read", "execute"}
	not lib.with_label.metadata[i]
}

# The key of the audit log can sign another history, and a token can impersonate this machine.
deny contains {"path": i, "msg": $"{input.paths[i].path} is a key of sallyport itself"} if {
	some i in lib.with_label.self_key
	input.paths[i].access == "read"
}
