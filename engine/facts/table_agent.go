package facts

import "strings"

// agentRows: the command lines of agents. The flag frees_agent marks what lets one act without asking, and what
// changes what it may do; see the documentation of each of them.
var agentRows = []row{
	{cmd: "claude claude-code", does: "network execute", args: "-", style: styleGlobal, hook: freedAgent,
		opts: "--dangerously-skip-permissions --allow-dangerously-skip-permissions > frees_agent; --permission-mode =-; --permission-prompt-tool =-; --allowedTools --allowed-tools =-; --disallowedTools --disallowed-tools --tools =-; --settings =- > frees_agent; --setting-sources =-; --mcp-config =- > frees_agent; --bare > frees_agent; --plugin-dir =- > frees_agent; --add-dir =-; --agents --agent =-; --model --fallback-model --output-format --input-format --system-prompt --append-system-prompt --max-turns --max-budget-usd --session-id --json-schema --betas =-; -r --resume =?-; -d --debug =?-; -p --print -c --continue --verbose"},
	{cmd: "claude claude-code", sub: "mcp add,mcp add-json,mcp add-from-claude-desktop,mcp remove,mcp reset-project-choices,config set,config add,config remove,plugin install,plugin enable,plugin marketplace add", does: "frees_agent", args: "-"},
	{cmd: "codex", does: "network execute", args: "-", style: styleGlobal, hook: freedAgent,
		opts: "--dangerously-bypass-approvals-and-sandbox --dangerously-bypass-hook-trust --yolo > frees_agent; -s --sandbox =-; -a --ask-for-approval =-; -c --config =-; --enable --disable =-; -C --cd =-; --add-dir =-; -m --model =-; -p --profile =-; -i --image =-; -o --output-last-message =write; --output-schema =read; --full-auto --json --oss --search --skip-git-repo-check"},
	{cmd: "codex", sub: "mcp add,mcp remove", does: "frees_agent", args: "-"},
	{cmd: "gemini gemini-cli qwen qwen-code", does: "network execute", args: "-", style: styleGlobal, hook: freedAgent,
		opts: "-y --yolo > frees_agent; --approval-mode =-; --allowed-tools =-; --allowed-mcp-server-names =-; -p --prompt -i --prompt-interactive =-; -m --model =-; -o --output-format =-; -e --extensions =-; --include-directories =-; -s --sandbox -d --debug"},
	{cmd: "gemini gemini-cli qwen qwen-code", sub: "mcp add,mcp remove,mcp enable,extensions install,extensions enable,extensions link,hooks disable,trust", does: "frees_agent", args: "-"},
	{cmd: "cursor-agent cursor agent", does: "network execute", args: "-", style: styleGlobal, opts: "-f --force --yolo --approve-mcps --trust > frees_agent; --add-mcp =- > frees_agent; --sandbox =-; -p --print; --output-format =-; -m --model =-; --resume =?-; --workspace =-; -H --header =-; --api-key =-", hook: freedAgent},
	{cmd: "cursor-agent", sub: "mcp enable,mcp login", does: "frees_agent", args: "-"},
	{cmd: "copilot", does: "network execute", args: "-", style: styleGlobal, hook: freedAgent,
		opts: "--allow-all-tools --allow-all-paths --allow-all-urls --allow-all --yolo > frees_agent; --allow-tool =-; --deny-tool =-; --additional-mcp-config =- > frees_agent; -p --prompt -i --interactive =-; --model =-; --add-dir =-; --agent =-; --log-dir =-"},
	{cmd: "copilot", sub: "mcp add,plugin install", does: "frees_agent", args: "-"},
	{cmd: "aider aider-chat", does: "network execute", args: "-", style: styleGlobal, opts: "--yes-always --yes --suggest-shell-commands > frees_agent; -m --message --msg =-; -f --message-file =read; --model =-; --lint-cmd --test-cmd =- > execute; --load =read > execute; --read =read; --file =edit; -c --config =read; --env-file =read"},
	{cmd: "amp", does: "network execute", args: "-", style: styleGlobal, opts: "--dangerously-allow-all > frees_agent; -x --execute =?-; --mcp-config --settings-file =- > frees_agent"},
	{cmd: "amp", sub: "mcp add,permissions add,permissions edit", does: "frees_agent", args: "-"},
	{cmd: "droid", does: "network execute", args: "-", style: styleGlobal, hook: freedAgent, opts: "--skip-permissions-unsafe > frees_agent; --auto =-; -f --file =read; -o --output-format =-; -m --model =-; --cwd =-"},
	{cmd: "droid", sub: "mcp add", does: "frees_agent", args: "-"},
	{cmd: "q kiro-cli", does: "network execute", args: "-", style: styleGlobal, opts: "-a --trust-all-tools > frees_agent; --trust-tools =-; --agent --model --profile =-"},
	{cmd: "q kiro-cli", sub: "mcp add,mcp import", does: "frees_agent", args: "-"},
	{cmd: "opencode opencode-ai", does: "network execute", args: "-", style: styleGlobal, opts: "--dangerously-skip-permissions --auto > frees_agent; -m --model --agent --format -s --session -f --file --attach --port =-"},
	{cmd: "opencode opencode-ai", sub: "mcp add,plugin", does: "frees_agent", args: "-"},
	{cmd: "auggie crush cline kimi vibe kilocode kilo iflow codebuddy openhands gptme interpreter open-interpreter trae-cli", does: "network execute", args: "-", style: styleGlobal,
		opts: "-y --yolo --auto-approve --always-approve --no-confirm --auto_run --auto-run --dangerously-skip-permissions > frees_agent; -p --prompt -m --model =-"},
	{cmd: "chatgpt llm ollama lms openclaw sweep devin", does: "network execute", args: "-", style: styleGlobal},
}

// free are values of options with which an agent acts without asking, by option.
var free = map[string]string{
	"permission-mode": "bypasspermissions dontask auto", "permission-prompt-tool": "*",
	"sandbox": "danger-full-access disabled", "s": "danger-full-access", "ask-for-approval": "never", "a": "never",
	"approval-mode": "yolo auto_edit", "auto": "high",
}

// freedAgent reads the values that let an agent act without asking, and settings that are given as name=value.
func freedAgent(c *call) {
	for _, o := range c.options {
		if !o.given {
			continue
		}
		value := strings.ToLower(o.value.Text)
		switch o.name {
		case "config", "c":
			name, set, _ := strings.Cut(value, "=")
			if strings.Contains(name, "approval") && strings.Trim(set, `"'`) == "never" || strings.HasPrefix(name, "sandbox") ||
				strings.HasPrefix(name, "mcp_servers") || strings.HasPrefix(name, "hooks") ||
				strings.HasPrefix(name, "features.") && strings.Contains(name, "hooks") ||
				strings.HasSuffix(name, "trust_level") || name == "notify" {
				c.flags.add(flagFreesAgent)
			}
		case "allowedTools", "allowed-tools", "allow-tool":
			if strings.ContainsAny(value, "*") || strings.Contains(value, "bash") || strings.Contains(value, "shell") ||
				strings.Contains(value, "write") || strings.Contains(value, "edit") {
				c.flags.add(flagFreesAgent)
			}
		default:
			if list := free[o.name]; list == "*" || listedWord(list, value) {
				c.flags.add(flagFreesAgent)
			}
		}
	}
}

func listedWord(list, word string) bool { return strings.Contains(" "+list+" ", " "+word+" ") }
