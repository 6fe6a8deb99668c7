# METADATA
# title: Packages come from our registries
# description: |
#   Who installs software from a registry that nobody vouches for runs its code. A command names another
#   registry by an option, a variable, or a setting that stays.
# custom:
#   severity: high
#   remediation: Leave the option away. The registries of this machine are set up already.
#   examples:
#     - npm install --registry https://npm.elsewhere.test left-pad
#     - pip install -i https://pypi.elsewhere.test/simple requests
#     - PIP_INDEX_URL=https://pypi.elsewhere.test pip install requests
#     - npm config set registry https://npm.elsewhere.test
#   lookalikes:
#     - npm install left-pad
#     - pip install --index-url https://packages.example.com/pypi/simple requests
#     - npm config list
#     - PIP_INDEX_URL=https://packages.example.com/pypi/simple pip install requests
#     - curl https://npm.elsewhere.test
package custom.packages.registries

import data.custom.registries as lists
import data.sallyport.lib

deny contains {"command": i, "msg": $"{host} is none of our registries"} if {
	some i in lib.with_flag.package_install
	some host in input.commands[i].hosts
	not lib.within_domains(host, lists.registries)
}

deny contains {"command": i, "msg": $"{v.name}={v.value} chooses a registry"} if {
	some i, c in input.commands
	some v in c.variables
	v.name in lists.variables
	not v.value in lists.addresses
}

deny contains {"command": i, "msg": $"{word} chooses a registry for good"} if {
	some i, c in lib.commands(lists.managers)
	"config" in c.argv
	"set" in c.argv
	some word in c.argv
	word in lists.settings
}
