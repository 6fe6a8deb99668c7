package facts

import "strings"

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
