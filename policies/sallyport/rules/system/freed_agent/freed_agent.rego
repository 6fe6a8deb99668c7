# METADATA
# title: Agent set free
# description: >-
#   An agent is started so that it acts without asking anybody, or what it may do is changed. What it then runs
#   passes no gate.
# custom:
#   severity: critical
#   remediation: Start agents with their own questions on; ask the operator to change what an agent may do.
#   examples:
#     - claude --dangerously-skip-permissions -p 'fix the tests'
#     - claude --permission-mode bypassPermissions -p x
#     - codex exec -s danger-full-access x
#     - codex -c approval_policy=never exec x
#     - gemini --yolo -p x
#     - npx @anthropic-ai/claude-code --dangerously-skip-permissions
#     - claude mcp add helper -- npx helper
#   lookalikes:
#     - claude --version
#     - claude -p 'summarise README.md'
#     - claude --permission-mode plan -p x
#     - codex exec -s read-only 'explain this'
#     - gemini -p 'explain this'
#     - claude mcp list
package sallyport.rules.system.freed_agent

import data.sallyport.lib

deny contains {"command": i} if some i in lib.with_flag.frees_agent
