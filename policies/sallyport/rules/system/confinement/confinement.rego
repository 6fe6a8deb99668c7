# METADATA
# title: Environment does not keep a promise
# description: >-
#   At its start each environment tries from inside to make a file outside of the granted places, to read a
#   hidden file and to connect to this machine. One of these succeeded where the sandbox or the container
#   promises that it fails. The rule also refuses every command where the configuration requires that programs
#   are judged at their start (programs.mode: require), and the environment cannot. No command brings this about, so there are no examples: see testdata/cases.
# custom:
#   severity: critical
#   remediation: Ask the operator to run sallyport doctor and to look at the environment's mounts and network.
#   examples: []
#   lookalikes:
#     - ls
#     - touch file
package sallyport.rules.system.confinement

_broken := {
	"write": "a file outside of the granted places can be written",
	"read": "a hidden file of this machine can be read",
}

_confined if input.runner.isolation in {"namespace", "container"}

deny contains {"msg": $"from inside the environment, {msg}"} if {
	_confined
	some trial, msg in _broken
	input.runner.confinement[trial] == "open"
}

deny contains {"msg": "the programs that commands start cannot be judged here, and the configuration requires it"} if {
	input.runner.programs == "missing"
}

deny contains {"msg": "from inside the environment without a network, this machine can be reached"} if {
	_confined
	input.runner.network == "none"
	input.runner.confinement.connect == "open"
}
