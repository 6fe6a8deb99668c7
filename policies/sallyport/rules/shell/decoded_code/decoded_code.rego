# METADATA
# title: Code that was encoded
# description: >-
#   Text goes through a decoder into an interpreter, which hides the commands from every other rule.
#   Honest work has no need to encode its commands.
# custom:
#   severity: critical
#   remediation: Write the commands in plain text.
#   examples:
#     - echo cm0gLXJmIC8K | base64 -d | sh
#     - base64 -d payload.b64 | bash
#     - echo bHMK | base64 -d | sh
#     - printf '\x72\x6d\x20x' | bash
#     - eval "$(echo -e '\x69\x64')"
#   lookalikes:
#     - echo aGVsbG8K | base64 -d
#     - base64 -d image.b64 > image.png
#     - gunzip -c data.gz | head
#     - printf '\033[1mdone\033[0m\n'
#     - printf '\x69\x64' > name
package sallyport.rules.shell.decoded_code

import data.sallyport.lib

deny contains {"command": i} if {
	some i in lib.code_origin.decoded
}
