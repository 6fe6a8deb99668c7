package mcpserver

import (
	"slices"
	"strings"
)

// instructions introduce an agent, once and before its first call, to the tools.
func instructions(sets []string, place string) string {
	parts := []string{`Everything here passes a policy gate. Each request is judged and recorded before anything happens.

- A refusal is an answer, not an obstacle. It names the rule that spoke and what to do instead: do that. Do not rephrase, encode or split a command to get around a rule; every attempt is on record. If you need what is refused, tell the person why and let them decide.
- "ask" means that a person decides. You may be told that nobody could be asked; then tell the person what the result says about how to allow it.
- Paths: the workspace is yours to change. Other places are read-only or closed unless the operator granted them.
- Commands get a cleaned environment without the keys of this program, and no stdin. Everything that a command starts ends with it.`}
	if place != "" {
		parts = append(parts, "- "+place)
	}
	if slices.Contains(sets, setShell) {
		parts = append(parts, `- check_command says what the policies think of a command without running it.`)
	}
	if slices.Contains(sets, setBackground) {
		parts = append(parts,
			`- Servers, watchers and long builds belong into start_background_shell; read their output from the offset that you were given last. They end with this server.`)
	}
	if slices.Contains(sets, setFiles) {
		parts = append(parts,
			`- Read a file before you delete it: files that you have neither read nor created are not deleted.`)
	}
	parts = append(parts, `
In your answers:
- If you executed commands (for example tests), explain the results: what passed, what failed, what the output shows.
- If you created files, name the directory and the paths; do not paste whole files.
- Say what was refused and what that means for the work.`)
	return strings.Join(parts, "\n")
}
