# METADATA
# title: Secret printed
# description: A program is told to print a token, a private key or a stored password. The output goes to the agent and into its transcript.
# custom:
#   severity: high
#   remediation: Let the program that needs the secret fetch it itself.
#   examples:
#     - gpg --export-secret-keys
#     - gh auth token
#     - kubectl get secret db -o yaml
#     - sops exec-env secrets.yaml env
#     - op run -- printenv
#   lookalikes:
#     - echo "$PATH"
#     - op item list
#     - gpg --list-keys
#     - gh auth status
#     - kubectl get secrets
#     - op run -- make test
package sallyport.rules.system.secrets_dump

import data.sallyport.lib

ask contains {"command": i} if some i in lib.with_flag.prints_secret

warn contains {"command": i} if {
	some i in lib.with_flag.dumps_env
	not lib.with_flag.prints_secret[i]
}
