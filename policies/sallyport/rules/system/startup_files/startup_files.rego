# METADATA
# title: Write to a file that other programs obey
# description: >-
#   Shells, ssh, git, editors, agents, package managers and build pipelines take commands from such a file and
#   run them outside the gate.
# custom:
#   severity: high
#   remediation: Set variables for the command that needs them, or put them into a file in the workspace that you source.
#   examples:
#     - echo "alias ls=rm" >> ~/.bashrc
#     - cp x ~/.profile
#     - rm ~/.zshrc
#     - echo '{}' > .vscode/tasks.json
#     - rm -rf .claude
#     - curl -o AGENTS.md https://example.com/rules.md
#     - cp ci.yml .github/workflows/ci.yml
#     - mv settings .cursor
#     - cp deploy.md .claude/skills/deploy/SKILL.md
#     - sed -i s/a/b/ lib/.husky/pre-commit
#   lookalikes:
#     - cat ~/.bashrc
#     - echo 'Prefer small commits.' >> CLAUDE.md
#     - curl -o README.md https://example.com/rules.md
#     - echo 'Use tabs.' > .claude/rules/style.md
#     - source ~/.bashrc
#     - cp ~/.bashrc copy.txt
#     - cat .github/workflows/ci.yml
#     - mkdir -p .github/workflows
#     - echo 3.12 > .python-version
#     - echo all > Makefile
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

# Places by which ssh, git, editors and agents start programs or are instructed, in the home directory.
_configuration := {"agent_config", "editor_config", "git_config"}

_configuring(p) if "ssh_dir" in p.labels

_configuring(p) if {
	p.zone == "home"
	some label in p.labels
	label in _configuration
}

_configures contains i if {
	some i in lib.writes
	p := input.paths[i]
	_configuring(p)
	not "metadata" in p.labels
	not "autorun" in p.labels
	not lib.named.git[p.command]
}

ask contains {"path": i, "msg": $"{input.paths[i].path} instructs other programs"} if some i in _configures

# The files of docs/obeyed-files.md. A repository's own directory is judged by git/hooks.
_starts contains i if {
	some i in lib.with_label.autorun
	p := input.paths[i]
	p.access == "write"
	not "metadata" in p.labels
	not "shell_startup" in p.labels
	not "git_dir" in p.labels
	not lib.named.git[p.command]
	not lib.named.mkdir[p.command]
	not _later(p)
}

# Files that a command left already, and by which nothing starts before somebody pushes, or commits in an
# installed package.
_later(p) if {
	input.request.tool == "changes"
	not input.request.trial
	"ci_config" in p.labels
}

_later(p) if {
	input.request.tool == "changes"
	not input.request.trial
	p.generated
	every o in p.obeyed_by { o.severity != "high" }
}

# The Python environment of a project is code of the project.
_later(p) if {
	input.request.tool == "changes"
	not input.request.trial
	p.zone == "workspace"
	every o in p.obeyed_by { o.program == "Python" }
}

warn contains {"path": i, "msg": $"{p.path} is obeyed: {o.program} starts {o.starts}"} if {
	some i in lib.with_label.autorun
	p := input.paths[i]
	_later(p)
	some o in p.obeyed_by
	o.severity != "low"
}

ask contains {"path": i, "msg": $"{p.path} is obeyed: {o.program} starts {o.starts}"} if {
	some i in _starts
	p := input.paths[i]
	some o in p.obeyed_by
	o.severity != "low"
}

# A whole directory is put where such files are looked for.
ask contains {"path": i, "msg": $"{p.path} is where programs look for the commands that they start"} if {
	some i in lib.with_label.holds_autorun
	p := input.paths[i]
	p.access == "write"
	not "metadata" in p.labels
	not "autorun" in p.labels
	not lib.named.mkdir[p.command]
}

# Notes for agents change every day; the log shows it.
warn contains {"path": i, "msg": $"{input.paths[i].path} instructs agents"} if {
	some i in lib.with_label.agent_config
	p := input.paths[i]
	p.access == "write"
	not _configuring(p)
	not "autorun" in p.labels
	not lib.named.git[p.command]
}

ask contains {"path": i, "msg": $"{p.path} instructs agents, and comes from the network"} if {
	some i in lib.with_label.agent_config
	p := input.paths[i]
	p.access == "write"
	not _configuring(p)
	not "autorun" in p.labels
	lib.with_flag.downloads[p.command]
}

# A hook that is gone asks nobody any more.
ask contains {"path": i, "msg": $"{input.paths[i].path} sets an agent's rights"} if {
	some i in lib.deletes
	_guides(input.paths[i])
}

_guides(p) if {
	"autorun" in p.labels
	"agent_config" in p.labels
}

_guides(p) if {
	p.recursive
	"agent_config" in p.labels
}
