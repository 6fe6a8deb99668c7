# METADATA
# title: Agent started without its own approvals
# description: >-
#   An agent is started so that it acts without asking anybody, or its rights are changed: its permissions,
#   its hooks and the servers that it starts. Its commands then pass no gate.
# custom:
#   severity: critical
#   remediation: Start agents with their own approvals enabled; ask the operator to change their permissions.
#   examples:
#     - claude --dangerously-skip-permissions -p 'fix the tests'
#     - claude --permission-mode bypassPermissions -p x
#     - codex exec -s danger-full-access x
#     - codex -c approval_policy=never exec x
#     - gemini --yolo -p x
#     - npx @anthropic-ai/claude-code --dangerously-skip-permissions
#     - claude mcp add helper -- npx helper
#     - CLAUDE_CONFIG_DIR=/tmp/c claude -p x
#     - echo '{}' > .claude/settings.json
#     - rm .cursor/hooks.json
#   lookalikes:
#     - claude --version
#     - claude -p 'summarise README.md'
#     - claude --permission-mode plan -p x
#     - codex exec -s read-only 'explain this'
#     - gemini -p 'explain this'
#     - claude mcp list
#     - cat .claude/settings.json
#     - echo 'Prefer small commits.' >> CLAUDE.md
package sallyport.rules.system.freed_agent

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.frees_agent

# Files that git brings along are those of the project.
deny contains {"path": i, "msg": $"{p.path} sets an agent's rights and the programs that it starts"} if {
	some i in lib.with_label.agent_settings
	p := input.paths[i]
	p.access == "write"
	not "metadata" in p.labels
	not lib.named.git[p.command]
}

# A hook that is gone asks nobody any more.
deny contains {"path": i, "msg": $"{p.path} sets an agent's rights and the programs that it starts"} if {
	some i in lib.with_label.agent_settings
	p := input.paths[i]
	p.access == "delete"
}
