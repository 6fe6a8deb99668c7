# METADATA
# title: Write to a shell startup file
# description: What stands there runs in every new shell, outside the gate.
# custom:
#   severity: high
#   remediation: Set variables for the command that needs them, or put them into a file in the workspace that you source.
#   examples:
#     - echo "alias ls=rm" >> ~/.bashrc
#     - cp x ~/.profile
#     - rm ~/.zshrc
#   lookalikes:
#     - cat ~/.bashrc
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
