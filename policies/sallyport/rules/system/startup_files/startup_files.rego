# METADATA
# title: Write to a startup file
# description: What stands there runs in every new shell, or whenever ssh, git, an editor or an agent starts, outside the gate.
# custom:
#   severity: high
#   remediation: Set variables for the command that needs them, or put them into a file in the workspace that you source.
#   examples:
#     - echo "alias ls=rm" >> ~/.bashrc
#     - cp x ~/.profile
#     - rm ~/.zshrc
#     - echo '{}' > .vscode/tasks.json
#     - rm -rf .claude
#   lookalikes:
#     - cat ~/.bashrc
#     - echo 'Prefer small commits.' >> CLAUDE.md
#     - source ~/.bashrc
#     - cp ~/.bashrc copy.txt
package sallyport.rules.system.startup_files

import data.sallyport.lib

deny contains {"path": i, "msg": $"{p.path} runs in every new shell"} if {
	some i in lib.with_label.shell_startup
	p := input.paths[i]
	p.access == "delete"
}

ask contains {"path": i, "msg": $"{p.path} runs in every new shell"} if {
	some i in lib.with_label.shell_startup
	p := input.paths[i]
	p.access == "write"
}

# What tells ssh, git, editors and agents in the home directory which programs to run; and what tells agents and
# editors so anywhere.
_configuration := {"agent_config", "editor_config", "git_config"}

_configures contains i if {
	some i in lib.writes
	p := input.paths[i]
	_configuring(p)
	not "metadata" in p.labels
	not "shell_startup" in p.labels
	not lib.named.git[p.command]
}

_configuring(p) if "ssh_dir" in p.labels

_configuring(p) if "agent_program" in p.labels

_configuring(p) if {
	p.zone == "home"
	some label in p.labels
	label in _configuration
}

ask contains {"path": i, "msg": $"{input.paths[i].path} tells other programs what to run"} if some i in _configures

# Notes for agents change every day; who reads the log sees it.
warn contains {"path": i, "msg": $"{input.paths[i].path} instructs agents"} if {
	some i in lib.with_label.agent_config
	p := input.paths[i]
	p.access == "write"
	not _configuring(p)
	not lib.named.git[p.command]
}

# A hook that is gone asks nobody any more.
ask contains {"path": i, "msg": $"{input.paths[i].path} tells an agent what it may do"} if {
	some i in lib.deletes
	_guides(input.paths[i])
}

_guides(p) if "agent_program" in p.labels

_guides(p) if {
	p.recursive
	"agent_config" in p.labels
}
