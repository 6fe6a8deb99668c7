# METADATA
# title: Interpreter without a program
# description: >-
#   Starts a shell or an interpreter that waits for commands. There is nobody to type them, and if there were, they
#   would not pass the gate.
# custom:
#   severity: medium
#   remediation: Give the interpreter its program, for example bash -c 'ls' or python3 script.py.
#   examples:
#     - bash -i
#     - taskset 1 /bin/sh
#     - script -qc /bin/sh /dev/null
#   lookalikes:
#     - bash -c 'ls -l'
#     - bash --version
#     - python3 --version
#     - echo 'print(1)' | python3
#     - node --test
package sallyport.rules.shell.interactive_shell

import data.sallyport.lib

_session contains i if {
	some i in lib.code_from.session
	i in lib.in_text
	not lib.started
}

deny contains {"command": i} if {
	some i in _session
	input.commands[i].elevated
}

ask contains {"command": i} if {
	some i in _session
	not input.commands[i].elevated
}
