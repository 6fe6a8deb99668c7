# METADATA
# title: Shell started by an editor, pager or other tool
# description: >-
#   An editor, archiver, pager or build tool is told by an option to start a shell or another program. That is
#   how commands are run past guards that look at names.
# custom:
#   severity: high
#   remediation: Run the inner command directly, so that it can be judged.
#   examples:
#     - vim -c ':!sh'
#     - tar cf x.tar x --checkpoint=1 --checkpoint-action=exec=sh
#     - awk 'BEGIN {system("/bin/sh")}'
#     - find . -exec /bin/sh \; -quit
#     - some-runner /bin/sh
#   lookalikes:
#     - tar czf x.tar.gz src
#     - awk '{print $1}' data.txt
#     - find . -name '*.py' -exec wc -l {} +
package sallyport.rules.shell.escape

import data.sallyport.lib

# Interpreters that take their program from elsewhere: the command that calls them is no ordinary carrier.
_shells := {"bash", "sh"}

deny contains {"command": i} if {
	some i in lib.with_flag.escape
	not lib.started
}

# A shell that waits for commands inside a program that runs others: find -exec sh, awk system("sh").
deny contains {"command": i} if {
	some i in lib.code_from.session
	c := input.commands[i]
	c.code.language in _shells
	some carrier in c.via
	carrier in _carriers
}

_carriers := {"awk", "find -exec", "find -execdir", "find -ok", "xargs", "parallel", "perl -e", "python -c", "ruby -e", "node -e", "php -r", "lua -e"}
