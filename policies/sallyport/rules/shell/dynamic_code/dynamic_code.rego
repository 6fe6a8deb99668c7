# METADATA
# title: Code that is only known when it runs
# description: >-
#   eval, source, bash -c and the like with text that depends on a variable, a file that is written meanwhile or the output of
#   another program. What well-known tools print for a shell to evaluate is let through.
# custom:
#   severity: high
#   remediation: Run the commands directly, or write them to a script in the workspace and run that.
#   examples:
#     - eval "$x"
#     - bash -c "$1"
#     - source <(./generate.sh)
#     - eval "$(cat snippet.txt)"
#   lookalikes:
#     - eval "$(ssh-agent -s)"
#     - eval "$(conda shell.bash hook)"
#     - source <(kubectl completion bash)
#     - bash -c 'echo static'
#     - python3 app.py "$x"
package sallyport.rules.shell.dynamic_code

import data.sallyport.lib

# Programs that print shell code on purpose, as documented by them.
_hooks := {
	"asdf", "brew", "conda", "dircolors", "direnv", "docker-machine", "fnm", "gh", "gpg-agent", "helm",
	"jenv", "keychain", "kubectl", "luarocks", "mamba", "micromamba", "minikube", "mise", "nodenv",
	"opam", "pip", "pyenv", "rbenv", "register-python-argcomplete", "rustup", "ssh-agent", "starship",
	"zoxide",
}

_dynamic contains i if some i in lib.with_flag.dynamic_code

_dynamic contains i if {
	some i, c in input.commands
	c.code.origin == "dynamic"
	not c.code.resolved
}

_printed_for_shells(i) if {
	inputs := input.commands[i].inputs
	count(inputs) > 0
	every j in inputs {
		_hook(input.commands[j])
	}
}

# By its plain name only: ./conda is anybody's program.
_hook(c) if {
	c.name in _hooks
	c.program == c.name
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
	not _printed_for_shells(i)
}
