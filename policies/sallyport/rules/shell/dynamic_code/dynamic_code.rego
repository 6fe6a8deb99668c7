# METADATA
# title: Code that cannot be seen in advance
# description: >-
#   eval, source, bash -c and the like with text that depends on a variable, a file that is written
#   meanwhile or the output of another program. The output of well-known tools for a shell to evaluate
#   passes.
# custom:
#   severity: high
#   trial: true
#   remediation: Run the commands directly, or write them to a script in the workspace and run that.
#   examples:
#     - read -r x; eval "$x"
#     - bash -c "$1"
#     - source <(./generate.sh)
#     - eval "$(cat snippet.txt)"
#     - echo 'run(`id`)' > x.jl; julia x.jl
#   lookalikes:
#     - eval "$(ssh-agent -s)"
#     - eval "$(conda shell.bash hook)"
#     - source <(kubectl completion bash)
#     - bash -c 'echo static'
#     - python3 app.py "$x"
#     - julia app.jl
package sallyport.rules.shell.dynamic_code

import data.sallyport.lib
import data.sallyport.lib.hooks

_dynamic contains i if some i in lib.with_flag.dynamic_code

_dynamic contains i if {
	some i in lib.code_origin.dynamic
	not input.commands[i].code.resolved
}

# Its code is known, but for the programs that it starts.
_dynamic contains i if some i in lib.with_flag.dynamic_program

# The text has written it, in a language that is never looked through.
_dynamic contains i if {
	some i in lib.code_origin.generated
	input.commands[i].code.language in _unread
}

_unread := {
	"applescript", "elisp", "elixir", "elvish", "erlang", "julia", "lisp", "nu", "ocaml", "other",
	"powershell", "racket", "scala", "scheme", "tcl", "xonsh",
}

deny contains {"command": i} if {
	some i in _dynamic
	input.commands[i].elevated
}

ask contains {"command": i} if {
	some i in _dynamic
	c := input.commands[i]
	c.script == ""
	not c.elevated
	not hooks.printed(i)
	not lib.started
	not _later(i)
}

# All programs that a shell, or known code, starts are judged then.
_later(i) if {
	lib.judged_later
	input.commands[i].code.language in {"bash", "sh"}
	not i in lib.fed_from_network
}

_later(i) if {
	lib.judged_later
	c := input.commands[i]
	"dynamic_program" in c.flags
	not "dynamic_code" in c.flags
	not c.code.origin == "dynamic"
}
